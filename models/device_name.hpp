/// Names of devices: "auto", "cpu", "cuda" for the first card, "cuda:N".
/// Torch-free.
#pragma once

#include <optional>
#include <string>

namespace potluck {

struct device_name {
  enum class kind { automatic, cpu, cuda };

  kind what = kind::automatic;
  int card = 0; ///< Of cuda.
};

/// Nothing for a name that is none.
std::optional<device_name> read_device_name(const std::string& text);

/// What this machine and LibTorch have.
struct cards_here {
  bool library_has_cuda = false;
  int count = 0;
};

/// Why no trainer can compute on the device that is called so, in a sentence
/// with what mends it; empty when one might.
std::string problem_with_name(const std::string& text, const cards_here& here);

} // namespace potluck
