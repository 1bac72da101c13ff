#!/usr/bin/env bash
# Two peers of the Python package train each example to equal digests.
source "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

python=/usr/bin/python3
[ -x "$python" ] || python=python3
build=${POTLUCK_BUILD_DIR:-$root/build}
"$python" -c 'import torch, numpy' 2> /dev/null \
  || skip "python3-torch and python3-numpy are not installed."
[ -e "$build/lib/libpotluck.so" ] || skip "libpotluck is not built."

expect "the real library" 0 '^OK' "$python" "$root/tests/python/real_library.py"
for example in "$root"/tools/python/examples/*.py; do
  name=$(basename "$example" .py)
  expect "$name" 0 ': OK$' "$python" "$root/tests/python/runs.py" "$name"
done
conclude
