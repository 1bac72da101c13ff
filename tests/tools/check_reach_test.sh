#!/usr/bin/env bash
# .ci/check_reach finds what no peer reaches, and follows every kind of road.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

# file <path> <include>...: a file of the tree that includes these.
file() {
  mkdir -p "$scratch/tree/$(dirname "$1")"
  local path=$scratch/tree/$1
  shift
  printf '// A file of a test.\n' > "$path"
  printf '#include "%s"\n' "$@" >> "$path"
}
check() {
  "$root/.ci/check_reach" "$scratch/tree"
}

file tools/potluck/join.cpp actors/near.hpp
file actors/near.hpp messages/a.hpp
file actors/near.cpp actors/near.hpp runtime/x/far.hpp
file runtime/x/far.hpp messages/a.hpp
file runtime/planning/plan.cpp messages/a.hpp
expect 'a header through the body of another' 0 'reaches all' check

file runtime/x/alone.hpp messages/a.hpp
file runtime/x/alone.cpp runtime/x/alone.hpp runtime/x/far.hpp
expect 'a header and its body' 1 '^runtime/x/alone\.hpp: no peer' check
expect 'the body, too' 1 '^runtime/x/alone\.cpp: no peer' check

file runtime/x/far_second.cpp runtime/x/far.hpp runtime/x/alone.hpp
expect 'a second body comes with its header' 0 'reaches all' check

file runtime/y/stranger.cpp runtime/x/far.hpp
expect 'a body in another folder does not' 1 '^runtime/y/stranger\.cpp: no peer' check
file models/a.cpp runtime/y/stranger.hpp
file runtime/y/stranger.hpp messages/a.hpp
expect 'models alone do not make a peer' 1 '^runtime/y/stranger\.hpp: no peer' check
file models/a.hpp messages/a.hpp
file tools/potluck/full/join_trainer.cpp models/a.hpp
expect 'the models of a trainer do' 0 'reaches all' check
file tools/lab/sim/b.cpp runtime/z/c.hpp
file runtime/z/c.hpp messages/a.hpp
expect 'the laboratory does not' 1 '^runtime/z/c\.hpp: no peer' check

conclude
