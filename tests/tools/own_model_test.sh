#!/usr/bin/env bash
# The example, `potluck` with a model of its own: two peers train it to equal
# digests, and it evaluates and exports what they have made.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

build=${POTLUCK_BUILD_DIR:-$root/build}
example=$build/bin/examples/own_model
needs "$example" "$build/bin/potluck-tokenizer"
end_children_at_exit

expect 'its settings are shown' 0 'code-width' \
  "$example" join --model=autoencoder --help
expect 'buffers are a setting of it' 0 'Running means' \
  sh -c '"$1" join --model=autoencoder --help | tr -s "\n " " " | grep -io "running means"' \
  - "$example"
expect 'and of no model without them' 2 'buffers' \
  "$example" join --model=mnist-ffn --data=digits --buffers=average

# start <name> <option>...
start() {
  local name=$1
  shift
  timeout 200 "$example" join --run=own --model=autoencoder --data=digits \
    --code-width=8 --buffers=average --optimizer=adamw --learning-rate=0.003 \
    --warmup-steps=0 --steps=12 --target-batch=128 --micro-batch=32 --threads=1 \
    --insecure --listen=127.0.0.1:0 --identity-dir="$scratch/$name" \
    --checkpoint="$scratch/$name.checkpoint" --log-json="$scratch/$name.jsonl" "$@" \
    > "$scratch/$name.out" 2>&1 &
  children+=("$!")
}
start a
first=$(address_in "$scratch/a.jsonl")
expect 'the first listens' 0 '' test -n "$first"
start b --peer="$first"
for child in "${children[@]}"; do
  wait "$child"
  expect 'each ends well' 0 '^0$' echo $?
done
digest() {
  grep '"event":"finished"' "$scratch/$1.jsonl" | grep -o '"digest":"[^"]*"'
}
expect 'there is a digest' 0 '"digest":"[0-9a-f]{16}' digest a
expect 'both end with equal parameters' 0 '' test "$(digest a)" = "$(digest b)"

expect 'it is evaluated without an accuracy' 0 'loss [0-9.]*$' \
  "$example" eval --checkpoint="$scratch/a.checkpoint" --data=digits
expect 'it is exported with its running means' 0 '' \
  "$example" export --checkpoint="$scratch/a.checkpoint" \
  --output="$scratch/exported"
expect 'under their names' 0 '' \
  grep -aq 'norm.running_mean' "$scratch/exported/model.safetensors"

conclude
