#!/usr/bin/env bash
# A file of TorchScript founds a run, which others train, a Python peer among
# them; and what is no such file is refused with a sentence.
source "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

python=/usr/bin/python3
build=${POTLUCK_BUILD_DIR:-$root/build}
"$python" -c 'import torch' 2> /dev/null \
  || skip "python3-torch is not installed."
needs "$build/bin/potluck" "$build/bin/potluck-script"
[ -e "$build/lib/libpotluck.so" ] || skip "libpotluck is not built."

mkdir "$scratch/made"
"$python" "$root/tests/models/script/make_scripts.py" "$scratch/made"
printf 'a small text of some words again\n%.0s' {1..400} > "$scratch/text"
join() {
  timeout 60 "$build/bin/potluck" join --run=refused --data="$scratch/text" \
    --identity-dir="$scratch/identity" --listen=127.0.0.1:0 --no-port-mapping \
    "$@"
}
expect 'a file that is none' 2 'text.pt is no TorchScript file' \
  join --model="$(cp "$scratch/text" "$scratch/text.pt" && echo "$scratch/text.pt")"
expect 'a file that is not there' 2 'There is no file /none.pt' \
  join --model=/none.pt
expect 'an operator that writes files' 2 'aten::from_file' \
  join --model="$scratch/made/Writing.pt"
expect 'code that runs while it is loaded' 2 '__setstate__' \
  join --model="$scratch/made/WritingAtOnce.pt"
expect 'an argument that no batch has' 2 'argument words' \
  join --model="$scratch/made/Unknown.pt"
expect 'a precision that scripts have not' 2 'leave --precision out' \
  join --model="$scratch/made/words.pt" --precision=bf16
expect 'nothing was written' 1 '' test -e "$scratch/made/written"
expect 'a run of a file is created' 0 'potluck:' \
  timeout 60 "$build/bin/potluck" create scripted --model="$scratch/made/words.pt" \
  --data="$scratch/text" --announce=127.0.0.1:7000 --vocabulary=40 \
  --identity-dir="$scratch/identity"
expect 'with the state that it begins with' 0 'first' ls "$scratch/identity"
expect 'a run of a large file is created in a new folder' 0 'potluck:' \
  timeout 60 "$build/bin/potluck" create large --model="$scratch/made/large.pt" \
  --data="$scratch/text" --vocabulary=40 --peer="$(printf '7%.0s' {1..64})@127.0.0.1:7000" \
  --identity-dir="$scratch/new"
expect "which is its owner's alone" 0 '^700$' stat -c %a "$scratch/new"
expect 'and keeps one copy of the file' 0 '^1$' \
  bash -c "find '$scratch/new' -type f -size +4M | wc -l"
first=("$scratch"/new/large-*.first)
# A home without the run's artifact.
judge() {
  XDG_STATE_HOME=$scratch/nobody timeout 60 "$build/bin/potluck" eval \
    --checkpoint="${first[0]}" --data="$scratch/text" --samples=8 "$@"
}
expect 'code that lies elsewhere' 2 'set identity-dir to one' judge
expect 'and where it is found' 0 'loss' judge --identity-dir="$scratch/new"
expect 'parameters for other programs' 0 'Wrote model.safetensors' \
  "$build/bin/potluck" export --checkpoint="${first[0]}" --output="$scratch/out"
expect 'which come back without the code' 2 "name the run's checkpoint instead" \
  "$build/bin/potluck" import "$scratch/out" --output="$scratch/back.checkpoint"
expect 'that a checkpoint has' 0 'Wrote' \
  "$build/bin/potluck" import "${first[0]}" --output="$scratch/back.checkpoint"
expect 'all hold the same' 0 ': OK$' "$python" "$root/tests/python/script_run.py"
conclude
