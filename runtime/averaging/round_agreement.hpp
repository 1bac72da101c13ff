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
/// - parts are summed whenever they come, also for chunks planned elsewhere;
/// - whenever `digest_wanted()`, it calls `whole_vector_here`;
/// - means and averages are kept until the next round begins, and `asked` is
///   called for every request;
/// - while `waiting()`, `expired` is called whenever nothing of this round
///   happened for the contract's patience (no message, no part, no mean).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "messages/averaging.hpp"
#include "messages/limits.hpp"
#include "messages/matchmaking.hpp"
#include "runtime/averaging/chunk_ledger.hpp"
#include "runtime/averaging/round_healing.hpp"
#include "runtime/safeguards.hpp"

namespace potluck {

using round_message = std::variant<round_prepared, round_settle, round_standing,
                                   round_verdict, round_heal>;

/// "Send this to that member."
struct send_to_member {
  peer_id to;
  round_message what;
};

/// "This is final here." Returned exactly once. A trainer that reads `commit`
/// holds the means with this digest; an auxiliary is merely released.
struct round_decision {
  bool commit = false;
  digest mean; ///< Empty on abort.
  /// Behind the chunk that counts the fewest; 0 on abort.
  std::uint64_t samples = 0;
};

using round_action = std::variant<send_to_member, round_decision, send_part,
                                  send_mean, ask_mean, average_chunk>;

class round_agreement {
public:
  using actions = std::vector<round_action>;

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
    ledger_.part_here(chunk, samples);
  }
  /// The chunk has been averaged here, without the parts of these members.
  actions averaged(std::uint32_t chunk, std::vector<std::uint8_t> left_out);
  /// Whether a mean from this member is the one to place now.
  bool wants(const peer_id& from, const chunk_mean& x) const;
  /// A mean that was wanted has been placed.
  void mean_here(const chunk_mean& x) {
    ledger_.mean_here(x);
  }
  /// A member asks for a mean.
  actions asked(const peer_id& by, const mean_request& x);

  /// Every mean that counts is here, and it matters.
  bool digest_wanted() const;
  /// All of them are placed, and this is the whole vector's digest.
  actions whole_vector_here(const digest& mean);

  /// The session with the member is down. Without effect for strangers.
  actions member_lost(const peer_id& member);

  /// The member is connected again, after `member_lost`: it lives, only its
  /// line broke. Nothing is sent to it or read from it in this round all the
  /// same, since what was on its way is lost. Ends an undecided round here when
  /// those who have so gone on without this member, or it without them,
  /// outnumber those that are left.
  actions member_returned(const peer_id& member);

  /// Both at once: its line broke and is up again. What others have come back
  /// meanwhile counts before anything is ruled without them.
  actions member_out_of_touch(const peer_id& member);

  /// Whether this member is to leave the round because of one that returned:
  /// only the line between the two broke, nobody has ruled on it, and of a pair
  /// that cannot give each other anything any more the later one goes.
  bool yields_to(const peer_id& member) const;

  /// Messages of strangers, of other groups, or of lower epochs change nothing.
  actions receive(const peer_id& from, const round_message& what);

  /// The patience has passed without any progress.
  actions expired();

  /// Others are known to have done the step: from now on this member, where it
  /// leads, commits only what somebody of the group has committed.
  void overtaken() {
    overtaken_ = true;
  }

  /// The member seems to know the outcome: asks it to tell.
  actions ask(const peer_id& member);

  /// Place in the contract, or the number of members for strangers.
  std::size_t index_of(const peer_id& id) const;

  /// What this member answers when asked where it stands.
  potluck::standing standing() const {
    return own_.is;
  }
  bool decided() const {
    return own_.is == standing::committed || own_.is == standing::aborted;
  }
  /// Something is still expected of others: only then do deadlines matter. A
  /// decided leader waits until everybody who lacks means has them.
  bool waiting() const;
  /// Has said where it stands, or given it up: means that come now are late,
  /// unless a later ruling names them.
  bool frozen() const {
    return answered_ >= 0 || decided();
  }
  bool fetching() const {
    return fetching_;
  }
  /// Has asked the others where they stand, and rules on it.
  bool leading() const {
    return leading_;
  }
  /// Obeys a heal, and knows of nothing newer.
  bool healing() const {
    return healing_;
  }
  const chunk_ledger& ledger() const {
    return ledger_;
  }
  /// Can serve every mean of the round to others.
  bool holds_means() const {
    return !spectator_
           && (own_.is == standing::prepared || own_.is == standing::committed);
  }

  /// Everything that the future depends on, as bytes: equal strings, equal
  /// behaviour. For tests that explore states.
  std::string fingerprint() const;

private:
  /// Epochs beyond are refused, so that a next one always fits on the wire.
  static constexpr std::uint32_t highest_epoch = max_epochs / 2;

