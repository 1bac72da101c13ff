/// The host of experts: serves calls, announces, and minds one actor per
/// expert.
///
/// All experts share one device, a worker's thread; `batch_queue` says which
/// calls it computes next. What is too much is refused at once. An expert that
/// crashes costs its batch; it starts again from what was saved last, and the
/// others go on. `expert_replicator`, its child, finds them other hosts when
/// this one leaves, and brings those of others. It does not know what the
/// experts compute.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>

#include "actors/experts/expert.hpp"
#include "actors/experts/expert_replicator.hpp"
#include "actors/supervisor.hpp"
#include "runtime/experts/expert_records.hpp"
#include "runtime/experts/seen_calls.hpp"
#include "runtime/membership/restart_budget.hpp"

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

  void on(const wiring& w);
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
  struct hosted {
    expert_uid name;
    expert_actor actor; ///< Null once it was given up.
    bool ready = false;
    bool adopted = false;     ///< From another host.
    bool handed_over = false; ///< As far as this host could.
    std::uint32_t term = 1;
    expert_shape shape;
    std::uint64_t updates = 0;
    std::uint64_t saved = 0;
    restart_budget budget{limits::expert_restarts, limits::restart_window};
  };
  struct figures {
    std::uint64_t calls = 0;
    std::uint64_t samples = 0;
    std::uint64_t batches = 0;
    std::uint64_t refused = 0; ///< Busy.
    std::uint64_t failed = 0;
  };

  void start(const std::string& uid, hosted& x);
  void start_replicator();
  void withdraw(const std::string& uid, const std::string& why);
  /// Of a host that leaves: begins for those that are saved and idle.
  void hand_over();
  void serve(const peer_id& from, const expert_request& x,
             const shared_bytes& body);
  void answer(const peer_id& to, expert_answer x, shared_bytes body = {});
  void refuse(const peer_id& to, std::uint64_t number, expert_outcome why,
              const std::string& sentence);
  /// Gives the device its next batch, if it has none.
  void pump();
  void announce();
  void save_dirty();
  void quit_when_saved();
  void tell_figures();

  expert_host_actor::pointer self_ = nullptr;
  expert_replicator_actor replicator_;
  expert_host_config config_;
  std::shared_ptr<worker> device_;
  wiring wired_;
  address where_;
  std::map<peer_id, peer_joined> connected_;
  std::map<std::string, hosted> experts_;
  std::optional<batch_queue> queue_;
  seen_calls seen_;
  announcements announcements_;
  std::shared_ptr<const batch_queue::batch> running_;
  std::uint64_t batch_number_ = 0;
  std::optional<time_point> wake_;
  figures figures_;
  figures told_;
  std::size_t told_ready_ = 0;
  time_point next_news_;
  time_point next_save_;
  std::set<std::string> offered_; ///< To other hosts, while leaving.
  bool leaving_ = false;
  bool free_told_ = false; ///< That nothing keeps this peer here.
  bool exiting_ = false;
};

expert_host_actor::behavior_type
expert_host(expert_host_actor::stateful_pointer<expert_host_state> self,
            expert_host_config config);

} // namespace potluck
