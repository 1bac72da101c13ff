/// What must hold of experts, whatever befalls their hosts: no call is applied
/// twice, and an expert's version goes back only when its host crashes or
/// changes, and then by no more than the policy says.
///
/// Pure: it is told what modules do and what hosts say.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/lab/judge/promise.hpp"

namespace potluck {

class sound_experts : public promise {
public:
  sound_experts(ledger& all, const terms& run);

  /// The host is another one than before: it has nothing of it.
  void forget(std::size_t host);

  /// A host's expert was made, or loaded, with so many updates.
  void made(std::size_t host, const std::string& uid, std::uint64_t version,
            duration at);
  /// It has applied these calls as one update, by which it got this version.
  void applied(std::size_t host, const std::string& uid,
               const std::vector<std::uint64_t>& calls, std::uint64_t version,
               duration at);
  /// Of "expert_moved": that the host took the expert over.
  void told(const teller& who, duration at, const event& x) override;
  void taken_over(std::size_t host, const std::string& uid, std::uint64_t term,
                  std::uint64_t version, duration at);
  /// Somebody's call was answered.
  void answered(const std::string& uid, duration at) {
    answered_[uid] = at;
  }

  /// At the end: all experts that ever were taught have answered since `since`.
  void all_answer(duration since, duration at);

  std::uint64_t updates() const {
    return updates_;
  }
  std::uint64_t moves() const {
    return moves_;
  }

private:
  std::uint64_t most_lost_;
  std::set<std::uint64_t> calls_;
  /// Of each host's expert: where it is, and under which term.
  std::map<std::pair<std::size_t, std::string>, std::uint64_t> versions_;
  std::map<std::pair<std::size_t, std::string>, std::uint64_t> terms_;
  /// Of each expert and term: the highest version of each host that had it.
  std::map<std::pair<std::string, std::uint64_t>,
           std::map<std::size_t, std::uint64_t>>
      reached_;
  std::map<std::string, duration> answered_;
  std::set<std::string> taught_;
  std::uint64_t updates_ = 0;
  std::uint64_t moves_ = 0;
};

} // namespace potluck
