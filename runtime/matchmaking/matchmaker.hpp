/// How this peer becomes a member of a group: leading one, or following a
/// leader's invitation. The transitions are one table in matchmaker.cpp.
///
/// Pure: no clock, no socket. It does not know who is alive or when the target
/// batch is reached; the owner says when to `begin` and carries out the actions
/// in the order in which they are returned. Peers are authenticated by their
/// sessions: `from` is never taken from a message.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "messages/matchmaking.hpp"
#include "messages/progress.hpp"
#include "runtime/matchmaking/leader_order.hpp"

namespace potluck {

/// Whether this peer is the one to lead: a trainer, ready, and no other ready
/// trainer at the same step and state comes before it.
/// @param fresh Reports of other peers that are recent enough to count.
/// @param passed_over How many before it may have missed their turn.
bool should_lead(const progress_report& self,
                 const std::vector<progress_report>& fresh,
                 const leader_order& order = {}, std::size_t passed_over = 0);

using matchmaking_message
    = std::variant<group_invite, group_answer, group_start, group_cancel>;

struct send_to_peer {
  peer_id to;
  matchmaking_message what;
};

/// "Stop accumulating, then call `frozen`." The gradient stays as it is until
/// `release_gradient` or the end of the round. When a release overtakes the
/// freeze, the owner drops the figures of that freeze: they are stale.
struct freeze_gradient {
  group_id group;
};

/// "No group this time: accumulate on." `reason` is a sentence's part for logs.
struct release_gradient {
  group_id group;
  std::string reason;
  /// Whose contract this peer has refused, which is somebody's mistake; empty:
  /// nobody's.
  peer_id refused = {};
  /// Most trainers that answered this leader will not be in its group.
  bool outnumbered = false;
};

/// "The group stands: average." Call `finished` when the round is over.
struct start_round {
  group_contract contract;
};

/// "This peer, if it is a member, will take no part in the round that has
/// begun": treat it as lost there.
struct member_declined {
  group_id group;
  peer_id member;
  std::string reason;
};

using matchmaking_action
    = std::variant<send_to_peer, freeze_gradient, release_gradient, start_round,
                   member_declined>;

/// What does not change while a peer runs, but for the measured bandwidths.
struct matchmaker_settings {
  contact self;
  potluck::role role = potluck::role::trainer;
  std::uint64_t target_batch = 1;
  std::uint64_t gradient_values = 0;
  std::uint32_t chunk_values = 0;
  /// Values a chunk of a round, from its contract but for `chunk_values` and
  /// `plan`; null: as above.
  std::function<std::uint32_t(const group_contract&)> cut = nullptr;
  std::uint32_t patience_ms = 0;
  /// The digest of the share plan of a contract whose `plan` is not set yet.
  std::function<digest(const group_contract&)> plan;
  /// Whether the contracts of groups that this peer leads say what members said
  /// of their lines; else nothing of any, and all plan equal shares.
  std::function<bool()> believe = [] { return true; };
  std::uint32_t computing_ms = 0; ///< Of a step; 0: unknown.
  /// Several groups share the target batch (runtime/ways/moshpit): with how
  /// many samples one begins its leader decides, but not alone when it invited
  /// others, and it counts when more than half of them are left.
  bool redrawn = false;
};

/// Whether the contract says anything of anybody's line.
bool quotes_lines(const group_contract& x);

struct invitee {
  contact who;
  potluck::role role = potluck::role::trainer;
};

class matchmaker {
public:
  using actions = std::vector<matchmaking_action>;

  enum class state {
    idle,     ///< Takes part in nothing.
    leading,  ///< Has invited, and collects answers and its own gradient.
    freezing, ///< Has an invitation, and waits for its own gradient.
    answered, ///< Has accepted, and waits for the leader.
    busy,     ///< In a round.
  };

  explicit matchmaker(matchmaker_settings settings);

  /// The step and state held, for comparison with invitations. An auxiliary
  /// holds no state and follows whoever invites.
  void hold(std::uint64_t step, const digest& state);

  /// Bytes per second, 0 while unknown: what the next answer or contract says.
  /// @param slow_pairs At most `max_slow_pairs` are said.
  void measure(double upload, double download,
               std::vector<slow_pair> slow_pairs = {});

  /// With whom this peer will not work: what the next answer says. A
  /// leader leaves out whom most avoid, and one of each other pair (aversions).
  void avoid(std::vector<peer_id> whom);

  /// Trainers at hand that a group led by this peer does not invite, since it
  /// has seen them contradicted: they may lead a group of their own, and
  /// count as those that say no.
  void shun(std::vector<peer_id> whom) {
    shunned_ = std::move(whom);
  }

  /// Whom to follow, when several lead.
  void follow(leader_order order) {
    order_ = std::move(order);
  }

  /// Whether a group is started although most trainers that answered are with
  /// another leader, or will not work with this one, or it not with them.
  /// Usually not: what a minority commits is lost when it meets the others. For
  /// good it cannot wait.
  void insist(bool on) {
    insists_ = on;
  }

  /// How long the members of the next group that this peer leads shall wait.
  void set_patience(std::uint32_t patience_ms) {
    settings_.patience_ms = patience_ms;
  }

