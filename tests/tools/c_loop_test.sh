#!/usr/bin/env bash
# Programs in C train through libpotluck: two of them to the same digest, and
# one that ends without leaving.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

build=${POTLUCK_BUILD_DIR:-$root/build}
example=$build/bin/examples/c_loop
exits=$build/tests/fake_exit
needs "$example" "$exits"

end_children_at_exit

common=(run=line steps=40 port-mapping=no)
timeout 120 "$example" 1 2 "${common[@]}" listen=127.0.0.1:0 \
  log-json="$scratch/one.jsonl" > "$scratch/one.out" 2>&1 &
children+=($!)
one=$(address_in "$scratch/one.jsonl")
timeout 120 "$example" 2 2 "${common[@]}" listen=127.0.0.1:0 peer="$one" \
  > "$scratch/two.out" 2>&1 &
children+=($!)
wait "${children[0]}"; expect 'the first one comes to the end' 0 '' test $? -eq 0
wait "${children[1]}"; expect 'the second one, too' 0 '' test $? -eq 0
expect 'it says how' 0 'digest [0-9a-f]{32}' cat "$scratch/one.out"
# digest_in <output>
digest_in() {
  grep -o 'digest [0-9a-f]*' "$1"
}
expect 'both hold the same' 0 '' \
  diff <(digest_in "$scratch/one.out") <(digest_in "$scratch/two.out")

expect 'a setting that is none is refused' 1 "did you mean steps" \
  "$example" 1 1 step=4
expect 'whoever exits without leaving exits well' 0 'in the middle' \
  timeout 60 "$exits" "$scratch/exits.jsonl"
expect 'no symbol is exported but those of potluck.h' 1 '' \
  bash -c "nm -D --defined-only '$build/lib/libpotluck.so.1' \
    | grep -v ' potluck_\| POTLUCK_1'"

expect 'it is packed' 0 '' "$root/tools/library/pack" "$scratch/folder"
expect 'what lies beside it is found there' 0 \
  "libcaf_core.* => $scratch/folder/libcaf_core" \
  ldd "$scratch/folder/libpotluck.so.1"
expect 'nothing is missing' 1 '' \
  grep -q 'not found' <(ldd "$scratch/folder/libpotluck.so.1")
expect 'the terms of CAF lie with it' 0 'libcaf' ls "$scratch/folder/licences"
conclude
