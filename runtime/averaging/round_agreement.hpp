/// Whether a round counts: one member's side of the agreement, as a state
/// machine. runtime/averaging/README.md states the protocol and why two members
/// that survive cannot decide differently.
///
/// Pure: no clock, no socket, no gradient. The owner feeds it what happened and
/// carries out the actions in the order in which they are returned. It expects
/// of the owner that
/// - messages between two members arrive in order or not at all, and
///   `member_lost` comes behind the last one;
/// - while `frozen()` and not `fetching()`, no mean is placed any more;
/// - a `mean_request` is answered whenever `holds_means()`, also before the
///   verdict and after it, until the next round begins;
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
#include "messages/matchmaking.hpp"

namespace potluck {

using round_message
    = std::variant<round_prepared, round_settle, round_standing, round_verdict>;

/// "Send this to that member."
struct send_to_member {
  peer_id to;
  round_message what;
};

/// "Ask `holder` for the missing means, then call `means_fetched`" (at once
/// when none is missing). Replaces an earlier fetch.
struct fetch_means {
  peer_id holder;
  digest mean; ///< What the whole vector must have.
  /// The means at hand differ from the ones that count: drop them and ask for
  /// all.
  bool everything = false;
};

/// "This is final here." Returned exactly once. A trainer that reads `commit`
/// holds the means with this digest; an auxiliary is merely released.
struct round_decision {
  bool commit = false;
  digest mean; ///< Empty on abort.
};

using round_action = std::variant<send_to_member, fetch_means, round_decision>;

class round_agreement {
public:
  using actions = std::vector<round_action>;

  /// @param contract Trainers before auxiliaries, the first a trainer, no id
  /// twice. Throws std::invalid_argument otherwise, or when `self` is missing.
  round_agreement(const group_contract& contract, const peer_id& self);

  /// Every mean has come from its reducer; `mean` is the digest of the vector.
  /// Without effect when frozen.
  actions all_means_here(const digest& mean);

  /// Every mean that `fetch_means` asked for is here.
  actions means_fetched(const digest& mean);

  /// The session with the member is down. Without effect for strangers.
  actions member_lost(const peer_id& member);

  /// Messages of strangers, of other groups, or of lower epochs change nothing.
  actions receive(const peer_id& from, const round_message& what);

  /// The patience has passed without any progress.
  actions expired();

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
  /// Has said where it stands, or given it up: means that come now are late.
  bool frozen() const {
    return answered_ >= 0 || decided();
  }
  bool fetching() const {
    return fetching_;
  }
  /// Can serve every mean of the round to others.
  bool holds_means() const {
    return !spectator_
           && (own_.is == standing::prepared || own_.is == standing::committed);
  }
  /// Who decides, as far as this member knows; none when no trainer is left.
  std::optional<peer_id> acting_leader() const;

  /// Everything that the future depends on, as bytes: equal strings, equal
  /// behaviour. For tests that explore states.
  std::string fingerprint() const;

private:
  /// What a member has said of itself.
  struct known {
    potluck::standing is = potluck::standing::incomplete;
    digest mean;
  };
  struct member {
    peer_id id;
    bool trains = true;
    bool down = false;      ///< Its session ended: for good.
    bool suspected = false; ///< Was silent for too long; a message clears it.
    bool lacking = false;   ///< Leader only: was told to fetch, not done yet.
    std::optional<known> said; ///< Leader only: in the current epoch.

    bool lost() const {
      return down || suspected;
    }
  };

  void on(std::size_t from, const round_prepared& x);
  void on(std::size_t from, const round_settle& x);
  void on(std::size_t from, const round_standing& x);
  void on(std::size_t from, const round_verdict& x);

  /// Index, or the member count for strangers.
  std::size_t index_of(const peer_id& id) const;
  /// The lowest epoch not below the answered one whose leader is alive.
  std::optional<std::int64_t> acting_epoch() const;
  member& leader_of(std::int64_t epoch);
  static bool is_final(potluck::standing x);
  bool anybody_lacks() const;

  /// The set of members believed alive has shrunk.
  void reconsider();
  /// The first leader, before any settle: commits when all trainers are
  /// prepared, aborts when two differ; false when it must wait for more.
  bool rule_if_prepared();
  void settle(std::int64_t epoch);
  void rule_if_all_stand();
  void rule(bool commit, const digest& mean);
  void tell_spectators();
  void obey(std::size_t leader, const round_verdict& x);
  void decide(bool commit, const digest& mean);
  void fetch(std::size_t holder, const digest& mean, bool everything);
  round_standing where_i_stand() const;
  void send(const peer_id& to, round_message what);
  actions take();

  group_id group_;
  std::vector<member> members_;
  std::size_t self_ = 0;
  bool spectator_ = false;
  known own_;

  /// The highest epoch answered (or opened, or obeyed); -1: none yet.
  std::int64_t answered_ = -1;
  bool leading_ = false; ///< Has opened epoch `answered_` itself.
  bool ruled_ = false;   ///< Leader only: the verdict of this epoch is out.
  std::size_t holder_ = 0;
  digest ruling_; ///< Leader only: the mean that counts.
  bool spectators_wait_ = false;

  bool fetching_ = false;
  bool fetched_all_ = false; ///< The current fetch already asks for everything.
  digest wanted_;
  int expiries_ = 0; ///< Without progress, in a row.

  actions out_;
};

} // namespace potluck
