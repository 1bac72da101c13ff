/// `potluck` with a model of one's own: what joins, evaluates and exports it.
///
///     own_model join --model autoencoder --data digits ...

#include "models/model_kinds.hpp"
#include "tools/examples/own_model/autoencoder.hpp"
#include "tools/potluck/full/program.hpp"

int main(int argc, char** argv) {
  potluck::add_model_kind(autoencoder_kind());
  return potluck::tools::run_program(argc, argv);
}
