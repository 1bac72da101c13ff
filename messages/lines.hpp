/// How two peers get a line although a router stands before one of them or
/// both.
///
/// Reach (after AutoNAT v2 of libp2p): a peer asks another with `reach_request`
/// to dial it. That one dials the host that it sees, or sends a third peer with
/// `reach_errand`, whose host the asker's router has never seen. The dialled
/// connection carries `reach_proof` alone; `reach_answer` says how it ended.
///
/// Circuits (after Circuit v2 of libp2p): a hub passes bytes on between two
/// peers that are connected with it. `circuit_open` asks the hub for one, and
/// tells the other peer of it; `circuit_data` carries bytes that only the two
/// ends can read; `circuit_credit` says how many more the hub takes;
/// `circuit_close` ends it.
///
/// Holes (after DCUtR of libp2p): over a circuit both ends tell their addresses
/// with `hole_connect`, and one says `hole_sync`; then both dial each other at
/// one moment. `line_switch` is the last that comes over the circuit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/contact.hpp"

namespace potluck {

/// Asks the receiver to have the sender dialled at its host, as the receiver
/// sees it, and to say whether that succeeded. Nobody can have others knock
/// elsewhere.
struct reach_request {
  std::uint16_t port = 0;  ///< Where the sender listens.
  std::uint64_t nonce = 0; ///< The sender's choice: who dials it knows it.
  /// A third peer shall dial. Then the body, of `errand_bytes`, costs the
  /// sender more than what it causes.
  bool elsewhere = false;
};

struct reach_answer {
  bool reached = false; ///< The sender of the request answered there.
  std::uint64_t nonce = 0;
};

/// From whom was asked to a third peer: dial `who`, as `reach_request` says.
struct reach_errand {
  std::uint64_t nonce = 0;
  contact who;
};

/// The only frame, besides hellos, of a connection that was made to see
/// whether the receiver can be dialled.
struct reach_proof {
  std::uint64_t nonce = 0;
};

/// To a hub: a circuit to `peer`. From a hub: `peer` has opened one to the
/// receiver, or `answer`: the receiver's own one to `peer` stands. Numbers are
/// the opener's, per connection, and never used twice: all that follows says
/// beside the number whether its sender opened it.
struct circuit_open {
  std::uint32_t circuit = 0;
  peer_id peer;
  /// From a hub: where it sees `peer`; its word alone. Empty: asks a hub.
  std::string host = {};
  bool answer = false;
};

/// Its body is a piece of the stream between the ends.
struct circuit_data {
  std::uint32_t circuit = 0;
  bool opened_here = false; ///< By the sender of this message.
};

/// From a hub: so many bytes more may be sent on the circuit.
struct circuit_credit {
  std::uint32_t circuit = 0;
  bool opened_here = false;
  std::uint32_t bytes = 0;
};

struct circuit_close {
  std::uint32_t circuit = 0;
  bool opened_here = false;
  std::string reason;
};

/// Between the ends of a circuit: where the sender may be met.
struct hole_connect {
  std::uint64_t token = 0; ///< Of this try; the answer repeats it.
  bool answer = false;
  std::vector<address> seen;  ///< As others see the sender.
  std::vector<address> local; ///< In its own house, for who shares its router.
};

/// Dial now; the sender does half a round trip later.
struct hole_sync {
  std::uint64_t token = 0;
};

/// The last frame with a meaning on this connection: what follows comes on
/// another one.
struct line_switch {};

} // namespace potluck
