#include "models/device.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include "models/catalogue.hpp"

namespace potluck {

at::Device choose_device(const std::string& name) {
  auto problem = problem_with_device(name);
  if (!problem.empty())
    throw std::runtime_error(problem);
  if (name == "cpu" || (name == "auto" && !at::hasCUDA()))
    return at::Device(at::kCPU);
  return at::Device(at::kCUDA, 0);
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
