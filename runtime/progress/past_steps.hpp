/// What each trainer brought to this peer's last steps, and so what it is
/// believed to have of the next one: when that is due, and how many of the
/// samples that it claims count in its contract, which is its weight in the
/// mean. The figures are at the top of the .cpp file.
///
/// Pure. Nobody's reports are needed for it, only the contracts of this peer's
/// own rounds; members that have made the same steps bound the same contract of
/// three or more alike. Before its first step a peer knows nothing of anybody.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "messages/matchmaking.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class past_steps {
public:
  struct claim {
    peer_id who;
    std::uint64_t samples = 0;
  };

  /// How many samples count in one group, of each of its trainers.
  class bounds {
  public:
    /// At least one.
    std::uint64_t of(const peer_id& who) const;

  private:
    friend class past_steps;
    const past_steps* by_ = nullptr; ///< Null: all that is claimed counts.
    std::size_t view_ = 0;           ///< In `record::shown`.
    double least_ = 0; ///< Of a trainer that has shown less, or nothing.
    double times_ = 0; ///< So much of what was shown.
  };

  /// Fewer trainers with samples do not tell which of them lies.
  static constexpr std::size_t least_trainers = 3;
  /// After so many steps not even 256 times the median is left of what was
  /// shown.
  static constexpr unsigned steps_to_fade = 8;

  /// Of a peer of a run that begins.
  past_steps() = default;
  /// Of one that holds a state which others made. They have seen what it has
  /// not, and it nothing: in a contract it bounds itself alone.
  static past_steps newcomer(const peer_id& self);
  /// Where groups are redrawn: a contract says nothing of who is in the next.
  static past_steps redrawn();

  /// A group has formed, so long after its step began.
  /// @param there Trainers that it could have had.
  void formed(duration computing, std::set<peer_id> there);
  /// Its round has made the step. @param left_out As in `round_over`: what
  /// these brought was not seen.
  void made(const group_contract& x, const std::vector<std::uint8_t>& left_out);

  // ---- when a step is due. `elapsed` is the time since it began.

  /// No step was seen, so nothing is bounded by it.
  bool empty() const {
    return typical_ <= 0;
  }
  /// Samples that a trainer can have. Not when empty.
  double most_samples(const peer_id& who, duration elapsed) const;
  /// Samples a second. Likewise.
  double most_speed(const peer_id& who, duration elapsed) const;

  // ---- what counts in its contract

  /// Of a peer that has made no step since it came.
  bool is_newcomers() const {
    return newcomer_.has_value();
  }
  /// It knows what that leader does, and so may refuse what the leader writes:
  /// both were in the last step, and nothing counts any more that the leader
  /// has seen and this peer has not.
  bool judges(const peer_id& leader) const {
    return !newcomer_ && (empty() || (is_sure() && brought(leader) > 0));
  }
  /// Samples that the peer brought to the last step that it did not rest in;
  /// 0: it was not in the last one, or has brought none yet.
  double brought(const peer_id& who) const;
  /// What it brought to the last step itself: all that were in it know that.
  double brought_last(const peer_id& who) const {
    const auto known = known_.find(who);
    return known == known_.end() ? 0 : known->second.last;
  }
  /// The bounds in a group whose trainers claim this. Not to outlive this.
  bounds among(const std::vector<claim>& all, duration elapsed) const;
  /// Of the trainers of a contract. Likewise.
  bounds among(const group_contract& x, duration elapsed) const;
  /// The same by what its leader has seen: the last steps, as many as it is in
  /// without a gap. Likewise.
  bounds leaders_among(const group_contract& x, duration elapsed) const;

private:
  struct record {
    double brought = 0; ///< To the last step that it did not rest in; 0: none.
    double last = 0;    ///< To the last step; 0: it rested.
    unsigned steps = 0; ///< In a row that it has made.
    /// Fades; 0: nothing, or no more than the median one. To a peer that has
    /// made the last step alone, the last two, and so on; at last, all.
    std::array<double, steps_to_fade> shown{};
  };
  static constexpr std::size_t own_view = steps_to_fade - 1;

  bounds seen_among(const std::vector<claim>& all, duration elapsed,
                    std::size_t view) const;

  /// For how long who brought nothing is believed to have computed.
  double unseen_seconds(const peer_id& who, duration elapsed) const;
  bool is_sure() const;

  double formed_after_ = 0; ///< Seconds.
  std::set<peer_id> there_; ///< When it did.
  double seconds_ = 0;      ///< Of the last step's computing; 0: there is none.
  double typical_ = 0;      ///< Its trainers' samples, the lower median.
  std::map<peer_id, record> known_;
  std::optional<peer_id> newcomer_;
  /// Made since it has come; none: it was there from the run's first one on.
  std::optional<unsigned> steps_;
  bool redrawn_ = false;
};

} // namespace potluck
