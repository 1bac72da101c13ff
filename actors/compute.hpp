/// Compute: in front of the thread that holds the model.
///
/// Gradients and optimizer steps are jobs on one worker thread, done in the
/// order in which they were asked for. What a job yields goes to whoever waits
/// for it. Where updates are delayed, a second thread takes optimizer steps
/// while batches go on, which read a copy of the parameters; the newest is
/// taken at the beginning of a batch. Who asks for the training state gets the
/// one that training goes on from; it is copied when the next step comes while
/// somebody still reads it. A trainer that throws ends this actor; the
/// supervisor starts another, which finds the training state in the vault.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "actors/handles.hpp"
#include "actors/worker.hpp"
#include "runtime/clock.hpp"
#include "runtime/optimizer/optimizer.hpp"
#include "runtime/safeguards.hpp"

namespace potluck {

/// The training state of a peer, which outlives a restart of its actors.
/// Touched by worker threads only, one at a time. A compute that was replaced
/// may still be at its last job when its successor starts: then it is too late,
/// and leaves everything as it is.
struct state_vault {
  std::mutex busy;                       ///< Held by the job that runs.
  std::uint64_t tenant = 0;              ///< Number of the newest compute.
  std::shared_ptr<training_state> state; ///< Null before the first.
};

struct compute_config {
  charter agreed;
  trainer_factory make_trainer;
  std::shared_ptr<state_vault> vault;
  worker_mode mode = worker_mode::threaded;
  int niceness = 5;
  unsigned threads = 1; ///< Of the optimizer step.
  /// In simulations: how long so many samples take on the actor's clock. Null:
  /// as long as they take.
  std::function<duration(std::uint32_t samples)> batch_time;
  /// In simulations: gets each state that this peer comes to hold, on the
  /// worker's thread. Null: nobody does.
  std::function<void(const training_state&, bool redrawn)> state_shown;
  /// Which checks are made: all, but in a simulation that proves something.
  safeguard_set guards;
};

class compute_state {
public:
  ~compute_state();
  void init(compute_actor::pointer self, compute_config config);

  void on(const compute_handles& w);
  void on(const compute_batch& x);
  void on(const batch_done& x);
  void on(const lend_gradient& x);
  void on(const drop_gradient& x);
  void on(const set_gradient_aside&);
  void on(const take_gradient_back& x);
  void on(const apply_mean& x);
  void on(const adopt_state& x);
  void on(const add_gradient& x);
  void on(const take_snapshot&);
  void on(const terms_known& x);
  void on(const state_changed& x);
  void on(const work_failed& x);

private:
  void tell(const state_changed& x);

  /// What only the worker threads touch.
  struct workshop;

  /// `job(workshop, outbox)`; what it throws ends this actor. With the vault it
  /// is done only while this is the newest compute, and no other job has it.
  template <class Job>
  std::function<void()> make(Job job, bool with_vault);
  /// Runs it on the worker thread, behind those that were posted before.
  template <class Job>
  void post(Job job, bool with_vault = true, bool is_batch = false);
  /// Runs it on the second thread, if there is one; with the vault.
  template <class Job>
  void post_beside(Job job);
  void hand_to_worker(std::function<void()> job, bool is_batch);

  compute_actor::pointer self_ = nullptr;
  std::function<duration(std::uint32_t)> batch_time_;
  /// In simulations a batch takes its time: until then, nothing else is done.
  bool batch_lasts_ = false;
  std::deque<std::pair<std::function<void()>, bool>> waiting_;
  compute_handles wired_;
  std::optional<state_changed> last_state_;
  std::shared_ptr<std::atomic<bool>> cancelled_
      = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<workshop> workshop_;
  std::unique_ptr<worker> thread_;
  std::unique_ptr<worker> second_thread_; ///< Where updates are delayed.
};

compute_actor::behavior_type
compute(compute_actor::stateful_pointer<compute_state> self,
        compute_config config);

} // namespace potluck
