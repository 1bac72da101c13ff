/// What compute's worker threads touch, and nobody else: the model, the
/// optimizer, gradients. Private to compute.cpp.
#pragma once

#include <algorithm>
#include <utility>

#include "actors/compute.hpp"
#include "runtime/averaging/value_pool.hpp"
#include "runtime/optimizer/schedules/schedule.hpp"
#include "runtime/state/state_copy.hpp"
#include "runtime/vector_loops.hpp"
#include "runtime/ways/moshpit/moshpit_vector.hpp"

namespace potluck {

struct compute_state::workshop {
  compute_config config;
  bool delayed = false; ///< The run's updates.
  bool redrawn = false; ///< The last step's group (runtime/ways/moshpit).
  /// With the vault: what it holds is not the run's, and nobody is told of it.
  bool lacks_state = false;
  std::unique_ptr<trainer> model;
  std::unique_ptr<optimizer> optimize;
  std::uint64_t tenancy = 0; ///< Our number in the vault, from the first job.

  shared_terms terms; ///< With the vault. Null: the charter's.

  // The first thread's.
  std::shared_ptr<std::vector<float>> gradient;
  std::shared_ptr<std::vector<float>> aside; ///< Null: nothing was set aside.
  digest averaged;   ///< Of the last mean parameters taken, in a redrawn group.
  bool kept = false; ///< The trainer may keep a part of the gradient.
  bool blank = true; ///< The gradient is zero, but not written yet.

  /// Where gradients and copies of parameters come from, and back to.
  std::optional<value_pool> room;

  // What both threads touch, if there are two.
  std::mutex desk;
  /// What batches read, where updates are delayed: those of a step that was the
  /// newest a moment ago.
  std::shared_ptr<const std::vector<float>> parameters;
  std::uint64_t parameters_step = 0;
  digest parameters_state;
  std::shared_ptr<std::vector<float>> empty; ///< For the next gradient.

  training_state& state() {
    return *config.vault->state;
  }

  /// With the vault: the same for whoever changes it, ours alone. Copies that
  /// were asked for are the state itself until then.
  training_state& changed_state() {
    auto& held = config.vault->state;
    if (held.use_count() > 1)
      held = copy_of(*held, config.threads);
    return *held;
  }

  std::shared_ptr<std::vector<float>> vector() {
    return room->take(model->layout().values());
  }

  /// The gradient, ours alone: a round may still be sending the old one.
  static std::vector<float>&
  alone(std::shared_ptr<std::vector<float>>& gradient) {
    if (gradient.use_count() > 1)
      gradient = std::make_shared<std::vector<float>>(*gradient);
    return *gradient;
  }

  /// The gradient as it is written, for whoever adds to it.
  std::vector<float>& written() {
    if (std::exchange(blank, false))
      std::fill(gradient->begin(), gradient->end(), 0.0f);
    return alone(gradient);
  }

  /// The gradient, with what the trainer has kept of it.
  const std::shared_ptr<std::vector<float>>& whole() {
    if (std::exchange(kept, false))
      model->collect(written().data());
    if (blank)
      written();
    return gradient;
  }

  void drop_kept() {
    if (std::exchange(kept, false))
      model->drop();
  }

  /// A gradient over `computed` samples, of which fewer count.
  std::shared_ptr<const std::vector<float>>
  weighed(const std::vector<float>& sum, std::uint64_t samples,
          std::uint64_t computed) {
    auto result = room->take(sum.size());
    std::copy(sum.begin(), sum.end(), result->begin());
    scale(result->data(), result->size(),
          static_cast<float>(static_cast<double>(samples)
                             / static_cast<double>(computed)));
    return result;
  }

  /// With the vault: what a round of redrawn groups averages of this peer.
  std::shared_ptr<const std::vector<float>>
  with_parameters(const std::vector<float>& sum, std::uint64_t samples) {
    const auto& present = state().parameters;
    auto result = room->take(moshpit_values(present.size()));
    std::copy(sum.begin(), sum.end(), result->begin());
    weigh_parameters(result->data() + sum.size(), present.data(),
                     present.size(), samples);
    return result;
  }

  /// With the vault: the step begins with the group's mean parameters.
  void take_parameters(const std::vector<float>& mean) {
    auto& present = state().parameters;
    const auto* theirs = mean.data() + present.size();
    averaged = digest_of(theirs, present.size() * sizeof(float));
    if (config.guards.has(safeguard::mean_parameters))
      std::copy_n(theirs, present.size(), present.data());
  }

  void clear_gradient() {
    aside.reset();
    drop_kept();
    begin_gradient();
  }

  /// @pre Nothing that counts is in it.
  void begin_gradient() {
    if (!gradient || gradient.use_count() > 1)
      gradient = vector();
    blank = true;
  }

