#include "models/device_name.hpp"

#include <algorithm>
#include <cctype>

namespace potluck {

std::optional<device_name> read_device_name(const std::string& text) {
  using kind = device_name::kind;
  if (text == "auto")
    return device_name{kind::automatic, 0};
  if (text == "cpu")
    return device_name{kind::cpu, 0};
  if (text == "cuda")
    return device_name{kind::cuda, 0};
  const std::string prefix = "cuda:";
  const auto number = text.substr(std::min(prefix.size(), text.size()));
  const bool is_number
      = !number.empty() && number.size() <= 3
        && std::all_of(number.begin(), number.end(),
                       [](unsigned char c) { return std::isdigit(c) != 0; });
  if (text.compare(0, prefix.size(), prefix) != 0 || !is_number)
    return std::nullopt;
  return device_name{kind::cuda, std::stoi(number)};
}

std::string problem_with_name(const std::string& text, const cards_here& here) {
  const auto name = read_device_name(text);
  if (!name)
    return "There is no device '" + text
           + "': choose auto, cpu, cuda, or cuda:N for the card with number N.";
  if (name->what != device_name::kind::cuda)
    return "";
  if (!here.library_has_cuda)
    return "This LibTorch computes on processors only: choose the device cpu, "
           "or build potluck with a LibTorch that has CUDA (-DPOTLUCK_TORCH).";
  if (here.count == 0)
    return "This machine shows no CUDA card: choose the device cpu, or see "
           "with nvidia-smi whether the driver runs.";
  if (name->card < here.count)
    return "";
  return "There is no card cuda:" + std::to_string(name->card)
         + ": this machine shows "
         + (here.count == 1 ? "one, cuda:0."
                            : std::to_string(here.count) + ", cuda:0 to cuda:"
                                  + std::to_string(here.count - 1) + ".");
}

} // namespace potluck
