/// The models that this build knows, as makers of trainers. Torch-free: what
/// the tools include of models/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "runtime/ports/trainer.hpp"
#include "runtime/state/charter.hpp"

namespace potluck {

/// What one peer decides for itself: none of it changes what is computed, but
/// for rounding.
struct trainer_options {
  std::string data_path;         ///< A file or a folder of UTF-8 text.
  int threads = 0;               ///< For LibTorch; 0 for all cores.
  std::string device = "auto";   ///< "cpu", "cuda", or cuda where there is one.
  std::uint32_t micro_batch = 0; ///< Samples computed at once; 0 to choose.
};

/// Why trainers cannot compute on the device of this name, in a sentence with
/// what mends it; empty when they can.
std::string problem_with_device(const std::string& name);

/// Names of the models, in alphabetical order.
std::vector<std::string> known_models();

/// Makes trainers that read `options.data_path`. The factory blocks while it
/// reads and tokenizes the text (some seconds for each ten MiB), and throws
/// std::runtime_error with one sentence for a person.
trainer_factory make_trainer_factory(trainer_options options);

/// The layout of the model that the settings describe; fails on an unknown
/// model and on settings that `problem_with` refuses. Needs no data.
expected<model_layout> layout_of(const run_settings& settings);

/// The charter of a new run: learns the tokenizer from the text at `data_path`
/// and sets the vocabulary to what came out, which may be below what `settings`
/// ask for. Blocks for some seconds.
expected<charter> propose_charter(run_settings settings,
                                  const std::string& data_path);

/// A sentence when LibTorch computes with a slow BLAS, with what mends it;
/// empty when all is well.
std::string slow_blas_remedy();

} // namespace potluck