  void set_aside() {
    whole();
    aside = std::move(gradient);
    {
      std::lock_guard<std::mutex> guard{desk};
      gradient = std::move(empty);
    }
    begin_gradient();
  }

  void take_back(bool with_newer) {
    if (!aside)
      return;
    const auto newer = std::exchange(gradient, std::move(aside));
    const bool nothing = std::exchange(blank, false);
    if (!with_newer)
      drop_kept();
    else if (!nothing)
      add_to(alone(gradient).data(), newer->data(), newer->size());
  }

  double rate(std::uint64_t step) const {
    return terms ? terms->rate(step)
                 : learning_rate_at(config.agreed.settings(), step);
  }

  /// With the vault: takes the optimizer step. @returns why not; empty: done.
  std::string apply(const apply_mean& x) {
    const auto count = state().parameters.size();
    if (x.step != state().step + 1
        || x.mean->size() != (x.redrawn ? moshpit_values(count) : count))
      return "the mean is for another step";
    auto& s = changed_state();
    // Of the group's parameters nothing may be left where its gradient is
    // refused.
    auto own = x.redrawn ? s.parameters : std::vector<float>{};
    if (x.redrawn && !all_finite(x.mean->data() + count, count))
      return "the mean of the parameters is not finite";
    if (x.redrawn)
      take_parameters(*x.mean);
    state_digests digests;
    if (optimize->apply(vectors_in(s), x.mean->data(), s.step + 1,
                        rate(s.step + 1), &digests)
        != optimizer::verdict::applied) {
      if (x.redrawn)
        s.parameters = std::move(own);
      return "the mean gradient is not finite";
    }
    ++s.step;
    redrawn = x.redrawn;
    // Groups count what they have; a step of the run is the target batch.
    s.history_samples
        += x.redrawn ? config.agreed.settings().target_batch : x.samples;
    remember_digest(s, digests);
    return {};
  }

  /// With the vault: in simulations.
  void show_state() const {
    if (config.state_shown)
      config.state_shown(*config.vault->state, redrawn);
  }

  /// With the vault: batches that begin from here on see the present state.
  void show_parameters() {
    std::shared_ptr<std::vector<float>> copy;
    if (delayed) {
      const auto& present = state().parameters;
      copy = room->take(present.size());
      std::copy(present.begin(), present.end(), copy->begin());
    }
    std::lock_guard<std::mutex> guard{desk};
    parameters = std::move(copy);
    parameters_step = state().step;
    parameters_state = state().recent.front();
  }

  /// Makes room for the gradient of the step after the next.
  void clean_up() {
    auto next = vector();
    std::lock_guard<std::mutex> guard{desk};
    empty = std::move(next);
  }

  batch_result compute(const compute_batch& x,
                       const std::atomic<bool>& cancelled) {
    auto request = x.request;
    std::unique_lock<std::mutex> lock{desk};
    const auto copy = parameters;
    // The step may have been made since the batch was asked for.
    const auto known = x.step == parameters_step
                       || (delayed && x.step + 1 == parameters_step);
    request.step = parameters_step;
    request.state = parameters_state;
    lock.unlock();
    if (!known)
      return {};
    request.begins = blank && model->begins_sums();
    auto& sum = request.begins ? *gradient : written();
    kept = true;
    const auto result = model->accumulate(
        request, (delayed ? *copy : state().parameters).data(), sum.data(),
        cancelled);
    if (result.samples > 0)
      blank = false;
    return result;
  }

  /// Of the first state, and of every other.
  unsigned moments() const {
    return optimize->rule().moments();
  }
  training_state first_state() const {
    return initial_state(model->layout(), config.agreed.settings().seed,
                         moments());
  }
  /// Whether training can go on from it. One of step 0 that was made for
  /// another optimizer, all of whose moments are zero, is made to fit.
  bool fits(training_state& x) const {
    if (x.step == 0)
      set_moments(x, moments());
    const auto values = model->layout().values();
    return x.parameters.size() == values
           && (values == 0 || x.moments() == moments());
  }

  /// With the vault: whether its state is one of the run's, as any but one of
  /// step 0 is taken to be.
  bool holds_the_runs() const {
    const auto first = config.agreed.settings().initial_digest();
    const auto& s = *config.vault->state;
    return first.empty() || s.step > 0 || s.recent.front() == first;
  }

  state_changed describe() const {
    const auto& s = *config.vault->state;
    state_changed x;
    x.step = s.step;
    x.history_samples = s.history_samples;
    if (!lacks_state)
      x.state = s.recent.front();
    x.gradient_values = s.parameters.size();
    x.averaged = averaged;
    x.usual_request = model->usual_request();
    return x;
  }
};

} // namespace potluck
