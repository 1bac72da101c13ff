/// Leaders that let their members wait for contracts: they lead no more for a
/// while.
///
/// A leader waits for its slowest member, but not for long: such members have a
/// credit (`trials`). So it has one too, of three times as much. It is one for
/// all leaders, since keys cost nothing. Pure.
#pragma once

#include <map>

#include "messages/ids.hpp"
#include "runtime/step/credit.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// What contracts may be late at once, and then a third of the time.
constexpr auto contract_credit = 30s;
constexpr int contract_share = 3;
/// Nothing is said of a contract that comes within so long, or a quarter of
/// what computing took.
constexpr auto contract_free = 1s;
constexpr int contract_free_part = 4;
/// So long it does not lead; doubled each time.
constexpr auto slow_leaders_rest = 60s;
constexpr unsigned slow_leaders_doublings = 6;
/// Remembered.
constexpr std::size_t slow_leaders_known = 256;

} // namespace potluck::limits

namespace potluck {

class slow_leaders {
public:
  /// Its contract came so long after this peer's answer.
  void waited(const peer_id& leader, duration how_long, duration computing,
              time_point now);
  /// It is not to lead.
  bool has(const peer_id& who, time_point now) const;

private:
  struct rest {
    time_point until;
    unsigned times = 0;
  };
  credit left_{limits::contract_credit, limits::contract_share};
  std::map<peer_id, rest> resting_;
};

} // namespace potluck
