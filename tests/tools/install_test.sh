#!/usr/bin/env bash
# Another project finds the installed package, compiles against its headers,
# links its libraries and runs: a program that hosts a peer, and one that uses
# LibTorch and gets layers of experts.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

build=${POTLUCK_BUILD_DIR:-$root/build}
if [ ! -f "$build/cmake_install.cmake" ]; then
  skip "nothing is built in '$build'"
fi

mkdir "$scratch/consumer"
cat > "$scratch/consumer/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES CXX)
find_package(potluck 0.1 REQUIRED)
message(STATUS "Potluck is under ${potluck_LICENSE}.")
add_executable(consumer consumer.cpp)
target_link_libraries(consumer PRIVATE potluck::actors potluck::models)
add_executable(mixer mixer.cpp)
target_link_libraries(mixer PRIVATE potluck::models ${TORCH_LIBRARIES})
add_executable(laboratory laboratory.cpp)
target_link_libraries(laboratory PRIVATE potluck::lab)
END
cat > "$scratch/consumer/laboratory.cpp" <<'END'
#include "tools/lab/sim/world.hpp"
#include <iostream>
int main() {
  potluck::scenario two;
  two.groups.push_back({});
  two.groups[0].count = 2;
  two.run.push_back({"steps", "2"});
  std::cout << (potluck::simulation::world{two, {}}.run().passed ? "held\n" : "no\n");
}
END
cat > "$scratch/consumer/mixer.cpp" <<'END'
#include "models/moe/decentralized_moe.hpp"
#include <iostream>
int main() {
  try {
    potluck::decentralized_moe layer{potluck::moe_options{}, nullptr};
  } catch (const std::invalid_argument& x) {
    std::cout << x.what() << '\n';
  }
}
END
cat > "$scratch/consumer/consumer.cpp" <<'END'
#include "models/catalogue.hpp"
END
cat "$root/tools/examples/embedded_peer/main.cpp" >> "$scratch/consumer/consumer.cpp"

expect 'install' 0 '' cmake --install "$build" --prefix "$scratch/prefix"
expect 'the program for tokenizers is there' 2 'nothing to type' \
  sh -c 'exec "$1" 3>&-' - "$scratch/prefix/bin/potluck-tokenizer"
expect 'configure a consumer' 0 'Potluck is under GPL-3.0-or-later' \
  cmake -S "$scratch/consumer" -B "$scratch/consumer/build" -G Ninja \
  -DCMAKE_PREFIX_PATH="$scratch/prefix"
expect 'build the consumer' 0 '' cmake --build "$scratch/consumer/build"
expect 'a peer of its own finishes a run' 0 '"event":"finished"' \
  timeout 60 "$scratch/consumer/build/consumer"
expect 'run the one with LibTorch' 0 'needs a network to call them' \
  "$scratch/consumer/build/mixer"
expect 'simulate from outside' 0 '^held$' "$scratch/consumer/build/laboratory"

conclude
