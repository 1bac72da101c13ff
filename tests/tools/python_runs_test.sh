#!/usr/bin/env bash
# Two peers of the Python package train each example to equal digests.
source "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

python=/usr/bin/python3
[ -x "$python" ] || python=python3
build=${POTLUCK_BUILD_DIR:-$root/build}
"$python" -c 'import torch, numpy' 2> /dev/null \
  || skip "python3-torch and python3-numpy are not installed."
[ -e "$build/lib/libpotluck.so" ] || skip "libpotluck is not built."
needs "$build/bin/potluck"

expect "the real library" 0 '^OK' "$python" "$root/tests/python/real_library.py"
expect "experts elsewhere" 0 '^OK' "$python" "$root/tests/python/real_experts.py"
for example in "$root"/tools/python/examples/*.py; do
  name=$(basename "$example" .py)
  expect "$name" 0 ': (OK|skipped, .*)$' "$python" "$root/tests/python/runs.py" "$name"
done
# Which were skipped, and why.
PYTHONPATH=$root/tests/python "$python" -c '
import runs
for path in sorted(runs.EXAMPLES.glob("*.py")):
    if runs.missing(path.stem):
        print(f"skipped: {path.stem}, {runs.missing(path.stem)} is not installed")'

# What build-wheel makes needs neither the tree nor the build folder.
expect 'a folder' 0 '^PYTHONPATH=' "$root/tools/python/build-wheel" \
  --folder "$scratch/folder"
expect 'a wheel' 0 '\.whl$' "$root/tools/python/build-wheel" --out "$scratch"
mkdir "$scratch/wheel"
"$python" -m zipfile -e "$scratch"/*.whl "$scratch/wheel"
for packed in folder wheel; do
  expect "the library of the $packed" 0 "$packed/potluck/lib/libpotluck.so.1" \
    env -u POTLUCK_LIBRARY PYTHONPATH="$scratch/$packed" "$python" -c \
    'import potluck; print(potluck.version(), potluck.library_path())'
done
conclude
