/// What the kernel knows of a TCP connection, and is asked to do. Apart from
/// the rest, since Linux's header and libuv's exclude each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/clock.hpp"

namespace potluck {

struct kernel_view {
  std::uint64_t arrived = 0;   ///< Bytes, since the beginning, nearly.
  bool unsent = false;         ///< Something waits to be sent.
  bool unacknowledged = false; ///< Something is on its way.
  duration busy{0};            ///< With either, since the beginning.
  duration round_trip{0};
  duration least_round_trip{0}; ///< Since the beginning.
};

/// Nothing where the system does not tell.
std::optional<kernel_view> ask_kernel(int socket);

/// Bytes that the kernel has and the other side has not acknowledged; 0 where
/// the system does not tell.
std::size_t bytes_under_way(int socket);

/// Where the system sends by BBR, has it send by cubic (or Reno, if that is all
/// that we may choose) on this socket; no effect otherwise. For two kinds of
/// connections:
/// - To this machine itself: nothing on the way is gentler on bursts than
///   memory, and a timer for every few packets costs more than to copy them. To
///   be called before the socket connects or listens, since a connection that
///   paces does not stop; what a listening one accepts is like it.
/// - In a planned exchange on a slow line, at any time: BBR has no more under
///   way than twice what the least round trip needs, and when acknowledgements
///   wait behind what the other side sends, that is a fraction of the line.
void avoid_bbr(int socket);

/// Has the kernel say something on an idle connection every 20 s: routers
/// forget those on which nothing passes, some after 30 s.
void keep_alive(int socket);

/// Lets other sockets of this user be bound to its port that say so, too. A
/// listening one says so once it listens: then whoever starts on its port
/// without saying so is still told that it is in use.
void share_port(int socket);

} // namespace potluck
