/// One hosted expert: in front of its module on the host's device.
///
/// Making, calling, saving and loading the module are jobs on the device's
/// thread, in the order in which they were asked for. A module that throws ends
/// this actor, and nothing but this actor; the host starts another, which finds
/// on the shelf what was saved last.
#pragma once

#include <atomic>
#include <memory>

#include "actors/interfaces.hpp"
#include "actors/worker.hpp"
#include "runtime/experts/call_desk.hpp"
#include "runtime/experts/expert_shelf.hpp"
#include "runtime/ports/expert_module.hpp"

namespace potluck {

/// Expert to host: it can be called.
struct expert_made {
  std::string uid;
  expert_shape shape;
  std::uint64_t updates = 0;
  std::uint32_t term = 1;
};
/// Host to expert: compute these calls as one.
struct run_batch {
  call_desk::job what;
};
/// Expert to host.
struct batch_computed {
  std::string uid;
  call_desk::result what;
  std::uint64_t updates = 0; ///< Behind it.
  bool lasted = false;       ///< The host's note to itself, in simulations.
};
/// Host to expert: put your state on the shelf.
struct save_expert {};
/// Expert to host.
struct expert_saved {
  std::string uid;
  std::uint64_t updates = 0; ///< As saved.
  std::string problem;       ///< Not empty: what was there stays.
};

using expert_actor
    = caf::typed_actor<caf::reacts_to<run_batch>, caf::reacts_to<save_expert>,
                       caf::reacts_to<work_failed>>;

/// Hears of experts.
using expert_listener = caf::typed_actor<caf::reacts_to<expert_made>,
                                         caf::reacts_to<batch_computed>,
                                         caf::reacts_to<expert_saved>>;

struct expert_config {
  std::string uid;
  expert_kind kind;
  std::uint64_t seed = 0;
  expert_factory make;
  std::shared_ptr<expert_shelf> shelf;
  std::shared_ptr<worker> device;
  expert_listener host;
  std::uint64_t save_every = 0; ///< Updates; not zero.
};

class expert_state {
public:
  ~expert_state();
  void init(expert_actor::pointer self, expert_config config);

  void on(const run_batch& x);
  void on(const save_expert&);
  void on(const work_failed& x);

private:
  /// What only the device's thread touches.
  struct workshop;

  template <class Job>
  void post(Job job);

  expert_actor::pointer self_ = nullptr;
  std::shared_ptr<worker> device_;
  std::shared_ptr<workshop> workshop_;
  std::shared_ptr<std::atomic<bool>> ended_
      = std::make_shared<std::atomic<bool>>(false);
};

expert_actor::behavior_type
expert(expert_actor::stateful_pointer<expert_state> self, expert_config config);

} // namespace potluck

POTLUCK_LOCAL_MESSAGE(expert_made)
POTLUCK_LOCAL_MESSAGE(run_batch)
POTLUCK_LOCAL_MESSAGE(batch_computed)
POTLUCK_LOCAL_MESSAGE(save_expert)
POTLUCK_LOCAL_MESSAGE(expert_saved)
