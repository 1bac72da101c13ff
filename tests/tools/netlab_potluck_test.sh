#!/usr/bin/env bash
# A run on an emulated internet: peers measure their lines, a line that becomes
# slower shows, and plans change.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

build=$(realpath "${POTLUCK_BUILD_DIR:-$root/build}")
export POTLUCK_BUILD_DIR=$build
for program in potluck potluck-netlab; do
  if [ ! -x "$build/bin/$program" ]; then
    echo "'$build/bin/$program' is not built"
    exit 77 # ctest's "skipped"
  fi
done
for description in "$root"/tools/networks/*.json; do
  expect "$(basename "$description")" 0 "" "$root/tools/netlab" --check "$description"
done
"$root/tools/netlab" --out "$scratch/run" "$root/tools/networks/halved-uplink.json" \
  2> "$scratch/said"
status=$?
if [ $status -eq 3 ]; then
  sed 's/^/skipped the rest: /' "$scratch/said"
  conclude
fi
expect "all peers finish" 0 "" test $status -eq 0
cat "$scratch/said"

if grep -q "too busy" "$scratch/said"; then
  echo "skipped the figures, which are not to be trusted"
  conclude
fi

# The first and the last upload that home-1 measured, in kB/s.
mapfile -t uploads < <(grep '"line"' "$scratch/run/home-1.jsonl" \
  | sed -n 's/.*"upload":\([0-9]*\).*/\1/p')
first=$((${uploads[0]:-0} / 1000)) last=$((${uploads[-1]:-0} / 1000))
echo "measured, in kB/s: $first at first, $last in the end"
expect "20 Mbit/s to begin with" 0 "" test "$first" -gt 1200 -a "$first" -lt 3200
expect "5 Mbit/s in the end" 0 "" test "$last" -gt 350 -a "$last" -lt 900
# What plans expected of a step's averaging: the best, and the last, in ms.
mapfile -t plans < <(sed -n 's/.*"event":"plan".*"predicted_seconds":\([0-9.e+-]*\).*/\1/p' \
  "$scratch/run/home-2.jsonl" | awk '{ printf "%d\n", 1000 * $1 }')
best=$(printf '%s\n' "${plans[@]}" | sort -n | head -n 1)
echo "planned, in ms: $best at best, ${plans[-1]:-0} in the end"
expect "plans that reckon with it" 0 "" test "$((10 * ${plans[-1]:-0}))" -gt "$((13 * best))"
conclude
