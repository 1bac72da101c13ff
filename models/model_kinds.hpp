/// The models that this build knows. Private to this folder, since it includes
/// LibTorch.
#pragma once

#include "models/model_kind.hpp"

/// One line a model: NAME stands for `model_kind NAME_kind()`, in the model's
/// own file. In alphabetical order.
// clang-format off
#define POTLUCK_MODEL_KINDS(add) \
  add(albert) \
  add(albert_dmoe) \
  add(gpt) \
  add(mnist_dmoe) \
  add(mnist_ffn) \
  add(torchscript)
// clang-format on

namespace potluck {

#define POTLUCK_DECLARE(name) model_kind name##_kind();
POTLUCK_MODEL_KINDS(POTLUCK_DECLARE)
#undef POTLUCK_DECLARE

/// One more, of a program's own: before anything of `catalogue.hpp` is called.
/// Throws std::logic_error afterwards.
void add_model_kind(model_kind x);

} // namespace potluck
