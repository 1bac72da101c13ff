/// Writes what libFuzzer's search begins with.
#include "tests/fuzz/answers_samples.hpp"

/// @param argv The folder to write to.
int main(int, char** argv) {
  potluck::write_seeds(potluck::answers_samples::all(), argv[1]);
}
