/// One handle of the C interface: from its options and tensors to a peer, and
/// to its end.
///
/// May be used by all threads at once; functions that wait hold nothing. What
/// cannot be is a `complaint`.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/experts/expert_client.hpp"
#include "runtime/state/layout_text.hpp"
#include "tools/library/complaint.hpp"
#include "tools/library/expert_desk.hpp"
#include "tools/library/first_state.hpp"
#include "tools/library/glance.hpp"
#include "tools/library/hosted_peer.hpp"
#include "tools/library/learnt.hpp"
#include "tools/library/loop_identity.hpp"
#include "tools/library/loop_options.hpp"
#include "tools/library/loop_tensors.hpp"

namespace potluck::library {

class session {
public:
  session() = default;
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  // ---- before it is opened -------------------------------------------------

  void set(const std::string& name, const std::string& value);
  /// @param values Null: zeros.
  void declare(const std::string& name, std::vector<std::int64_t> shape,
               bool decays, const float* values);
  /// @return The invitation.
  std::string create();
  void load(const std::string& path);
  void set_moments(std::uint64_t step, const float* const* first,
                   const float* const* second);
  void open();

  // ---- the loop -------------------------------------------------------------

  int add(tensors<const float> gradients, std::uint64_t samples, double loss,
          duration patience);
  int take(tensors<float> parameters, duration patience);

  /// A layer of the run's experts.
  expert_desk experts_of(unsigned long layer) const;

  // ---- looking --------------------------------------------------------------

  std::string get(const std::string& name) const;
  void look(struct potluck_status& status) const;
  std::optional<std::string> next_event(std::size_t room, duration patience);
  std::string digest() const;
  void save(const std::string& path) const;
  std::uint64_t moments(float* const* first, float* const* second) const;

  // ---- the end --------------------------------------------------------------

  /// @return POTLUCK_OK when the peer is gone.
  int leave(duration patience);
  /// Begins it, and waits for nothing.
  void begin_to_leave();

  void fail_with(const std::string& sentence) {
    learnt_->fail_with(sentence);
  }
  /// Of the last call that failed, or why the peer has ended.
  std::string problem() const;

private:
  void must_be(stage x) const;
  void must_train() const;
  /// `job(state)` while nobody changes it.
  template <class Job>
  void read(Job job) const;
  /// How a call ends when the run is over. Throws `complaint` where that came
  /// by a problem.
  int over() const;
  void copy_last(const tensors<float>& parameters);
  std::optional<charter> agreed() const {
    return learnt_->agreed();
  }
  /// The run as this loop would found it.
  run_settings proposed();
  /// Makes the peer one that trains the tensors declared.
  void take_part(peer_config& config, const run_settings& settings);
  /// Whether the handle is for calls of experts alone.
  bool only_calls() const {
    return first_.layout().values() == 0 && options_.calls_experts();
  }
  loop_tensors values() const {
    return {first_.layout(), threads_};
  }

  mutable std::mutex mutex_; ///< Of what is set before it is opened.
  stage at_ = stage::closed;
  loop_options options_;
  first_state first_;
  loop_identity identity_;
  unsigned threads_ = 1;
  std::unique_ptr<hosted_peer> peer_;
  std::shared_ptr<expert_client> experts_; ///< Null before it is opened.
  std::shared_ptr<expert_memory> known_experts_
      = std::make_shared<expert_memory>();

  std::shared_ptr<news> heard_ = std::make_shared<news>();
  std::shared_ptr<meeting> with_ = std::make_shared<meeting>();
  std::shared_ptr<state_vault> vault_ = std::make_shared<state_vault>();

  std::shared_ptr<learnt> learnt_ = std::make_shared<learnt>();
};

} // namespace potluck::library
