/// The host of experts: serves calls, announces, and minds one actor per
/// expert.
///
/// All experts share one device, a worker's thread. `call_desk` says which
/// calls it computes next and answers them, `hosted_experts` what becomes of
/// each expert. One that crashes costs its batch; it starts again from what was
/// saved last, and the others go on. `expert_replicator`, its child, finds them
/// other hosts when this one leaves, and brings those of others. The host does
/// not know what the experts compute.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "actors/experts/expert.hpp"
#include "actors/experts/expert_replicator.hpp"
#include "actors/supervisor.hpp"
#include "runtime/experts/call_desk.hpp"
#include "runtime/experts/expert_records.hpp"
#include "runtime/experts/hosted_experts.hpp"

namespace potluck {

/// What an application says about the experts that its peer is to host.
struct expert_hosting {
  expert_kind kind;
  std::vector<expert_uid> uids; ///< At most `limits::experts_hosted`.
  expert_factory make;
  /// Where their states are kept. Shared by all restarts of the host.
  expert_shelves shelves;
  /// Experts of other hosts that this one may take over; it keeps replicas of
  /// several times as many. Nothing: as many as its own.
  std::optional<std::size_t> spare;
  std::uint64_t seed = 0;
  /// Updates between two saves, which go to other hosts as well; not zero.
  std::uint64_t save_every = 64;
  duration save_interval = std::chrono::minutes{1}; ///< And the longest time.
  batch_queue::bounds bounds;
  /// In simulations: how long a batch takes on the actor's clock. Null: as long
  /// as it takes.
  std::function<duration(std::uint32_t samples)> batch_time;
};

struct expert_host_config {
  peer_id self;
  std::string run;
  expert_hosting hosting;
  worker_mode mode = worker_mode::threaded;
  int niceness = 5;
  supervisor::witness expert_started; ///< Told the uid as the name.
};

using expert_host_actor = expert_host_door::extend<
    caf::reacts_to<expert_made>, caf::reacts_to<batch_computed>,
    caf::reacts_to<expert_saved>, caf::reacts_to<adopt_expert>,
    caf::reacts_to<give_way>, caf::reacts_to<expert_handed_over>,
    caf::reacts_to<deadline_passed>, caf::reacts_to<tick>>;

class expert_host_state {
public:
  ~expert_host_state();
  void init(expert_host_actor::pointer self, expert_host_config config);

  void on(const expert_host_handles& w);
  void on(const letter& x);
  void on(const peer_joined& x);
  void on(const peer_left& x);
  void on(const reachable_at& x);
  void on(const leave_run& x);
  void on(const expert_made& x);
  void on(const batch_computed& x);
  void on(const expert_saved& x);
  void on(const adopt_expert& x);
  void on(const give_way& x);
  void on(const expert_handed_over& x);
  void on(const deadline_passed&);
  void on(const tick&);
  void on_down(const caf::down_msg& x);

private:
  void start(const std::string& uid);
  void start_replicator();
  /// Takes an expert from its actor and from the DHT.
  void forget(const std::string& uid);
  /// Another host has it.
  void withdraw(const std::string& uid);
  void send(const call_desk::replies& all);
  /// Gives the device its next batch, if it has none.
  void pump();
  void save();
  void announce();
  void tell_figures();
  void fault(const std::string& what, const std::string& detail);
  /// While leaving: gives experts away as they become free, and says goodbye
  /// after the last; when told to end, ends when all is saved.
  void go_on_leaving();

  expert_host_actor::pointer self_ = nullptr;
  expert_host_config config_;
  expert_host_handles wired_;
  address where_;
  std::map<peer_id, peer_joined> connected_; ///< For the next replicator.
  expert_replicator_actor replicator_;
  std::shared_ptr<worker> device_;
  std::map<std::string, expert_actor> actors_;
  hosted_experts experts_;
  std::optional<call_desk> desk_;
  announcements announcements_;
  std::pair<std::size_t, std::uint64_t> told_; ///< Experts ready, calls ended.
  time_point next_news_;
  time_point next_save_;
  bool ending_ = false; ///< Told to end, as soon as all is saved.
};

expert_host_actor::behavior_type
expert_host(expert_host_actor::stateful_pointer<expert_host_state> self,
            expert_host_config config);

} // namespace potluck
