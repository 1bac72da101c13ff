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

} // namespace potluck
