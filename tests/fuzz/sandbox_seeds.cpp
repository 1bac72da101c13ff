/// Writes what libFuzzer's search begins with.
#include "tests/fuzz/sandbox_samples.hpp"

/// @param argv The folder to write to.
int main(int, char** argv) {
  potluck::write_seeds(potluck::sandbox_samples::all(), argv[1]);
}
