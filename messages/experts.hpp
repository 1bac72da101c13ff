/// Calls of experts that other peers host, and how hosts are announced.
/// runtime/experts/README.md states the protocol.
#pragma once

#include <cstdint>
#include <string>

#include "messages/contact.hpp"
#include "messages/ids.hpp"
#include "messages/packing.hpp"

namespace potluck {

/// The values are on the wire: append only.
enum class expert_pass : std::uint8_t {
  forward = 0,  ///< Inputs in, outputs back.
  backward = 1, ///< Inputs and the outputs' gradients in, the inputs' back.
};

/// A caller to a host: "run this expert on my samples." The body holds
/// `samples` times `values` values: of a forward pass the inputs, row by row;
/// of a backward pass all inputs, then all gradients of the outputs. Both are
/// packed for themselves: gradients are far smaller, and would be lost beside
/// inputs under one scale.
struct expert_request {
  std::uint64_t number = 0; ///< Of this call; the answer repeats it.
  std::string uid;
  expert_pass pass = expert_pass::forward;
  std::uint32_t samples = 0;     ///< MUST NOT be zero.
  std::uint32_t values = 0;      ///< Of one sample, gradients included.
  std::uint32_t patience_ms = 0; ///< An answer is of no use after it.
  potluck::packing packing = potluck::packing::float32; ///< The answer's too.
  /// So many of `values` are gradients: none in a forward pass, in a backward
  /// pass some, but not all.
  std::uint32_t gradients = 0;
};

/// What became of a call. The values are on the wire: append only.
enum class expert_outcome : std::uint8_t {
  done = 0,
  busy = 1,         ///< Too much is waiting: try another expert.
  not_here = 2,     ///< The receiver does not host it, or no more.
  wrong_shape = 3,  ///< Other values a sample, or more samples, than it takes.
  wrong_values = 4, ///< A value is NaN or infinite.
  failed = 5,       ///< The expert failed, or its values were not finite.
};

/// A host to a caller. The body holds `samples` times `values` values when it
/// is done: outputs, or gradients of the inputs, packed as the request was;
/// otherwise there is none.
struct expert_answer {
  std::uint64_t number = 0;
  expert_outcome outcome = expert_outcome::done;
  std::string sentence; ///< For a person, when it is not done.
  std::uint32_t samples = 0;
  std::uint32_t values = 0;  ///< Of one sample.
  std::uint64_t version = 0; ///< Updates of the expert before the call.
  potluck::packing packing = potluck::packing::float32;
};

/// The value of an expert's record in the DHT.
struct expert_announcement {
  contact host;
  std::uint32_t inputs = 0; ///< Values of one sample.
  std::uint32_t outputs = 0;
  std::uint64_t version = 0; ///< Updates so far.
  /// How often the expert has come to another host, counted from 1. Of two
  /// hosts of one expert the one with the lower term gives way; of equal terms
  /// the one with the lower id. MUST NOT be zero.
  std::uint32_t term = 1;
};

/// A record's value: a host of experts is alive. Under the key of all hosts it
/// says whom others may ask to keep replicas; under the key of this host alone
/// it is a lease, of a few seconds: whose lease is gone has vanished.
struct expert_host_notice {
  contact host;
  digest kind;             ///< Of the experts that it can take over.
  std::uint32_t spare = 0; ///< So many more of others' experts.
};

/// A host to another: keep what this expert has learnt.
struct replica_offer {
  std::string uid;
  std::uint32_t term = 1;
  std::uint64_t version = 0; ///< Updates, at least, in the bytes.
  std::uint64_t bytes = 0;
  digest sum; ///< Of all bytes.
  digest kind;
  contact owner; ///< The sender.
  /// Not only keep it: serve it, with the next term. The sender is leaving.
  bool hand_over = false;
};

/// What becomes of an offer. The values are on the wire: append only.
enum class replica_standing : std::uint8_t {
  wanted = 0,  ///< Send bytes `offset` to `offset + length`.
  held = 1,    ///< The version is kept here.
  serving = 2, ///< It is served here: the former host is free.
  refused = 3, ///< No room, another kind, or a newer term is known.
};

/// The guard's answers to an offer: `wanted` again and again, then one other.
struct replica_reply {
  std::string uid;
  std::uint32_t term = 1;
  std::uint64_t version = 0;
  replica_standing standing = replica_standing::refused;
  std::uint64_t offset = 0;
  std::uint32_t length = 0;
};

/// A part of the bytes, which are the body.
struct replica_chunk {
  std::string uid;
  std::uint32_t term = 1;
  std::uint64_t version = 0;
  std::uint64_t offset = 0;
};

} // namespace potluck
