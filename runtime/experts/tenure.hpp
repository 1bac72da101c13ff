/// Which of two hosts of one expert is to have it.
///
/// An expert's term counts how often it has come to another host. The higher
/// term has it; of equal terms, which two guards can reach at the same time,
/// the higher id. Both sides see the same two announcements, so they agree
/// without talking to each other.
#pragma once

#include <cstdint>
#include <tuple>

#include "messages/experts.hpp"

namespace potluck {

struct tenure {
  std::uint32_t term = 1;
  peer_id host;

  friend bool operator<(const tenure& a, const tenure& b) {
    return std::tie(a.term, a.host) < std::tie(b.term, b.host);
  }
};

inline tenure tenure_of(const expert_announcement& x) {
  return {x.term, x.host.id};
}

} // namespace potluck
