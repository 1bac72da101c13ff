/// The averager: runs one round at a time.
///
/// The round itself is runtime/averaging/round/averaging_round.hpp: this actor
/// turns messages into calls of it, and what it wants into sends. It spawns a
/// reducer for each chunk that this peer averages, keeps the time, and keeps
/// the last round to serve members that lack some of its means, until the next
/// one begins.
#pragma once

#include <map>

#include "actors/handles.hpp"
#include "actors/reducer_crew.hpp"
#include "actors/round_messenger.hpp"
#include "actors/supervisor.hpp"
#include "runtime/averaging/mean_room.hpp"
#include "runtime/averaging/round/averaging_round.hpp"
#include "runtime/averaging/round/other_rounds.hpp"
#include "runtime/safeguards.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// A member that has lost its lines to all others of its round waits so long
/// for them, before it goes on alone: more likely its own line broke, and is
/// dialled again. From the end of a silence to the handshake on a slow line.
constexpr auto out_of_touch_patience = 6s;

} // namespace potluck::limits

namespace potluck {

struct averager_config {
  peer_id self;
  /// How parts become means: the run's.
  averaging_rule rule = {};
  /// How parts and means are sent, where the plan says nothing: the run's.
  potluck::packing packing = potluck::packing::float32;
  /// That a predecessor had begun: its members hear that this peer is out of
  /// it. Empty for none.
  round_begun abandoned = {};
  /// Told of every reducer (see `peer_config::child_started`).
  supervisor::witness reducer_started = {};
  /// See `peer_config::bend_mean`.
  std::function<void(std::vector<float>&)> bend_mean = {};
  std::uint64_t seed = 1; ///< Of which means it checks.
  /// Numbers that nobody foresees; none: by the seed.
  std::function<std::uint64_t()> nonce = {};
  /// Where the thread that receives puts what it can; null: everything comes by
  /// letter.
  std::shared_ptr<round_intake> intake = {};
  /// Whose letters are kept until the round begins. The same object as
  /// matchmaking's: letters of a group that it does not name are dropped.
  std::shared_ptr<const awaited_group> awaited
      = std::make_shared<awaited_group>();
  safeguard_set guards = {};
  unsigned threads = 1; ///< That make the mean where nobody else does.
};

class averager_state {
public:
  void init(averager_actor::pointer self, averager_config config);

  void on(const averager_handles& w);
  void on(const letter& x);
  void on(const peer_joined& x);
  void on(const peer_left& x);
  void on(const begin_round& x);
  void on(const gradient_lent& x);
  void on(const member_withdrew& x);
  void on(const outcome_known& x);
  void on(const means_placed& x);
  void on(const mean_ready& x);
  void on(const part_refused& x);
  void on(const parts_overdue& x);
  void on(const inquiry_due& x);
  void on(const out_of_touch& x);
  void on(const deadline_passed& x);
  void on_down(const caf::down_msg& x);

private:
  bool runs(const group_id& group) const;
  /// Tells the round, if one runs, what happened, and does what it wants.
  template <class What>
  void tell(What what);
  void carry_out(round_orders orders);
  void carry_out(offer_part& x);
  void carry_out(do_without& x);
  void carry_out(audit_reminder& x);
  void carry_out(round_decided&);
  template <class Other>
  void carry_out(Other& x) {
    say_.carry_out(x);
  }

  /// Of a chunk that is still to be averaged here; it begins if need be.
  const chunk_reducer_actor& reducer_of(std::uint32_t chunk) {
    return reducers_.of(chunk, *round_, room_.pool(), patience());
  }
  /// While the round runs, its connections share lines as its plan does.
  void plan_windows();
  /// It was the last trainer of several that we had a line to: it is more
  /// likely our own line that broke.
  bool cut_off_without(const peer_id& member) const;
  void lose(const peer_id& member);
  /// Ends our part in the round, and tells the others.
  void abandon(const std::string& why);
  /// Leaves when the plan counts on a line to a member that is there through a
  /// hub alone, and of the two this one is to go.
  void leave_if_apart(const peer_id& member);
  void tell_out_of(const group_id& group, const std::vector<peer_id>& members);
  /// How long this member waits for news of the round.
  duration patience() const;
  void look_at_patience();

  averager_actor::pointer self_ = nullptr;
  averager_config config_;
  averager_handles wired_;
  round_messenger say_;
  std::map<peer_id, bool> connected_;    ///< Through a hub or not.
  std::optional<averaging_round> round_; ///< Runs, or is the last one.
  other_rounds others_;
  reducer_crew reducers_;
  /// The last trainer of the round whose line broke, while ours may have.
  std::optional<peer_id> last_in_touch_;
  std::uint64_t deadline_ = 0;
  mean_room room_;
  random_stream chance_{1};
  std::shared_ptr<denials> denials_ = std::make_shared<denials>();
  std::shared_ptr<call_offs> call_offs_ = std::make_shared<call_offs>();
};

averager_actor::behavior_type
averager(averager_actor::stateful_pointer<averager_state> self,
         averager_config config);

} // namespace potluck
