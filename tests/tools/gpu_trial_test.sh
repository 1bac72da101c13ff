#!/usr/bin/env bash
# tools/gpu_trial: what it says where there is no card. With one it takes minutes.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

trial=$root/tools/gpu_trial

expect "help" 0 "fetches on a machine" "$trial" --help
expect "an unknown option" 2 "unrecognized" "$trial" --gpu

# PyTorch as it is on a machine without a card.
mkdir -p "$scratch/cardless/torch"
cat > "$scratch/cardless/torch/__init__.py" << 'PYTHON'
class cuda:
    def is_available():
        return False
PYTHON
expect "no card" 1 "finds no GPU" \
  env PYTHONPATH="$scratch/cardless" "$trial" --build "$scratch/build"

mkdir -p "$scratch/bare/torch"
echo 'raise ImportError' > "$scratch/bare/torch/__init__.py"
expect "no PyTorch" 1 "has no PyTorch" \
  env PYTHONPATH="$scratch/bare" "$trial" --build "$scratch/build"
expect "nothing was built" 2 "" ls "$scratch/build"
conclude
