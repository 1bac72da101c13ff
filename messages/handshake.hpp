/// The first frames on every connection, and the ones that keep or end it.
///
/// Phases: both sides send `hello` at once; a side that dislikes what it reads
/// answers `refusal` and closes; otherwise the connection is open. While open,
/// `heartbeat` is answered by `heartbeat_reply`; `goodbye` announces a leaver.
/// A `line_probe` is read and dropped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/contact.hpp"

namespace potluck {

/// Raised whenever an old peer could misread a new one.
constexpr std::uint32_t protocol_version = 19;

/// One line of a run's settings, as text: what two peers compare and name.
struct setting {
  std::string name;
  std::string value;

  friend bool operator==(const setting& a, const setting& b) {
    return a.name == b.name && a.value == b.value;
  }
};

struct hello {
  std::uint32_t version = protocol_version;
  peer_id id;
  potluck::role role = potluck::role::trainer;
  /// The run's name; empty for a bootstrap peer, which serves every run.
  std::string run;
  /// Where the sender accepts connections; 0 when it does not. The host is
  /// what the other side sees of the connection.
  std::uint16_t listen_port = 0;
  /// The receiver's host as the sender sees it, so that a peer learns under
  /// which address others reach it. May be empty.
  std::string seen_host;
  /// Digest of the run's charter; empty while the sender has none yet.
  digest charter;
  /// The settings behind that digest, so that a refusal can name a difference.
  std::vector<setting> settings;
  /// The port beside `seen_host`: what a router made of the receiver's.
  std::uint16_t seen_port = 0;
  /// The sender passes circuits on (messages/lines.hpp).
  bool is_hub = false;
  /// The sender's clock, in milliseconds since 1970; 0: not told. For people:
  /// nothing depends on it.
  std::uint64_t clock_ms = 0;
  /// The sender's admission to the run (messages/organiser.hpp); raw bytes.
  std::string admission = {};
};

struct refusal {
  /// For a person: what differs and what to do.
  std::string sentence;
};

struct goodbye {
  std::string reason;
};

struct heartbeat {
  std::uint64_t token = 0; ///< Comes back unchanged; the sender's business.
};

struct heartbeat_reply {
  std::uint64_t token = 0;
};

/// Its body means nothing: the sender measures how fast it goes.
struct line_probe {};

} // namespace potluck
