/// The transport port over libuv: TCP connections served by one thread, every
/// one of them encrypted, both ends proven (TLS 1.3; see README.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "runtime/config.hpp"
#include "runtime/identity/key_pair.hpp"
#include "runtime/ports/transport.hpp"
#include "runtime/strangers/limits.hpp"

namespace potluck {

/// For TLS's part of a beginning, from the connection on: three round trips of
/// a satellite line.
constexpr std::chrono::milliseconds encryption_patience{10'000};

struct uv_transport_options {
  /// Proves who we are. Needed, but for `insecure`.
  std::optional<key_pair> key = {};
  /// Plain TCP: everybody on the way can read and change what passes, and ids
  /// are mere claims. For measuring, between processes of one machine: listens
  /// on and dials nothing but loopback addresses.
  bool insecure = false;
  /// For one more that comes in a stranger's gives way (runtime/strangers);
  /// further dials fail.
  std::size_t max_connections = most_connections;
  /// Bytes of received frames that a connection's consumers may hold before the
  /// connection is no longer read, until they are at most
  /// `limits::read_on_share` of that.
  std::size_t high_mark_bytes = limits::unread_bytes;
  /// Bytes waiting to be sent before the other side counts as not reading, and
  /// the connection is closed. Bodies that lie in one of `queued_arrays` arrays
  /// are not counted: a gradient of any size may wait.
  std::size_t max_queued_bytes = std::size_t{512} << 20;
  /// Of the bodies that wait, those in so many arrays (bodies of one owner) are
  /// not counted, the largest first: the gradient and the mean of this round
  /// and of the one before.
  std::size_t queued_arrays = 4;
  /// For the whole dial: looking the name up and trying all its addresses.
  std::chrono::milliseconds dial_timeout{5000};
  /// From then on, until both sides have proven who they are.
  std::chrono::milliseconds handshake_timeout{encryption_patience};
  /// Connections that came in and have proven nothing yet: for further ones
  /// older ones give way.
  std::size_t max_unproven = limits::unproven_connections;
  /// A numeric address of this machine to dial from, where it has several;
  /// empty: the system chooses. What it cannot reach from there fails.
  std::string dial_from = {};
  /// Bytes per second of frames and their encryption, over all connections
  /// together; 0: no cap.
  double max_upload = 0;
  double max_download = 0;
};

/// A stopped transport whose thread begins with `start`. Destruction stops it;
/// neither `stop` nor destruction may happen on its own thread, that is, inside
/// a call-back of the listener, nor may `listen`, which waits for that thread.
/// All three throw `std::logic_error` or end the program then.
///
/// Throws `std::invalid_argument` without a key, unless insecure.
///
/// `send` throws `std::invalid_argument` when head or body exceed the limits of
/// messages/framing.hpp. What is sent on an unknown or closed connection is
/// dropped. Frames that are delivered carry an owner even when their body is
/// empty: the head counts as held, too.
std::unique_ptr<transport> make_uv_transport(uv_transport_options options = {});

/// Whether `host` is an address rather than a name that has to be looked up.
bool is_numeric_host(const std::string& host);

} // namespace potluck
