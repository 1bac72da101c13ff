/// Whether a round counts: one member's side of the agreement, as a state
/// machine. runtime/averaging/README.md states the protocol and why two members
/// that survive cannot decide differently.
///
/// Pure: no clock, no socket, no gradient. The owner feeds it what happened and
/// carries out the actions in the order in which they are returned. It expects
/// of the owner that
/// - messages between two members arrive in order or not at all, and
///   `member_lost` comes behind the last one;
/// - at the beginning it sends its parts to the planned reducers, and keeps the
///   gradient for others that a heal may name;
/// - parts are summed whenever they come; of chunks planned elsewhere, from the
///   first question on;
/// - whenever `digest_wanted()`, it calls `whole_vector_here`;
/// - means and averages are kept until the next round begins, and `asked` is
///   called for every request;
/// - while `waiting()`, `expired` is called whenever nothing of this round
///   happened for the contract's patience (no message, no part, no mean).
///
/// It judges which messages and losses count, and when patience ends. What
/// follows from them lies in `round_course`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/averaging/round/round_course.hpp"

namespace potluck {

class round_agreement {
public:
  using actions = round_actions;

  /// @param contract Trainers before auxiliaries, the first a trainer, no id
  /// twice. Throws std::invalid_argument otherwise, or when `self` is missing.
  /// @param map Of the contract's share plan.
  /// @param keeps_majority Those who complete a round without others must have
  /// the contract's least samples themselves, not only in what has come: where
  /// these are more than half, as of redrawn groups, at most one part of a
  /// group that falls apart commits anything.
  round_agreement(const group_contract& contract, const chunk_map& map,
                  const peer_id& self, bool keeps_majority = false);

  /// A part has come, from another member or ourselves.
  void part_here(std::uint32_t chunk, std::uint64_t samples) {
    course_.part_here(chunk, samples);
  }
  /// The chunk has been averaged here, without the parts of these members.
  actions averaged(std::uint32_t chunk, std::vector<std::uint8_t> left_out);
  /// Nobody else is in the round, and all means are here, of these samples.
  actions averaged_alone(std::uint64_t samples);
  /// Whether a mean from this member is the one to place now.
  bool wants(const peer_id& from, const chunk_mean& x) const;
  /// A mean that was wanted has been placed.
  void mean_here(const chunk_mean& x) {
    course_.mean_here(x);
  }
  /// A member asks for a mean.
  actions asked(const peer_id& by, const mean_request& x);

  /// Every mean that counts is here, and it matters.
  bool digest_wanted() const {
    return own().digest_wanted(frozen());
  }
  /// All of them are placed, and this is the whole vector's digest.
  actions whole_vector_here(const digest& mean);

  /// The session with the member is down. Without effect for strangers.
  actions member_lost(const peer_id& member);

  /// The member is connected again, after `member_lost`: it lives, only its
  /// line broke. The agreement does without it all the same, since what it said
  /// meanwhile is lost; parts and means go once more. Ends an undecided round
  /// here when those who have so gone on without this member, or it without
  /// them, outnumber those that are left.
  actions member_returned(const peer_id& member);

  /// Both at once: its line broke and is up again. What others have come back
  /// meanwhile counts before anything is ruled without them.
  actions member_out_of_touch(const peer_id& member);

  /// Messages of strangers, of other groups, or of lower epochs change nothing.
  actions receive(const peer_id& from, const round_message& what);

  /// The patience has passed without any progress.
  actions expired();

  /// Others are known to have done the step: from now on this member, where it
  /// leads, commits only what somebody of the group has committed.
  void overtaken() {
    course_.leader().overtaken();
  }

  /// The member seems to know the outcome: asks it to tell.
  actions ask(const peer_id& member);

  /// Gives the round up instead of doing what a leader rules, and tells it.
  actions call_off(const peer_id& leader);

  /// What this member answers when asked where it stands.
  potluck::standing standing() const {
    return own().stand().is;
  }
  bool decided() const {
    return own().decided();
  }
  /// Its means are here, of samples enough for a step, and it has said so.
  bool ready() const {
    return own().prepared()
           && own().stand().has.least_samples >= least_samples_;
  }
  /// Whether that member leads an epoch that counts for this one.
  bool heeds(std::size_t leader, std::uint32_t epoch) const {
    return leads(leader, epoch) && epoch >= course_.answered();
  }
  /// This member is the contract's leader, and knows of no ruling.
  bool leads_unruled() const {
    return members().self() == 0 && !decided() && !course_.has_ruled();
  }
  /// What counts by that verdict is here; or this member applies nothing.
  bool holds(const round_verdict& x) const {
    return own().spectator()
           || own().stand().holds({x.mean, x.least_samples, x.most_samples});
  }
  /// Of an abort of this member's: who said that it had other means.
  const std::vector<std::size_t>& odd_ones() const {
    return course_.odd_ones();
  }
  /// Something is still expected of others: only then do deadlines matter. A
  /// decided leader waits until everybody who lacks means has them.
  bool waiting() const {
    return course_.waiting();
  }
  /// Has said where it stands, or given it up: means that come now are late,
  /// unless a later ruling names them.
  bool frozen() const {
    return course_.frozen();
  }
  bool fetching() const {
    return own().fetching();
  }
  /// Has to send what this member gets.
  std::optional<std::size_t> holder() const {
    return own().holder();
  }
  /// Has asked the others where they stand, and rules on it.
  bool leading() const {
    return course_.leading();
  }
  /// It rules as soon as the others have answered.
  bool awaits_answers() const {
    return course_.awaits_answers();
  }
  /// The highest epoch answered, opened or obeyed; -1: none yet.
  std::int64_t answered() const {
    return course_.answered();
  }
  /// Obeys a heal, and knows of nothing newer.
  bool healing() const {
    return own().healing();
  }
  /// Chunks whose means the heal has this member make, and that are not made.
  std::vector<std::uint32_t> to_make() const {
    return course_.to_make();
  }
  /// Members from which means are still to come.
  std::set<std::size_t> awaited() const {
    return ledger().awaited();
  }
  /// Can serve every mean of the round to others.
  bool holds_means() const {
    return own().holds_means();
  }
  const chunk_ledger& ledger() const {
    return own().ledger();
  }
  const member_roll& members() const {
    return course_.members();
  }

  /// Everything that the future depends on, as bytes: equal strings, equal
  /// behaviour. For tests that explore states.
  std::string fingerprint() const;

private:
  void on(std::size_t from, const round_prepared& x);
  void on(std::size_t from, const round_settle& x);
  void on(std::size_t from, const round_standing& x);
  void on(std::size_t from, const round_verdict& x);
  void on(std::size_t from, const round_heal& x);

  const own_side& own() const {
    return course_.own();
  }
  /// No auxiliary leads.
  bool leads(std::size_t member, std::uint32_t epoch) const {
    return members().leader_of(epoch) == member && members()[member].trains;
  }
  void expired_as_follower();

  group_id group_;
  std::uint64_t least_samples_;
  round_course course_;
  bool asked_around_ = false;
  int expiries_ = 0;            ///< Without progress, in a row.
  std::vector<unsigned> words_; ///< Of each member.
};

} // namespace potluck
