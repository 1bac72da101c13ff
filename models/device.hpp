/// Where LibTorch computes. Private to this folder, since it includes LibTorch.
#pragma once

#include <string>

#include <ATen/ATen.h>

namespace potluck {

/// The device of this name: "cpu", "cuda", or "auto" for cuda where there is
/// one. Throws std::runtime_error with `problem_with_device`'s sentence.
at::Device choose_device(const std::string& name);

/// `threads`, or the number of this machine's cores when it is not positive.
int choose_threads(int threads);

/// Leaves LibTorch one pool of threads: two would compete for the cores. It
/// allows the change only before its first parallel work; a program that was
/// earlier keeps its own choice.
void limit_interop_threads();

} // namespace potluck
