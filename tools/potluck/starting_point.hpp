/// The option with which a run starts from parameters that there are already
/// (full/starting_point.hpp).
#pragma once

#include "tools/potluck/options.hpp"

namespace potluck::tools {

inline cli::option_spec from_option() {
  return {"from", cli::option_kind::text, "",
          "Start a new run from these parameters: a checkpoint's file, or a "
          "folder in Hugging Face's form. Model, tokenizer and settings come "
          "along, but for what other flags say.",
          "PATH"};
}

} // namespace potluck::tools
