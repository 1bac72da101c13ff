/// `potluck-full`: all subcommands, with LibTorch for those that need it.

#include "tools/potluck/full/program.hpp"

int main(int argc, char** argv) {
  return potluck::tools::run_program(argc, argv);
}