  /// A whole mean vector: equal ones are the same bits over the same samples.
  struct vector_mark {
    digest mean;
    std::uint64_t least_samples = 0;
    std::uint64_t most_samples = 0;

    friend bool operator==(const vector_mark& a, const vector_mark& b) {
      return a.mean == b.mean && a.least_samples == b.least_samples
             && a.most_samples == b.most_samples;
    }
  };
  /// What a member has said of itself.
  struct known {
    potluck::standing is = potluck::standing::incomplete;
    vector_mark has;
    std::vector<chunk_standing> chunks;
    std::uint32_t ruled = 0; ///< As in `round_standing`.
  };
  struct member {
    peer_id id;
    bool trains = true;
    bool down = false;      ///< Its session ended: for good.
    bool returned = false;  ///< Down, but it lives.
    bool suspected = false; ///< Was silent for too long; a message clears it.
    bool lacking = false;   ///< Leader only: was told to fetch, not done yet.
    std::optional<known> said; ///< Leader only: in the current epoch.
    std::uint64_t samples = 0; ///< As in the contract.

    bool lost() const {
      return down || suspected;
    }
  };

  void on(std::size_t from, const round_prepared& x);
  void on(std::size_t from, const round_settle& x);
  void on(std::size_t from, const round_standing& x);
  void on(std::size_t from, const round_verdict& x);
  void on(std::size_t from, const round_heal& x);

  /// The lowest epoch not below the answered one whose leader is alive.
  std::optional<std::int64_t> acting_epoch() const;
  member& leader_of(std::int64_t epoch);
  static bool is_final(potluck::standing x);
  bool anybody_lacks() const;

  /// The set of members believed alive has shrunk.
  void reconsider();
  /// Aborts when most trainers alive are out of touch; false when not.
  bool leave_if_outnumbered();
  void lose(std::size_t member);
  /// The first leader, before any settle: when all trainers are prepared,
  /// commits, or aborts if two differ; false when it must wait for more.
  bool rule_if_prepared();
  void ask_around();
  void settle(std::int64_t epoch);
  void settle_again(); ///< At this leader's next epoch.
  void rule_if_all_stand();
  void rule(bool commit, const vector_mark& mean);
  /// Leader: commits, and tells auxiliaries, when nobody lacks means any more.
  void finish_ruling();
  void obey(std::size_t leader, const round_verdict& x);
  void decide(bool commit, const vector_mark& mean);
  void fetch(std::size_t holder, const vector_mark& mean, bool everything);
  void means_fetched(const vector_mark& has);
  round_standing where_i_stand() const;
  round_verdict verdict(bool commit, const vector_mark& mean) const;
  /// What `known::ruled` is by a ruling of the answered epoch.
  std::uint32_t this_ruling() const {
    return static_cast<std::uint32_t>(answered_ + 1);
  }
  static bool same(const vector_mark& a, const vector_mark& b);
  bool may_commit(const vector_mark& mean) const;
  /// Of those believed alive, where that matters.
  bool has_majority() const;
  void send(const peer_id& to, round_message what);
  void carry(chunk_ledger::actions wanted);
  actions take();

  // Healing (round_mending.cpp).
  /// Rules a heal; false when the round is lost.
  bool heal();
  void obey(const round_heal& x);
  /// Leader, while healing: rules when all that take part are prepared.
  void rule_if_mended();
  /// Leader, while healing: somebody who takes part is lost.
  bool lost_since_heal() const;

  group_id group_;
  chunk_ledger ledger_;
  round_healing remedy_;
  std::uint64_t least_samples_ = 0;
  bool keeps_majority_ = false;
  std::vector<member> members_;
  std::size_t self_ = 0;
  bool spectator_ = false;
  known own_;

  /// The highest epoch answered (or opened, or obeyed); -1: none yet.
  std::int64_t answered_ = -1;
  bool leading_ = false; ///< Has opened epoch `answered_` itself.
  bool ruled_ = false;   ///< Leader only: the verdict of this epoch is out.
  std::size_t holder_ = 0;
  vector_mark ruling_; ///< Leader only: the mean that counts.
  bool spectators_wait_ = false;

  bool fetching_ = false;
  bool fetched_all_ = false; ///< The current fetch already asks for everything.
  vector_mark wanted_;
  bool healing_ = false;
  bool asked_around_ = false;
  bool asked_again_ = false; ///< Leader only: why a verdict was not followed.
  bool overtaken_ = false;
  int stalls_ = 0; ///< Leader only: heals of as many that came to a halt.
  std::size_t healers_ = 0; ///< Leader only: who took part in the last heal.
  int expiries_ = 0;        ///< Without progress, in a row.

  actions out_;
};

} // namespace potluck
