#!/usr/bin/env bash
# The example program trains through experts of two hosts, of which one is
# killed on the way.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

build=${POTLUCK_BUILD_DIR:-$root/build}
example=$build/bin/examples/moe_layer
potluck=$build/bin/potluck
needs "$example" "$potluck"

end_children_at_exit

# start <name> <word>...
start() {
  local name=$1
  shift
  "$potluck" "$@" --listen=127.0.0.1:0 --identity-dir="$scratch/$name" \
    --log-json="$scratch/$name.jsonl" > "$scratch/$name.out" 2>&1 &
  children+=($!)
}

start seed bootstrap
seed=$(address_in "$scratch/seed.jsonl")
expect 'the seed listens' 0 '' test -n "$seed"
for rows in 0-1 2-3; do
  start "$rows" expert --layer=nop --uids="ffn.$rows.*" --grid=4x4 \
    --hidden=16 --peer="$seed"
done
for rows in 0-1 2-3; do
  expect "host $rows is ready" 0 '' \
    awaited 60 grep -Eq '"event":"experts".*"ready":8|"ready":8.*"event":"experts"' \
    "$scratch/$rows.jsonl"
done

timeout 240 "$example" "$seed" > "$scratch/layer.out" 2>&1 &
layer=$!
children+=("$layer")
expect 'it begins to train' 0 '' awaited 120 grep -Eq '^step 50 ' "$scratch/layer.out"
kill -9 "${children[2]}"
wait "$layer"
expect 'it ends well' 0 '^0$' echo $?
expect 'it takes every step' 0 '^step 500 ' tail -n 1 "$scratch/layer.out"
expect 'it has learnt' 0 '' awk '
  $2 == 50 { first = $4 } END { exit !($4 < first / 4) }' "$scratch/layer.out"
expect 'an address is asked for' 2 'HOST:PORT' "$example"

conclude
