/// The admission keeper: gets this peer admitted to its run, keeps it so, and
/// vouches for others while the run's authority is away.
///
/// Thin: `admission_course` decides whom to ask and when, `admission_gate` what
/// an admission is worth (runtime/admission).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "actors/handles.hpp"
#include "actors/worker.hpp"
#include "runtime/admission/admission_claim.hpp"
#include "runtime/admission/admission_course.hpp"
#include "runtime/admission/admission_gate.hpp"
#include "runtime/admission/kept_admission.hpp"
#include "runtime/dht/swarm_clock.hpp"
#include "runtime/ports/disk.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Between two looks at this peer's own admission.
constexpr auto admission_interval = 250ms;
/// Between two vouchers for one peer.
constexpr duration voucher_pause = 10s;

} // namespace potluck::limits

namespace potluck {

/// What a peer has to show for itself.
struct admission_papers {
  contact authority;     ///< Of the invitation; empty: the charter names it.
  admission_claim claim; ///< Without `last`.
  kept_admission kept;   ///< Of an earlier start.
  std::string path = {}; ///< Where it is kept for the next; empty: nowhere.
  potluck::disk* where = nullptr; ///< Null: this machine's.
};

struct admission_keeper_config {
  peer_id self;
  std::string run; ///< Its key.
  admission_papers papers;
  std::shared_ptr<admission_gate> gate;
  shared_signatures signs; ///< Null: it vouches for nobody.
  bool known = false;      ///< What holds in the run; for a successor.
  worker_mode mode = worker_mode::threaded;
};

class admission_keeper_state {
public:
  void init(admission_keeper_actor::pointer self,
            admission_keeper_config config);

  void on(const admission_handles& w);
  void on(const letter& x);
  void on(const peer_joined& x);
  void on(const peer_left& x);
  void on(const records_looked_up& x);
  void on(const charter_agreed& x);
  void on(const tick&);

private:
  time_point now() const {
    return self_->clock().now();
  }
  admission_course::standing standing() const;
  /// Shows from here on what was kept, if it counts for longer.
  void take_if_longer(const std::string& kept);
  void look();
  /// Ends the peer if the authority does not admit it, and the run needs that.
  void heed_refusal();
  void carry_out(const admission_course::dial& x);
  void carry_out(const admission_course::look_up& x);
  void carry_out(const admission_course::ask& x);
  void carry_out(const admission_course::say& x);
  void read(const peer_id& from, const admission_request& x);
  void read(const peer_id& from, const admission_reply& x);
  void accept(const peer_id& from, const std::string& bytes);
  /// Why no voucher is given; empty: it is in `out`.
  std::string vouch(const peer_id& whom, const std::string& claim,
                    std::string& out);
  void keep();
  void fault(const peer_id& who, const char* what, const std::string& detail);

  admission_keeper_actor::pointer self_ = nullptr;
  admission_keeper_config config_;
  admission_handles wired_;
  std::optional<admission_course> course_;
  swarm_clock swarm_;
  std::string seen_host_;                 ///< This machine's, as others see it.
  std::map<peer_id, time_point> vouched_; ///< For whom, and when last.
  std::set<peer_id> faulty_;              ///< Whose nonsense was told of.
  std::string refusal_;     ///< The authority's last sentence; empty: none.
  time_point refused_at_{}; ///< First.
  /// The charter, and what the organiser has said since.
  bool known_ = false;
  peer_id admitted_by_; ///< As people were told last.
  std::unique_ptr<worker> thread_;
};

admission_keeper_actor::behavior_type admission_keeper(
    admission_keeper_actor::stateful_pointer<admission_keeper_state> self,
    admission_keeper_config config);

} // namespace potluck
