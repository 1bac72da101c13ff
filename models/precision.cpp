#include "models/precision.hpp"

#include <stdexcept>

#include <ATen/autocast_mode.h>
#include <torch/version.h>

#include "models/catalogue.hpp"
#include "models/device.hpp"

namespace potluck {

namespace {

void enable_autocast(at::DeviceType device, bool enabled, at::ScalarType type) {
#if TORCH_VERSION_MAJOR > 2                                                    \
    || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
  at::autocast::set_autocast_dtype(device, type);
  at::autocast::set_autocast_enabled(device, enabled);
#else
  if (device == at::kCPU) {
    at::autocast::set_autocast_cpu_dtype(type);
    at::autocast::set_cpu_enabled(enabled);
  } else {
    at::autocast::set_autocast_gpu_dtype(type);
    at::autocast::set_enabled(enabled);
  }
#endif
}

} // namespace

std::string problem_with_precision(const std::string& name,
                                   const std::string& device) {
  if (name != "float32" && name != "bf16" && name != "fp16")
    return "There is no precision '" + name
           + "': choose float32, bf16 or fp16.";
  if (name == "fp16" && choose_device(device).is_cpu())
    return "fp16 needs a CUDA card: choose float32 or bf16, or name the card "
           "with --device.";
  return "";
}

precision choose_precision(const std::string& name, const at::Device& device) {
  const auto problem = problem_with_precision(name, device.str());
  if (!problem.empty())
    throw std::runtime_error(problem);
  return name == "bf16"   ? precision::bf16
         : name == "fp16" ? precision::fp16
                          : precision::float32;
}

at::ScalarType type_of(precision how) {
  return how == precision::bf16   ? at::kBFloat16
         : how == precision::fp16 ? at::kHalf
                                  : at::kFloat;
}

autocast_scope::autocast_scope(const at::Device& device, precision how)
    : device_(device.type()), enabled_(how != precision::float32) {
  if (enabled_)
    enable_autocast(device_, true, type_of(how));
}

autocast_scope::~autocast_scope() {
  if (!enabled_)
    return;
  // What it has cast belongs to this pass.
  at::autocast::clear_cache();
  enable_autocast(device_, false,
                  device_ == at::kCPU ? at::kBFloat16 : at::kHalf);
}

} // namespace potluck
