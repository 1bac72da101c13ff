/// Where LibTorch computes. Private to this folder, since it includes LibTorch.
#pragma once

#include <exception>
#include <string>

#include <ATen/ATen.h>

namespace potluck {

/// The device of this name: see `device_name.hpp`; "auto" is the first card
/// where there is one that can be used now. Throws std::runtime_error with
/// `problem_with_device`'s sentence.
at::Device choose_device(const std::string& name);

/// The tensor on the device. To a graphics card it goes while the caller does
/// other things.
at::Tensor to_device(const at::Tensor& on_cpu, at::Device device);

/// Whether a device has run out of its memory: what is asked for next, less of
/// it, may succeed.
bool is_out_of_memory(const std::exception& e);

/// `threads`, or the number of this machine's cores when it is not positive.
int choose_threads(int threads);

/// Leaves LibTorch one pool of threads: two would compete for the cores. It
/// allows the change only before its first parallel work; a program that was
/// earlier keeps its own choice.
void limit_interop_threads();

} // namespace potluck
