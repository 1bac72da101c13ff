/// A circuit's bytes at one of its ends: frames below TLS, as on a connection.
/// Does no I/O; a hub that carries them can neither read nor change anything.
#pragma once

#include <memory>

#include "runtime/ports/frame_stream.hpp"
#include "runtime/uv/tls_context.hpp"

namespace potluck {

/// @param tls Outlives it.
std::unique_ptr<frame_stream> make_circuit_stream(const tls_context& tls,
                                                  bool begins,
                                                  frame_stream_listener& to);

} // namespace potluck
