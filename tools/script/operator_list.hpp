/// The operators of TorchScript that a stranger's file may use: those of
/// networks, on values that it is given. Torch-free.
///
/// Left out is what reaches outside (files, devices, other processes, the
/// seed), what runs beside the graph (threads, hooks, classes of C++), and what
/// looks at memory that is not a tensor's own (`as_strided`, `set_`).
#pragma once

#include <string_view>

namespace potluck {

/// @param name As LibTorch has it: "aten::linear". All its overloads.
bool is_allowed_operator(std::string_view name);

} // namespace potluck
