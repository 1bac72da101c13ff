/// A circuit's bytes at one of its ends: frames below TLS, as on a connection.
/// Does no I/O; a hub that carries them can neither read nor change anything.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "runtime/ports/frame_stream.hpp"
#include "runtime/uv/tls_context.hpp"

namespace potluck {

/// Bytes of large frames that come by all circuits of a transport.
using large_frame_bytes = std::shared_ptr<std::atomic<std::size_t>>;

/// @param tls Outlives it.
std::unique_ptr<frame_stream> make_circuit_stream(const tls_context& tls,
                                                  bool begins,
                                                  frame_stream_listener& to,
                                                  large_frame_bytes large);

} // namespace potluck
