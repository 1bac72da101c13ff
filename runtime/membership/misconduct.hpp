/// Who has been seen to send what no honest peer sends, and who is therefore
/// banned.
///
/// Pure bookkeeping: it neither watches nor bans. What a network can do by
/// itself (lost connections, slowness, silence) is no offence, one event is no
/// habit, and what this peer alone has seen may be a bit that flipped in
/// its own memory: only offences in several rounds lead to a ban.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "messages/ids.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class misconduct {
public:
  /// Who says so.
  enum class witness {
    alone,    ///< This peer saw it.
    majority, ///< Most of those who could see it say so.
  };
  /// What an offence weighs, and the weight of a ban: three rounds that most
  /// have seen (a broken machine that recovers gets two), or nine that only
  /// this peer has.
  static constexpr unsigned weight_alone = 1;
  static constexpr unsigned weight_majority = 3;
  static constexpr unsigned weight_to_ban = 9;
  /// Older ones are forgotten: a year of training may see a few accidents.
  static constexpr duration memory = std::chrono::minutes{10};
  /// Peers remembered; beyond, who offended longest ago is forgotten.
  static constexpr std::size_t most_peers = 1024;
  /// Characters kept of each piece of evidence.
  static constexpr std::size_t longest_evidence = 200;

  /// Notes an offence.
  /// @param occasion The round or download it happened in: many wrong parts of
  /// one round are one offence, as heavy as the heaviest.
  /// @param evidence What was seen, for people.
  /// @return All the evidence, when this makes it enough for a ban; the peer
  /// then starts afresh.
  std::optional<std::string> note(const peer_id& who, witness by,
                                  const std::string& occasion,
                                  const std::string& evidence, time_point now);

  /// Offences that count now.
  std::size_t offences(const peer_id& who, time_point now) const;

private:
  struct offence {
    std::string occasion;
    std::string evidence;
    time_point at;
    unsigned weight = 0;
  };

  std::map<peer_id, std::deque<offence>> known_;
};

} // namespace potluck
