# shellcheck shell=bash
# What the script tests share; to be sourced. A test calls `expect`, and ends
# with `conclude`, or with `skip` where the rest of it cannot be tried.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
checks=0

# expect <what> <exit status> <regex of the output, or ''> <command>...
expect() {
  local what=$1 status=$2 pattern=$3 output actual
  shift 3
  output=$("$@" 2>&1)
  actual=$?
  checks=$((checks + 1))
  if [ "$actual" -ne "$status" ]; then
    echo "FAILED: $what: exit status $actual, not $status:"
  elif [ -n "$pattern" ] && ! grep -Eq "$pattern" <<< "$output"; then
    echo "FAILED: $what: no '$pattern' in:"
  else
    return
  fi
  sed 's/^/    /' <<< "$output"
  failures=$((failures + 1))
}

# conclude: exits 0 if every expectation held.
conclude() {
  echo "$checks checks, $failures failed."
  [ "$checks" -gt 0 ] && [ "$failures" -eq 0 ]
  exit
}

# skip <why>: exits 77, which ctest shows as skipped, unless something failed.
skip() {
  echo "SKIPPED: $*"
  [ "$failures" -eq 0 ] || conclude
  exit 77
}

# needs <program>...: skips where one of them is not built.
needs() {
  local program
  for program; do
    [ -x "$program" ] || skip "'$program' is not built"
  done
}

# What has been started in the background, and is killed at the end by a test
# that says `end_children_at_exit`.
children=()
end_children_at_exit() {
  trap 'kill -9 "${children[@]}" 2> /dev/null; rm -rf "$scratch"' EXIT
}

# awaited <seconds> <command>...: its output as soon as it succeeds.
awaited() {
  local tries=$(($1 * 10))
  shift
  until "$@" 2> /dev/null; do
    [ $((tries -= 1)) -gt 0 ] || return 1
    sleep 0.1
  done
}

# address_in <JSON log>: where that peer listens, as soon as it says so.
address_in() {
  awaited 60 grep -o '"event":"listening".*' "$1" \
    | sed 's/.*"address":"\([^"]*\)".*/\1/'
}
