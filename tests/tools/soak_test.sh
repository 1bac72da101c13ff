#!/usr/bin/env bash
# tools/soak: simulates for as long as told, adds up what happened, and says how
# to replay what failed.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

build=$(realpath "${POTLUCK_BUILD_DIR:-$root/build}")
export POTLUCK_BUILD_DIR=$build
needs "$build/bin/potluck"
soak=$root/tools/soak
small=$root/tests/simulation/scenarios

expect "help" 0 "minutes  how long" "$soak" --help
expect "a word where a number belongs" 2 "minutes needs a number" \
  "$soak" --minutes soon
expect "an unknown option" 2 "no option .-hours" "$soak" --hours 1
expect "a scenario that is not there" 2 "cannot be read" "$soak" nowhere.json

expect "seeds that pass" 0 "soak: PASS" \
  "$soak" --minutes 0.15 --seed 3 --jobs 1 "$small/matchmaking-crashes.json"
expect "the figures" 0 "crash_actor +[1-9]" \
  "$soak" --minutes 0.15 --seed 3 --jobs 1 "$small/matchmaking-crashes.json"

# A run that cannot finish in the time that it has.
sed 's/"lasts": "10min"/"lasts": "5s"/' "$small/calm.json" > "$scratch/short.json"
expect "a failure, with its replay" 1 "FAILED +potluck sim --scenario=.*short.json --seed=" \
  "$soak" --minutes 0.15 --seed 3 --jobs 1 "$scratch/short.json"
expect "what was violated" 1 "the run has not finished" \
  "$soak" --minutes 0.15 --seed 3 --jobs 1 "$scratch/short.json"

# Ctrl-C: the report so far, long before the time is over.
expect "an interrupt" 124 "soak: PASS" \
  timeout --signal=INT --kill-after=30 8 \
  "$soak" --minutes 5 --seed 3 --jobs 2 "$small/calm.json"
conclude
