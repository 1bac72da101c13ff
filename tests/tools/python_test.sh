#!/usr/bin/env bash
# The Python package of tools/python, over a library that is fake.
source "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

# Debian's Python: only that one has python3-torch.
python=/usr/bin/python3
[ -x "$python" ] || python=python3
export PYTHONDONTWRITEBYTECODE=1

for test in "$root"/tests/python/*_test.py; do
  case $test in
    */torch_*) needs=torch ;;
    */numpy_*) needs=numpy ;;
    *) needs=ctypes ;;
  esac
  if "$python" -c "import $needs" 2> /dev/null; then
    expect "$(basename "$test")" 0 '^OK' "$python" "$test"
  else
    lacking="${lacking:-} python3-$needs"
  fi
done
[ -z "${lacking:-}" ] || skip "not installed:$lacking"
conclude
