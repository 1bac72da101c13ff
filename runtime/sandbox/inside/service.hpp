/// A sandboxed program's side of its conversation: it greets, then answers one
/// request after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "messages/expected.hpp"

namespace potluck::sandbox {

/// Answers a request, or says why it does not. What it throws is a reason, too;
/// std::bad_alloc means that the limit on memory was met.
using request_handler = std::function<expected<std::string>(
    std::uint8_t kind, const std::string& body)>;

/// Says that this process may not be spoken to, and why.
void decline(const std::string& reason);

/// Serves until the other end closes, or sends more than `largest_request`
/// bytes.
void serve(const std::string& greeting, std::size_t largest_request,
           const request_handler& handle);

} // namespace potluck::sandbox
