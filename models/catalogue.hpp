/// The models that this build knows, as makers of trainers. Torch-free: what
/// the tools include of models/.
///
/// A program that embeds a trainer calls `use_better_kernels` of
/// `blas_kernels.hpp` first in its `main`, or has OPENBLAS_CORETYPE set: else
/// it computes several times slower on processors newer than its OpenBLAS.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "runtime/ports/expert_network.hpp"
#include "runtime/ports/trainer.hpp"
#include "runtime/state/setting_kinds.hpp"

namespace potluck {

/// What one peer decides for itself: none of it changes what is computed, but
/// for rounding.
struct trainer_options {
  /// A file or a folder of UTF-8 text; for models of images, a folder with
  /// MNIST's files or "digits" for drawn ones.
  std::string data_path;
  int threads = 0;                   ///< For LibTorch; 0 for all cores.
  std::string device = "auto";       ///< As in `device_name.hpp`.
  std::string precision = "float32"; ///< Or "bf16", or, on a card, "fp16".
  std::uint32_t micro_batch = 0;     ///< Samples computed at once; 0 to choose.
  /// Bytes of parameters and optimizer that a run may make this peer hold
  /// (`problem_with_size`). Gradients and activations come on top.
  std::uint64_t max_model = UINT64_MAX;
  /// Micro-batches that wait for experts at once, in models that call them.
  std::uint32_t in_flight = 8;
  std::shared_ptr<expert_network> experts; ///< Needed by such models only.
  /// Where this machine keeps runs' artifacts (`artifact_folder`); empty:
  /// nowhere. Those of a run are there, and checked, before a peer has its
  /// trainer made.
  std::string artifacts;
  /// Hears why a trainer waits, again and again, or computes otherwise than
  /// asked, in a sentence; from any thread.
  std::function<void(const std::string&)> notice;
};

/// Why trainers cannot compute on the device of this name, in a sentence with
/// what mends it; empty when they can.
std::string problem_with_device(const std::string& name);

/// The models that this build knows, with the settings of their sources and
/// experts, and what every peer knows.
const kind_families& known_families();

/// The device that trainers get by this name: "cpu", or "cuda:0". Throws
/// std::runtime_error where there is a problem with it.
std::string device_in_use(const std::string& name);

/// Why trainers cannot compute in the precision of this name on the device of
/// that one, with which there is no problem; empty when they can.
std::string problem_with_precision(const std::string& name,
                                   const std::string& device);

/// Whether the model needs `trainer_options::experts`. False for unknown ones.
bool calls_experts(const run_settings& settings);

/// Makes trainers that read `options.data_path`. The factory first looks
/// whether the model is small enough; then it blocks while it reads and
/// tokenizes the text (some seconds for each ten MiB), and throws
/// std::runtime_error with one sentence for a person.
trainer_factory make_trainer_factory(trainer_options options);

/// The layout of the model that the settings describe; fails on an unknown
/// model, on settings that `problem_with` refuses, and where the model's are
/// not all there (`complete`); on those whose tensors a charter lists
/// (`is_tensors_model`). Needs no data.
expected<model_layout> layout_of(const run_settings& settings);
/// The same of any run, of those others, too.
expected<model_layout> layout_of(const charter& run);

/// Why the model that the run describes is none for a peer that gives `most`
/// bytes to parameters and optimizer, in a sentence that names --max-model;
/// empty when it fits, or is none. Allocates nothing of its size.
std::string problem_with_size(const charter& run, std::uint64_t most);

/// Why `data_path` is nothing to learn from for the model of this name, in a
/// sentence; empty when it is. Blocks while it reads. For an unknown or empty
/// name it only looks whether something is there.
std::string problem_with_data(const std::string& model,
                              const std::string& data_path);

/// The charter of a new run. What has no value in the settings gets the usual
/// one. @param files Of the model, if it brings some along. For models of text
/// it learns the tokenizer from the text at `data_path` and sets the vocabulary
/// to what came out, which may be below what `settings` ask for. Blocks for
/// some seconds.
expected<charter> propose_charter(run_settings settings,
                                  const std::string& data_path,
                                  const charter_files& files = {});

/// A sentence when LibTorch computes with a slow BLAS, with what mends it;
/// empty when all is well.
std::string slow_blas_remedy();

/// What LibTorch multiplies matrices with, for a person: "OpenBLAS, with its
/// Haswell kernels". `blas_kernels.hpp` has what a program does about them.
std::string blas_in_use();

} // namespace potluck
