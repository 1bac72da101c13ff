#!/usr/bin/env bash
# `potluck plan` as a program: files, pipes, mistakes, and the answers' shape.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

build=${POTLUCK_BUILD_DIR:-$root/build}
potluck=$build/bin/potluck
needs "$potluck"
plans=$root/tools/plans
cd "$scratch" || exit 1

# field <name>: of the JSON on standard input.
field() {
  python3 -c 'import json, sys
x = json.load(sys.stdin)
for name in sys.argv[1].split("."):
    x = x[name]
print(x)' "$1"
}
plan() {
  "$potluck" plan "$@"
}
# piped <text> <option>...: the text on standard input.
piped() {
  local text=$1
  shift
  printf '%s' "$text" | plan --peers - "$@"
}
peer() { # peer <id> <speed>
  printf '{"id": "%s", "samples_per_second": %s, "upload": 1e6, "download": 2e6}' \
    "$1" "$2"
}
network() { # network <peer>...
  local IFS=,
  printf '{"target_batch": 10, "gradient_bytes": 1e6, "peers": [%s]}' "$*"
}
two=$(network "$(peer a 20)" "$(peer b 30)")

expect 'a published row is planned' 0 'strategy: mixed' \
  plan --peers "$plans/row-c.json"
expect 'the example is planned' 0 'limited by' plan --peers="$plans/example.json"
expect 'help has the format' 0 'scheduled_steps_per_second' plan --help
expect 'it stands in the list' 0 '^  plan ' "$potluck" help

# Through pipes, twice: one line each, and the same plan.
first=$(piped "$two" --json | tee one.json | field digest)
second=$(plan --peers - --json < <(printf '%s' "$two") | field digest)
expect 'one line of JSON' 0 '^1 ' wc -l one.json
expect 'equal input, equal plan' 0 '' [ -n "$first" -a "$first" = "$second" ]
expect 'the objective: both compute, an upload carries one gradient' 0 '^1$' \
  python3 -c 'import json; x = json.load(open("one.json"))
print(int(abs(x["steps_per_second"] - 1) < 1e-6))'
for n in 1 3 6; do
  peers=()
  for i in $(seq "$n"); do
    peers+=("$(peer "p$i" "$i")")
  done
  got=$(piped "$(network "${peers[@]}")" --json | field strategy)
  expect "$n peers get a strategy, not '$got'" 0 '' \
    [ "$got" = alone -o "$got" = all-reduce -o "$got" = mixed \
    -o "$got" = "parameter server" ]
done

expect 'what if a line were faster' 0 '^what if: 2 steps per second instead of 1 ' \
  piped "$two" --what-if 'a.upload=4e6' --what-if 'b.upload=4e6'
expect 'what if a peer left' 0 'strategy: alone' piped "$two" --what-if '-b'
expect 'what if a helper came' 0 '^x ' piped "$two" \
  --what-if '+x:upload=1e7,download=1e7,computes=false,holds_model=false'
expect 'what if nobody were there' 2 'there is no peer' piped "$two" --what-if=-c
expect 'a change that is none' 2 "did you mean 'upload'" \
  piped "$two" --what-if a.uplaod=1

expect 'no peers' 2 'Name the peers with --peers FILE' plan
expect 'no such file' 2 "'nowhere' cannot be read" plan --peers nowhere
expect 'a folder' 2 'is not a file' plan --peers "$scratch"
expect 'not JSON' 2 'are not JSON' piped '{"peers": ['
expect 'nothing at all' 2 'are not JSON' piped ''
expect 'not a number' 2 'are not JSON' piped "$(network "$(peer a NaN)")"
expect 'a misspelt field' 2 "did you mean 'target_batch'" \
  piped '{"target_bacth": 1}'
expect 'nobody' 2 'There are no peers' piped "$(network)"
expect 'an id twice' 2 'two peers called' \
  piped "$(network "$(peer a 1)" "$(peer a 1)")"
expect 'no chunks' 2 'chunks must be' piped "$two" --chunks=-1
expect 'a negative speed is left out' 0 'excluded: a is left out' \
  piped "$(network "$(peer a -1)" "$(peer b 1)")"
expect 'only negative speeds' 2 'No peer has figures' \
  piped "$(network "$(peer a -1)")"
expect 'islands are no crash' 0 'islands' \
  piped '{"target_batch": 1, "gradient_bytes": 1, "peers": [
    {"id": "a", "samples_per_second": 1, "upload": 1, "download": 1,
     "computes": true},
    {"id": "b", "samples_per_second": 1, "upload": 1, "download": 1,
     "computes": true}],
    "links": [{"from": "a", "to": "b", "limit": 0},
              {"from": "b", "to": "a", "limit": 0}]}'

conclude
