/// States, means and bounds that tests of downloads share.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/random.hpp"
#include "runtime/state/limits.hpp"
#include "runtime/state/state_donor.hpp"
#include "runtime/state/state_joiner.hpp"

namespace potluck {

inline peer_id id_of(std::size_t number) {
  peer_id x;
  x.bytes[0] = static_cast<std::uint8_t>(number + 1);
  return x;
}

inline training_state state_of(std::uint64_t values, std::uint64_t step) {
  training_state x;
  x.step = step;
  x.parameters.assign(values, 1.0f);
  x.first_moment.assign(values, 0.0f);
  x.second_moment.assign(values, 2.0f);
  remember_digest(x);
  return x;
}

inline std::shared_ptr<std::vector<float>> some_mean(std::uint64_t values,
                                                     std::uint64_t seed) {
  auto mean = std::make_shared<std::vector<float>>(values);
  for (std::uint64_t i = 0; i < values; ++i)
    (*mean)[i] = static_cast<float>(mix(seed, i) % 1000);
  return mean;
}

/// A step, without an optimizer.
inline void lay_on(training_state& state, const std::vector<float>& mean) {
  for (std::size_t i = 0; i < mean.size(); ++i)
    state.parameters[i] += mean[i];
  ++state.step;
  state.history_samples += 64;
  remember_digest(state);
}

/// What a donor or a joiner wants done, until the test does it. That it looks
/// again is not kept: tests do so anyway.
class to_do {
public:
  void note(state_actions xs) {
    for (auto& x : xs)
      if (!std::holds_alternative<look_again>(x))
        actions_.push_back(std::move(x));
  }
  /// All actions of one kind, in their order; each is handed out once.
  template <class Action>
  std::vector<Action> take() {
    std::vector<Action> result;
    state_actions others;
    for (auto& x : actions_)
      if (auto mine = std::get_if<Action>(&x))
        result.push_back(std::move(*mine));
      else
        others.push_back(std::move(x));
    actions_ = std::move(others);
    return result;
  }
  /// The first one of its kind.
  template <class Action>
  std::optional<Action> take_one() {
    for (auto x = actions_.begin(); x != actions_.end(); ++x)
      if (auto mine = std::get_if<Action>(&*x)) {
        auto result = std::move(*mine);
        actions_.erase(x);
        return result;
      }
    return std::nullopt;
  }

private:
  state_actions actions_;
};

/// A donor whose actions wait for the test.
class waiting_donor {
public:
  explicit waiting_donor(state_donor::bounds most) : donor_(most) {
  }
  template <class... Ts>
  void holds(Ts&&... xs) {
    to_do_.note(donor_.holds(std::forward<Ts>(xs)...));
  }
  void passed(passed_mean mean, time_point now) {
    to_do_.note(donor_.passed(std::move(mean), now));
  }
  template <class... Ts>
  void copied(Ts&&... xs) {
    to_do_.note(donor_.copied(std::forward<Ts>(xs)...));
  }
  void expects(coming_mean mean, time_point now) {
    to_do_.note(donor_.expects(std::move(mean), now));
  }
  void placed(const coming_piece& x, time_point now) {
    to_do_.note(donor_.placed(x, now));
  }
  void expects_no_more(time_point now) {
    to_do_.note(donor_.expects_no_more(now));
  }
  template <class Message>
  void read(const peer_id& from, const Message& x, time_point now) {
    to_do_.note(donor_.read(from, x, now));
  }
  void lost(const peer_id& id, time_point now) {
    to_do_.note(donor_.lost(id, now));
  }
  void look(time_point now) {
    to_do_.note(donor_.look(now));
  }

  std::vector<state_letter> take_letters() {
    return to_do_.take<state_letter>();
  }
  bool wants_copy() {
    return !to_do_.take<copy_state>().empty();
  }
  const serving_budget& budget() const {
    return donor_.budget();
  }

private:
  state_donor donor_;
  to_do to_do_;
};

/// A joiner whose actions wait for the test.
class waiting_joiner {
public:
  waiting_joiner(const peer_id& self, state_joiner::bounds most)
      : joiner_(self, most) {
  }
  void begin(const fetch_goal& goal, time_point now, const peer_id& hub = {}) {
    to_do_.note(joiner_.begin(goal, now, hub));
  }
  template <class... Ts>
  void heard(Ts&&... xs) {
    to_do_.note(joiner_.heard(std::forward<Ts>(xs)...));
  }
  void lost(const peer_id& id, time_point now) {
    to_do_.note(joiner_.lost(id, now));
  }
  template <class... Ts>
  void read(Ts&&... xs) {
    to_do_.note(joiner_.read(std::forward<Ts>(xs)...));
  }
  template <class... Ts>
  void applied(Ts&&... xs) {
    to_do_.note(joiner_.applied(std::forward<Ts>(xs)...));
  }
  void look(time_point now) {
    to_do_.note(joiner_.look(now));
  }

  std::vector<state_letter> take_letters() {
    return to_do_.take<state_letter>();
  }
  std::shared_ptr<training_state> take_state() {
    auto job = to_do_.take_one<state_job>();
    return job ? job->state : nullptr;
  }
  template <class Action>
  std::vector<Action> take() {
    return to_do_.take<Action>();
  }
  template <class Action>
  std::optional<Action> take_one() {
    return to_do_.take_one<Action>();
  }
  const state_joiner* operator->() const {
    return &joiner_;
  }

private:
  state_joiner joiner_;
  to_do to_do_;
};

inline state_donor::bounds usual_donor() {
  return {{limits::joiners_served, limits::joiner_bytes_in_flight, 0,
           limits::joiner_silence, limits::listeners_served},
          {limits::means_kept, limits::journal_steps, limits::journal_bytes},
          limits::snapshots_kept};
}

inline state_joiner::bounds usual_joiner() {
  return {{limits::joiner_bytes_in_flight, limits::piece_floor,
           limits::piece_cap, limits::least_bytes_in_flight},
          limits::donors_at_once,
          limits::joiner_mean_bytes,
          limits::joiner_means};
}

} // namespace potluck
