/// What compute's worker threads touch, and nobody else: the model, the
/// optimizer, gradients. Private to compute.cpp.
#pragma once

#include <algorithm>

#include "actors/compute.hpp"
#include "runtime/averaging/value_pool.hpp"
#include "runtime/vector_loops.hpp"

namespace potluck {

struct compute_state::workshop {
  compute_config config;
  bool delayed = false;   ///< The run's updates.
  bool remembers = false; ///< The run's packing (`state_vault::memory`).
  std::unique_ptr<trainer> model;
  std::unique_ptr<optimizer> optimize;
  std::uint64_t tenancy = 0; ///< Our number in the vault, from the first job.

  // The first thread's.
  std::shared_ptr<std::vector<float>> gradient;
  std::shared_ptr<std::vector<float>> aside; ///< Null: nothing was set aside.

  /// Where gradients and copies of parameters come from, and back to.
  std::optional<value_pool> room;

  // What both threads touch, if there are two.
  std::mutex desk;
  /// What batches read: those of a step that was the newest a moment ago.
  std::shared_ptr<const std::vector<float>> parameters;
  std::uint64_t parameters_step = 0;
  std::shared_ptr<std::vector<float>> empty; ///< For the next gradient.

  training_state& state() {
    return *config.vault->state;
  }

  /// With the vault: lets its memory do something, if there is one.
  template <class Deed>
  void remember(Deed deed) {
    auto& memory = config.vault->memory;
    if (!memory)
      return;
    deed(*memory);
    state().residual = memory->residual();
  }

  std::shared_ptr<std::vector<float>> zeros() {
    auto result = room->take(model->layout().values());
    std::fill(result->begin(), result->end(), 0.0f);
    return result;
  }

  /// The gradient, ours alone: a round may still be sending the old one.
  static std::vector<float>&
  alone(std::shared_ptr<std::vector<float>>& gradient) {
    if (gradient.use_count() > 1)
      gradient = std::make_shared<std::vector<float>>(*gradient);
    return *gradient;
  }

  void clear_gradient() {
    aside.reset();
    if (gradient && gradient.use_count() == 1)
      std::fill(gradient->begin(), gradient->end(), 0.0f);
    else
      gradient = zeros();
  }

  void set_aside() {
    aside = std::move(gradient);
    {
      std::lock_guard<std::mutex> guard{desk};
      gradient = std::move(empty);
    }
    if (!gradient)
      gradient = zeros();
  }

  void take_back(bool with_newer) {
    if (!aside)
      return;
    auto newer = std::exchange(gradient, std::move(aside));
    if (with_newer)
      add_to(alone(gradient).data(), newer->data(), newer->size());
  }

  /// With the vault: batches that begin from here on see the present state.
  void show_parameters() {
    if (!delayed)
      return;
    const auto& present = state().parameters;
    auto copy = room->take(present.size());
    std::copy(present.begin(), present.end(), copy->begin());
    std::lock_guard<std::mutex> guard{desk};
    parameters = std::move(copy);
    parameters_step = state().step;
  }

  /// Makes room for the gradient of the step after the next.
  void clean_up() {
    auto next = zeros();
    std::lock_guard<std::mutex> guard{desk};
    empty = std::move(next);
  }

  batch_result compute(const compute_batch& x,
                       const std::atomic<bool>& cancelled) {
    if (!delayed)
      return x.step == state().step
                 ? model->accumulate(x.request, state().parameters.data(),
                                     alone(gradient).data(), cancelled)
                 : batch_result{};
    std::unique_lock<std::mutex> lock{desk};
    auto here = parameters;
    // The step may have been made since the batch was asked for.
    auto known = x.step == parameters_step || x.step + 1 == parameters_step;
    lock.unlock();
    return known ? model->accumulate(x.request, here->data(),
                                     alone(gradient).data(), cancelled)
                 : batch_result{};
  }

  state_changed describe() const {
    const auto& s = *config.vault->state;
    state_changed x;
    x.step = s.step;
    x.history_samples = s.history_samples;
    x.state = s.recent.front();
    x.gradient_values = s.parameters.size();
    x.usual_request = model->usual_request();
    return x;
  }
};

} // namespace potluck
