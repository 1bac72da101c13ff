/// Writes what libFuzzer's search begins with.
#include "tests/fuzz/texts_samples.hpp"

/// @param argv The folder to write to, and the root of the tree.
int main(int, char** argv) {
  potluck::write_seeds(potluck::texts_samples::all(argv[2]), argv[1]);
}
