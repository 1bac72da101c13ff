/// What the contracts of one run's groups have to say, whoever writes them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "messages/matchmaking.hpp"
#include "runtime/clock.hpp"
#include "runtime/progress/past_steps.hpp"

namespace potluck {

struct contract_terms {
  contact self;
  potluck::role role = potluck::role::trainer;
  std::uint64_t target_batch = 1;
  std::uint64_t gradient_values = 0; ///< 0: not known here.
  std::uint32_t chunk_values = 0;
  /// Values a chunk of a round, from its contract but for `chunk_values` and
  /// `plan`; null: as above.
  std::function<std::uint32_t(const group_contract&)> cut = nullptr;
  /// The digest of a contract's share plan. Where its `plan` is set and is
  /// nearly this peer's, that one (runtime/planning/leaders_plan.hpp).
  std::function<digest(const group_contract&)> plan;
  /// Whether the contracts of groups that this peer leads say what members said
  /// of their lines; else nothing of any, and all plan equal shares.
  std::function<bool()> believe = [] { return true; };
  /// What one member may bring, as this peer sees it; null: anything.
  std::function<std::uint64_t()> believable_samples = nullptr;
  /// By which a member's samples count, as this peer has seen it; null, or
  /// nothing: all do.
  std::function<std::shared_ptr<const past_steps>()> past = nullptr;
  /// For simulations of a leader that lies: changes what it counts. Null: none.
  std::function<void(group_contract&)> bend = nullptr;
  /// Whether this peer leaves the group of the other leader, which has not
  /// begun its round, for that of the one; null: it goes by their order.
  std::function<bool(const peer_id& one, const peer_id& other)> prefers
      = nullptr;
  /// How long ago this peer's step began.
  std::function<duration()> computing = [] { return duration{0}; };
  /// Why this peer cannot carry out the contract's plan; empty when it can.
  /// Asked last, for it then prepares for that. Null: it always can.
  std::function<std::string(const group_contract&)> hindrance = nullptr;
  /// Several groups share the target batch (runtime/ways/moshpit): with how
  /// many samples one begins its leader decides, but not alone when it invited
  /// others, and it counts when more than half of them are left.
  bool redrawn = false;
  /// Auxiliaries to which the contract's plan gives nothing, by their place;
  /// null: none.
  std::function<std::vector<std::size_t>(const group_contract&)> idle = nullptr;

  /// What a group with so many samples counts at least. Of a redrawn one more
  /// than half, so that two parts of it that lose each other never both make
  /// the step.
  std::uint64_t least_of(std::uint64_t samples) const {
    return redrawn ? samples / 2 + 1 : target_batch;
  }
  /// How the round of this contract cuts the gradient.
  std::uint32_t chunk_values_of(const group_contract& x) const {
    return cut ? cut(x) : chunk_values;
  }

  /// A member refuses only what is so many times more than it believes itself:
  /// its leader may have heard of others.
  static constexpr std::uint64_t slack_of_members = 2;
  /// Why nobody can have computed so many samples; empty when somebody can.
  std::string too_many(std::uint64_t samples, std::uint64_t slack = 1) const;
  /// Of whom it counts far more than it can have, or than its steps have shown;
  /// or of this peer far fewer. Empty: of nobody.
  std::string miscounted(const group_contract& x,
                         const group_answer& answered) const;
  /// Of each member's samples, leaves those that count.
  void count(group_contract& x) const;
  /// The trainers of a contract that does not list this peer, since it has no
  /// line to one of them: only if it said so itself, since it then contributes
  /// for a while, and a leader could pretend it. Else empty.
  std::vector<peer_id> trainers_without_us(const group_contract& x,
                                           const group_answer& answered) const;
  /// Why this peer cannot start on the contract; empty when it can.
  /// @param leader Who wrote it. @param step The step of its invitation.
  /// @param answered What this peer answered to that.
  std::string problem_with(const group_contract& x, const peer_id& leader,
                           std::uint64_t step,
                           const group_answer& answered) const;

private:
  std::string disorder_of(const group_contract& x, const peer_id& leader) const;
  /// What the contract says of this peer that it did not answer.
  std::string misquoted(const group_member& mine, const group_contract& in,
                        const group_answer& answered) const;
};

/// A member's mean is as good whatever it weighs: where fewer of its samples
/// count, its losses are as many parts of their sum, and so is its gradient.
void count_samples(group_member& x, std::uint64_t most);

/// The samples of all members; no more than fit.
std::uint64_t samples_of(const group_contract& x);

/// Whether the contract says anything of anybody's line.
bool quotes_lines(const group_contract& x);

} // namespace potluck
