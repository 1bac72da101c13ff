#!/usr/bin/env bash
# README, "A run of your own", word for word: one public machine, six homes
# behind routers of six kinds. All train together; then the bootstrap dies. By
# hand: it needs root, and a machine with nothing else to do.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"
. "$(dirname "${BASH_SOURCE[0]}")/trial.sh"

# A home that nobody can dial hands its gradients to one that can be dialled,
# and fetches the state after each step.
# digests <member> [<line>]: of the states that it made or fetched, by step.
digests() {
  tail -n "+${2:-1}" "$scratch/$1.jsonl" \
    | grep -E '^\{"event":"(step|state_download)"' \
    | sed -n 's/.*"step":\([0-9]*\).*"digest":"\([0-9a-f]*\)".*/\1 \2/p' | sort -u
}
# follows <member>: it holds a state of the last ten steps.
follows() {
  local own
  own=$(digests "$1" | sort -n | tail -n 1 | cut -d' ' -f1)
  [ $((${own:-0} + 10)) -ge "$(step_of open)" ]
}
# all_hold_one <member>...: the same state of some step. How many a step counts
# does not tell: the bootstrap averages, too.
all_hold_one() {
  local who
  for who; do digests "$who"; done | sort | uniq -c \
    | awk -v all=$# '$1 == all { found = 1 } END { exit !found }'
}
# brings <member>: samples to a step, by itself or by way of a sponsor.
brings() {
  grep '^{"event":"step"' "$scratch/$1.jsonl" | grep -q '"share":\(1\|0\.0*[1-9]\)' \
    || [ "$(last "$1" cell contributes)" = true ]
}

model=(--hidden-size 64 --embedding-size 32 --intermediate-size 256 --layers 1
  --heads 2 --sequence-length 16 --vocabulary 1000 --target-batch 256
  --steps 1000000)
members=(open cone port-restricted symmetric double upnp)
emulate seed open:none cone:open-cone port-restricted:port-restricted \
  symmetric:symmetric double:double upnp:upnp

invitation=$(at seed "$potluck" create poems --announce "${where[seed]}:7000" \
  --identity-dir "$scratch/seed" --data "$data" "${model[@]}" | tail -n 1)
expect "an invitation" 0 "" test "${invitation#potluck:}" != "$invitation"
start seed seed bootstrap --run poems
expect "a bootstrap" 0 "" until_true 20 has seed listening
for who in "${members[@]}"; do
  start "$who" "$who" join "$invitation" --data "$data" --micro-batch 4 --threads 1
done

expect "all come in" 0 "" until_true 180 all_hold_one "${members[@]}"
expect "and go on" 0 "" until_true 180 at_step open $(($(step_of open) + 10))
for who in "${members[@]}"; do
  expect "$who with equal digests" 0 "" until_true 60 agree open "$who"
  expect "$who brings its part" 0 "" until_true 60 brings "$who"
done
expect "nobody founded another run" 1 "" grep -Fq '"founded":true' "$scratch"/*.jsonl

kill_hard seed
declare -A line
for who in "${members[@]}"; do
  line[$who]=$(($(wc -l < "$scratch/$who.jsonl") + 1))
done
expect "without the bootstrap they train on" 0 "" \
  until_true 300 at_step open $(($(step_of open) + 30))
for who in "${members[@]}"; do
  expect "$who, too" 0 "" until_true 60 follows "$who"
  expect "$who with equal digests, still" 0 "" \
    until_true 60 agree open "$who" "${line[open]}" "${line[$who]}"
done
conclude
