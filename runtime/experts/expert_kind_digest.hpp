/// Whether two hosts host the same kind of expert, as a digest.
#pragma once

#include <string>

#include "messages/ids.hpp"
#include "runtime/ports/expert_module.hpp"

namespace potluck {

/// Of all that decides what an expert's saved bytes mean; the learning rate
/// does not.
inline digest digest_of_kind(const expert_kind& kind) {
  auto inner = kind.inner == 0 ? 4 * kind.hidden : kind.inner;
  auto heads = kind.layer == "transformer" ? kind.heads : 0;
  auto text = kind.layer + "/" + std::to_string(kind.hidden) + "/"
              + std::to_string(inner) + "/" + std::to_string(heads) + "/"
              + std::to_string(kind.tokens);
  return digest_of(text.data(), text.size());
}

} // namespace potluck
