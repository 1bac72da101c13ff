/// Who says which digest the state has after which step.
///
/// A digest is believed when more than half of those who speak about its step
/// name it. Pure bookkeeping over claims: reports, and what donors list.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "messages/ids.hpp"

namespace potluck {

class vouchers {
public:
  /// Steps remembered; beyond, the oldest is forgotten.
  static constexpr std::size_t most_steps = 4096;

  /// `peer` holds, or held, the state `digest` after `step`. Its latest word on
  /// a step counts.
  void claim(const peer_id& peer, std::uint64_t step, const digest& state);

  /// All that the peer said counts no more.
  void forget(const peer_id& peer);

  /// None when nobody spoke about the step, or no digest has more than half.
  std::optional<digest> believed(std::uint64_t step) const;

private:
  std::map<std::uint64_t, std::map<peer_id, digest>> claims_;
};

} // namespace potluck
