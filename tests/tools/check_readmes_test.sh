#!/usr/bin/env bash
# .ci/check_readmes asks for a README.md in every folder and for links that
# lead somewhere.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

check() {
  "$root/.ci/check_readmes" "$scratch/tree"
}

mkdir -p "$scratch/tree/runtime/dht"
echo 'The root. See [the runtime](runtime/README.md#there).' \
  > "$scratch/tree/README.md"
echo 'The runtime.' > "$scratch/tree/runtime/README.md"
expect 'a folder of runtime/ without README' 1 '^runtime/dht/README.md' check
: > "$scratch/tree/runtime/dht/README.md"
expect 'an empty README' 1 '^runtime/dht/README.md' check
echo 'The table.' > "$scratch/tree/runtime/dht/README.md"
expect 'all READMEs' 0 '' check
echo '[gone](../gone.md)' >> "$scratch/tree/runtime/dht/README.md"
expect 'a link to nothing' 1 '^runtime/dht/README.md:2: .*gone.md' check
echo '[web](https://example.org/x)' > "$scratch/tree/runtime/dht/README.md"
expect 'a link to the web' 0 '' check

conclude
