#!/usr/bin/env bash
# A run on an emulated internet: peers measure their lines, a line that becomes
# slower shows, a helper is killed and another one comes, and plans change and
# say why. By hand: its figures need a machine with
# nothing else to do, so that it is no part of the test command.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

build=$(realpath "${POTLUCK_BUILD_DIR:-$root/build}")
export POTLUCK_BUILD_DIR=$build
needs "$build/bin/potluck" "$build/bin/potluck-netlab"
for description in "$root"/tools/networks/*.json; do
  expect "$(basename "$description")" 0 "" "$root/tools/netlab" --check "$description"
done
"$root/tools/netlab" --out "$scratch/run" "$root/tools/networks/halved-uplink.json" \
  2> "$scratch/said"
status=$?
if [ $status -eq 3 ]; then
  skip "$(cat "$scratch/said")"
fi
expect "all peers finish" 0 "" test $status -eq 0
cat "$scratch/said"

if grep -q "too busy" "$scratch/said"; then
  skip "the machine is too busy for figures to be trusted"
fi

# Plans say what they are new for.
for why in "auxiliary peer [0-9a-f]* joined" "auxiliary peer [0-9a-f]* left" \
  "peer [0-9a-f]* uploads [0-9]* kB/s, not"; do
  expect "a plan because: $why" 0 "" \
    grep -q "\"event\":\"plan\".*\"why\":\"[^\"]*$why" "$scratch/run/home-2.jsonl"
done

# The round under way when the uplink halves measures it: one of the next two
# plans that count on home-1 is made for it. It rests while the others are faster
# without it. Homes start a second after the network.
slower=$(sed -n 's/.*"event":"listening".*"peer":"\([0-9a-f]*\)".*/\1/p' \
  "$scratch/run/home-1.jsonl")
plans() { # When, which peers rest, the seconds of averaging, and why.
  local some='\([^"]*\)'
  sed -n "s/.*\"event\":\"plan\",\"time\":\([0-9.]*\),.*\"resting\":\"$some\".*\"predicted_seconds\":\([0-9.e+-]*\),.*\"why\":\"$some\".*/\1|\2|\3|\4/p" \
    "$scratch/run/home-2.jsonl"
}
began=$(sed -n '1s/.*"time":\([0-9.]*\).*/\1/p' "$scratch/run/home-2.jsonl")
steps=$(plans | awk -F "|" -v at="$began" -v who="peer $slower" '
  $1 >= at + 29 {
    n += !index($2, who)
    if (index($4, who " uploads")) { print n; exit }
  }')
echo "of the plans that count on home-1 number $steps is for the slower uplink"
expect "within two plans" 0 "" test "${steps:-99}" -le 2

# The last upload that a home measured, in kB/s.
upload_of() {
  local all
  mapfile -t all < <(grep '"line"' "$scratch/run/$1.jsonl" \
    | sed -n 's/.*"upload":\([0-9]*\).*/\1/p')
  echo $((${all[-1]:-0} / 1000))
}
slow=$(upload_of home-1) fast=$(upload_of home-2)
echo "measured, in kB/s: $slow and $fast"
expect "5 Mbit/s of home-1" 0 "" test "$slow" -gt 350 -a "$slow" -lt 900
expect "20 Mbit/s of home-2" 0 "" test "$fast" -gt 1200 -a "$fast" -lt 3200

# What the last plan expects of a step's averaging: with three equal lines of
# 20 Mbit/s it is 1.1 s. Or it does without home-1.
plans | tail -n 1
expect "a plan that reckons with it" 0 "" \
  awk -F "|" -v who="peer $slower" \
    'END { exit !(index($2, who) || ($3 > 1.6 && $3 < 4)) }' <(plans | tail -n 1)

# Two homes that reach each other slowly: they say so, and plans heed it.
"$root/tools/netlab" --out "$scratch/pair" "$root/tools/networks/slow-pair.json" \
  2> "$scratch/said"
expect "all peers of the slow pair finish" 0 "" test $? -eq 0
cat "$scratch/said"
if grep -q "too busy" "$scratch/said"; then
  skip "the machine is too busy for figures to be trusted"
fi
expect "a plan because of the pair" 0 "" grep -q \
  '"event":"plan".*"why":"[^"]*carries to [0-9a-f]* [0-9]* kB/s, not' "$scratch/pair/home-3.jsonl"
for home in home-1 home-2 home-3 home-4; do
  begun=$(grep -n -m 1 '"event":"round"\|"event":"plan"' "$scratch/pair/$home.jsonl" | cut -d: -f1)
  probed=$(grep -n -m 1 '"event":"line".*"upload"' "$scratch/pair/$home.jsonl" | cut -d: -f1)
  expect "$home knows its line before its first plan" 0 "" \
    test "${probed:-99999}" -lt "${begun:-0}"
done
conclude
