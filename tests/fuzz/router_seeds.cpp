/// Writes what libFuzzer's search begins with.
#include "tests/fuzz/router_samples.hpp"

/// @param argv The folder to write to.
int main(int, char** argv) {
  potluck::write_seeds(potluck::router_samples::all(), argv[1]);
}
