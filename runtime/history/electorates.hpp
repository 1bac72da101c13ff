/// Those with whom this peer has made steps, and what the word of each weighs
/// where histories differ.
///
/// Pure bookkeeping over contracts. Of those whose members all sat in newer
/// contracts too, nothing is kept: a group that stays the same is one entry,
/// and one that has split is remembered for as long as the others are away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "messages/matchmaking.hpp"

namespace potluck {

class electorates {
public:
  /// Of one contract's trainers: samples, in parts of the median, 2 at most. So
  /// no member outweighs two that are like most.
  using weights = std::map<peer_id, double>;
  using condition = std::function<bool(const peer_id&)>;

  /// Contracts remembered; beyond, the oldest is forgotten.
  static constexpr std::size_t most = 64;
  static constexpr double heaviest = 2;

  /// A step was made by this contract's group.
  /// @param left_out Indices of members that are not behind all of it: they
  ///     have no say.
  /// @return Whether more than one trainer made it; else nothing is kept.
  bool made(const group_contract& x, const std::vector<std::uint8_t>& left_out);

  /// This peer made none of that step, but others are to have their say by it.
  void learn(weights of) {
    all_.push_back(std::move(of));
  }

  /// What those weigh that brought so many samples.
  static weights weights_of(const std::map<peer_id, std::uint64_t>& samples);

  /// Whether this peer remembers a step with it.
  bool has(const peer_id& who) const;
  bool empty() const {
    return all_.empty();
  }
  /// Of the last step with others. Not when `empty`.
  const weights& newest() const {
    return all_.back();
  }

  /// Who has a say about a history.
  struct electorate {
    weights members; ///< Empty: nobody.
    /// Sat in later contracts only.
    weights later;
  };
  /// Of the last step that was made together with any for which this holds.
  electorate last_with(const condition& any) const;
  /// Of all that are remembered, each as in its last contract: where each step
  /// is made with others.
  electorate of_all() const;

private:
  weights behind(std::size_t index) const;

  std::deque<weights> all_; ///< The newest last.
};

} // namespace potluck