  /// With how many this group begins at least, where it is not the target
  /// batch.
  void set_least_samples(std::uint64_t samples) {
    least_samples_ = samples;
  }

  /// What computing a step takes, for the contract of that group.
  void set_computing(std::uint32_t computing_ms) {
    settings_.computing_ms = computing_ms;
  }

  /// Starts to lead. @param group Fresh and random. @param step The step that
  /// the group completes: one more than held. Throws std::logic_error unless
  /// idle.
  actions begin(const group_id& group, const std::vector<invitee>& invitees);

  /// The gradient is frozen with these figures. Ignored when nobody asked.
  actions frozen(std::uint64_t samples, double loss_sum);

  actions receive(const peer_id& from, const matchmaking_message& what);
  actions lost(const peer_id& peer);
  /// The patience since `begin`, or since the invitation, has passed.
  actions expired();
  /// The round is over.
  actions finished();
  /// What was frozen is no more: its owner was replaced. A group that is still
  /// being formed goes on without this peer.
  actions forgotten();

  matchmaker::state now() const {
    return state_;
  }
  /// The current group; empty when idle.
  const group_id& group() const {
    return group_;
  }

private:
  struct begun {
    group_id group;
    std::vector<invitee> invitees;
  };
  struct froze {
    std::uint64_t samples;
    double loss_sum;
  };
  struct gone {};
  struct patience_over {};
  struct round_over {};
  struct owner_gone {};
  /// The order is the order of `event`.
  using input
      = std::variant<begun, froze, group_invite, group_answer, group_start,
                     group_cancel, gone, patience_over, round_over, owner_gone>;
  enum class event {
    begin,
    frozen,
    invite,
    answer,
    start,
    cancel,
    lost,
    expired,
    finished,
    forgotten
  };
  struct transition {
    state in;
    event on;
    void (matchmaker::*run)(const peer_id& from, const input& what);
  };
  static const transition table[];

  /// Whom the leader has invited and what came back.
  struct invited {
    invitee peer;
    bool pending = true;
    std::optional<group_answer> accepted;
    bool against = false; ///< Said no, or that it will not work with us.
  };

  actions happen(const peer_id& from, input what);

  void invite_all(const peer_id& from, const input& what);
  void keep_own(const peer_id& from, const input& what);
  void keep_answer(const peer_id& from, const input& what);
  void count_absent(const peer_id& from, const input& what);
  void close_now(const peer_id& from, const input& what);
  void pass_refusal(const peer_id& from, const input& what);
  void consider(const peer_id& from, const input& what);
  void decline_busy(const peer_id& from, const input& what);
  void answer_leader(const peer_id& from, const input& what);
  void check_contract(const peer_id& from, const input& what);
  void refuse_start(const peer_id& from, const input& what);
  void obey_cancel(const peer_id& from, const input& what);
  void leader_gone(const peer_id& from, const input& what);
  void give_up(const peer_id& from, const input& what);
  void rest(const peer_id& from, const input& what);
  void forget_gradient(const peer_id& from, const input& what);

  /// Whoever leads itself has lost our invitation with its memory.
  void remind(const peer_id& who);
  void close_if_complete();
  void close();
  /// Cancels those who cannot stay with others that have accepted.
  void drop_avoided();
  /// What a group with so many counts at least. Of a redrawn one more than
  /// half, so that two parts of it that lose each other never both make the
  /// step.
  std::uint64_t least_of(std::uint64_t samples) const {
    return settings_.redrawn ? samples / 2 + 1 : settings_.target_batch;
  }
  /// In a redrawn group: trainers were invited, and none has come.
  bool alone() const;
  /// More trainers have said no, avoid this leader or are shunned by it than
  /// would be members; or as many, with the first of all trainers among them.
  bool outnumbered() const;
  void cancel_invitations(const std::string& reason);
  void release(const std::string& reason, const peer_id& refused = {});
  void decline(const peer_id& to, const group_id& group, std::string reason);
  group_contract make_contract() const;
  /// How its round cuts the gradient.
  std::uint32_t chunk_values_of(const group_contract& x) const;
  std::string problem_with(const peer_id& from, const group_contract& x) const;
  /// What a contract says of this peer that it did not answer; empty: nothing.
  std::string misquoted(const group_member& mine,
                        const group_contract& in) const;
  group_answer own_answer() const;

  matchmaker_settings settings_;
  std::uint64_t step_ = 0; ///< Held; groups complete the next one.
  digest held_;
  std::vector<peer_id> avoid_;
  std::vector<peer_id> shunned_;
  std::vector<slow_pair> slow_pairs_;
  std::uint64_t least_samples_ = 1;
  bool insists_ = false;
  double upload_ = 0;
  double download_ = 0;

  state state_ = state::idle;
  group_id group_;
  peer_id leader_;
  leader_order order_;
  std::map<peer_id, invited> invited_;
  std::optional<froze> own_; ///< Set while the gradient is frozen.
  group_answer answer_;      ///< What was answered, to compare.
  std::uint64_t group_step_ = 0;
  actions out_;
};

std::string to_string(matchmaker::state x);

} // namespace potluck
