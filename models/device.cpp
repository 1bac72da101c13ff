#include "models/device.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <ATen/Parallel.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include "models/catalogue.hpp"
#include "models/device_name.hpp"

namespace potluck {

namespace {

cards_here look_for_cards() {
  cards_here result;
  result.library_has_cuda = c10::impl::hasDeviceGuardImpl(at::kCUDA);
  if (result.library_has_cuda)
    result.count = c10::impl::getDeviceGuardImpl(at::kCUDA)->deviceCount();
  return result;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// Has the card do something: whether it can be used is not seen otherwise.
std::string problem_with_card(int card) {
  const at::Device device(at::kCUDA, static_cast<at::DeviceIndex>(card));
  try {
    at::ones({1}, device).item<float>();
    return "";
  } catch (const std::exception& e) {
    const auto name = "cuda:" + std::to_string(card);
    if (is_out_of_memory(e))
      return "The card " + name
             + " has no memory left: end what else computes on it (nvidia-smi "
               "shows that), or choose another device.";
    return "The card " + name + " cannot be used now (" + first_line(e.what())
           + "): end what else computes on it (nvidia-smi shows that), or "
             "choose another device.";
  }
}

} // namespace

std::string problem_with_device(const std::string& name) {
  auto problem = problem_with_name(name, look_for_cards());
  if (!problem.empty())
    return problem;
  const auto wanted = *read_device_name(name);
  return wanted.what == device_name::kind::cuda ? problem_with_card(wanted.card)
                                                : "";
}

std::string device_in_use(const std::string& name) {
  return choose_device(name).str();
}

at::Device choose_device(const std::string& name) {
  auto problem = problem_with_device(name);
  if (!problem.empty())
    throw std::runtime_error(problem);
  auto wanted = *read_device_name(name);
  if (wanted.what == device_name::kind::automatic
      && problem_with_device("cuda").empty())
    wanted.what = device_name::kind::cuda;
  if (wanted.what != device_name::kind::cuda)
    return at::Device(at::kCPU);
  return at::Device(at::kCUDA, static_cast<at::DeviceIndex>(wanted.card));
}

at::Tensor to_device(const at::Tensor& on_cpu, at::Device device) {
  if (device.is_cpu())
    return on_cpu;
  return on_cpu.pin_memory().to(device, /*non_blocking=*/true);
}

bool is_out_of_memory(const std::exception& e) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&e) != nullptr)
    return true;
  // What LibTorch allocates past its allocator: cuBLAS's workspace, say.
  const std::string what = e.what();
  for (const auto* sign : {"CUDA out of memory", "CUDA error: out of memory",
                           "CUBLAS_STATUS_ALLOC_FAILED"})
    if (what.find(sign) != std::string::npos)
      return true;
  return false;
}

int choose_threads(int threads) {
  if (threads > 0)
    return threads;
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

void limit_interop_threads() {
  static std::once_flag once;
  std::call_once(once, [] {
    try {
      at::set_num_interop_threads(1);
    } catch (const std::exception&) {
    }
  });
}

} // namespace potluck
