#!/usr/bin/env bash
# .ci/check_layers finds each kind of breach, names its line, and nothing else.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

# tree <file> <line>...: a tree that holds one harmless file and this one.
tree() {
  local file=$1
  shift
  rm -rf "$scratch/tree"
  mkdir -p "$scratch/tree/messages" "$(dirname "$scratch/tree/$file")"
  printf '#include <string>\n' > "$scratch/tree/messages/harmless.hpp"
  printf '%s\n' "$@" > "$scratch/tree/$file"
}
check() {
  "$root/.ci/check_layers" "$scratch/tree"
}

refused() { # refused <regex of the sentence> <file> <include line>
  tree "$2" '// first line' "$3"
  expect "$2 with $3" 1 "^$2:2: .*$1" check
}
allowed() { # allowed <file> <include line>
  tree "$1" "$2"
  expect "$1 with $2" 0 '' check
}

# the arrows
refused 'may not include runtime/' messages/a.hpp '#include "runtime/a.hpp"'
refused 'may not include actors/' runtime/x/a.cpp '#include "actors/a.hpp"'
refused 'may not include models/' actors/a.cpp '#include "models/a.hpp"'
refused 'may not include actors/' models/a.cpp '#include "actors/a.hpp"'
refused 'may not include tools/' actors/a.cpp '#  include "tools/x/a.hpp"'
refused 'may not include tests/' tools/x/a.cpp '#include "tests/a.hpp"'
refused 'may not include runtime/' messages/a.hpp '#include <runtime/a.hpp>'
refused 'from the root' runtime/x/a.cpp '#include "b.hpp"'
refused 'from the root' runtime/x/a.cpp '#include "../b.hpp"'
refused 'potluck::lab may' tools/lab/sim/a.cpp '#include "models/a.hpp"'
refused 'potluck::lab may' tools/lab/a.hpp '#include "tools/potluck/a.hpp"'
refused 'potluck::lab may' tools/lab/sim/a.cpp '#include "tools/lab/bench/a.hpp"'
allowed runtime/x/a.cpp '#include "messages/a.hpp"'
allowed actors/a.cpp '#include "runtime/x/a.hpp"'
allowed models/a.cpp '#include "runtime/x/a.hpp"'
allowed tools/potluck/a.cpp '#include "actors/a.hpp"'
allowed tools/lab/sim/a.cpp '#include "tools/lab/scenario/a.hpp"'
allowed tools/lab/chaos/a.cpp '#include "tools/potluck/a.hpp"'
allowed tests/runtime/a.cpp '#include "runtime/x/a.hpp"'

# third parties
refused LibTorch runtime/a.cpp '#include <torch/torch.h>'
refused LibTorch tests/models/a.cpp '#include <ATen/ATen.h>'
refused libuv runtime/dht/a.cpp '#include <uv.h>'
refused GLPK runtime/planning/planner.cpp '#include <glpk.h>'
refused FlatBuffers messages/codec.hpp '#include <flatbuffers/flatbuffers.h>'
refused FlatBuffers runtime/a.cpp '#include "messages/schema/a_generated.h"'
refused xxHash messages/contact.cpp '#include <xxhash.h>'
refused CAF runtime/a.cpp '#include <caf/all.hpp>'
refused CAF models/a.cpp '#include "caf/actor.hpp"'
refused libseccomp runtime/sandbox/a.cpp '#include <seccomp.h>'
refused SentencePiece models/a.cpp '#include <sentencepiece_processor.h>'
refused doctest runtime/a.cpp '#include <doctest/doctest.h>'
refused nlohmann/json runtime/a.hpp '#include <nlohmann/json.hpp>'
allowed models/a.cpp '#include <torch/torch.h>'
allowed runtime/uv/a.hpp '#include <uv.h>'
allowed runtime/planning/linear_program.cpp '#include <glpk.h>'
allowed messages/codec.cpp '#include "messages/schema/a_generated.h"'
allowed actors/a.hpp '#include <caf/all.hpp>'
allowed runtime/a.cpp '#include <nlohmann/json.hpp>'

# a public header of models/ reaches LibTorch by a detour
tree tools/potluck/a.cpp '#include "models/public.hpp"'
mkdir "$scratch/tree/models"
echo '#include "models/private.hpp"' > "$scratch/tree/models/public.hpp"
echo '#include <torch/torch.h>' > "$scratch/tree/models/private.hpp"
expect 'a detour to LibTorch' 1 \
  'tools/potluck/a.cpp:1: .*models/private.hpp -> torch/torch.h' check
echo '#include <string>' > "$scratch/tree/models/private.hpp"
expect 'the detour without LibTorch' 0 '' check

conclude
