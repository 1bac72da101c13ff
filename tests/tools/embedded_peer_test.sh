#!/usr/bin/env bash
# The example application founds a run, takes its steps, and ends well.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

build=${POTLUCK_BUILD_DIR:-$root/build}
example=$build/bin/examples/embedded_peer
needs "$example"

example() {
  timeout 60 "$example" > "$scratch/output"
}
expect 'the example ends well' 0 '' example
expect 'it founds a run' 0 '' grep -q '"founded":true' "$scratch/output"
expect 'it takes every step' 0 '^8$' \
  sh -c 'grep -c "\"event\":\"step\"" "$1"' - "$scratch/output"
expect 'it finishes' 0 '"step":8' grep '"event":"finished"' "$scratch/output"
expect 'it says so' 0 '^over: $' tail -n 1 "$scratch/output"

conclude
