// Manners of strangers that lie about training states, and ask for such that
// nobody has.

#include <algorithm>
#include <map>

#include "runtime/history/signed_steps.hpp"
#include "runtime/state/state_snapshot.hpp"
#include "runtime/state/training_state.hpp"
#include "tools/lab/sim/strangers/manner.hpp"

namespace potluck::simulation {

namespace {

using line = stranger::line;

/// As much longer as the history of the checkpoint that took runs over.
constexpr std::uint64_t more_samples = 1'000'000'000;
/// Not beyond the last step of a run: nothing behind that is fetched.
constexpr std::uint64_t more_steps = 20;

class long_history : public manner {
public:
  void opened(stranger& me, line& on) override {
    claim(me, on);
  }

  void tries(stranger& me) override {
    auto on = me.any_line();
    if (!on || !known(me))
      return;
    claim(me, *on);
    me.say(*on, store_records{me.chance().next(),
                              {me.record_of(claimed(me, on->self),
                                            me.key_of(on->self))}});
  }

  /// Every other one of its keys serves what it claims to have.
  void heard(stranger& me, line& on, const message& what,
             const incoming_frame&) override {
    if (auto question = std::get_if<history_request>(&what); question && state_)
      me.say(on, history_reply{question->token, question->run, {shown(me)}});
    if (!state_ || on.self % 2 == 1)
      return;
    if (auto request = std::get_if<state_request>(&what)) {
      auto manifest = state_->manifest(request->token);
      manifest.available = true;
      me.say(on, manifest);
    } else if (auto piece = std::get_if<piece_request>(&what)) {
      me.say(on, state_piece{state_->digest(), piece->piece, false},
             state_->piece(piece->piece));
    }
  }

private:
  static bool known(const stranger& me) {
    return !me.heard().reports().empty();
  }

  /// Parameters of chance, with everything that a real state has.
  void make_state(stranger& me) {
    const auto best = me.report_of({}, {});
    auto x = std::make_shared<training_state>();
    x->step = best.step + more_steps;
    x->history_samples = best.history_samples + more_samples;
    x->parameters.resize(me.config().model_values);
    for (auto& v : x->parameters)
      v = static_cast<float>(me.chance().uniform01()) * 100.0f;
    x->first_moment.resize(me.config().model_values);
    x->second_moment.resize(me.config().model_values);
    remember_digest(*x);
    state_.emplace(std::move(x));
  }

  progress_report claimed(stranger& me, std::size_t self) {
    auto x = me.report_of(me.id_of(self), me.where(self));
    x.step = state_->state().step;
    x.history_samples = state_->state().history_samples;
    x.state = state_->digest();
    x.phase = phase::accumulating;
    return x;
  }

  /// All of its keys have made the step that leads there, as they say.
  signed_step shown(stranger& me) {
    const auto& state = state_->state();
    signed_step x{me.heard().charter(),
                  state.step,
                  state.history_samples,
                  64,
                  state_->digest(),
                  state_->digest(),
                  {}};
    std::map<peer_id, std::size_t> keys;
    for (std::size_t self = 0; self + 1 < me.selves(); ++self)
      keys[me.id_of(self)] = self;
    for (const auto& key : keys)
      x.makers.push_back({key.first, 64 / keys.size() + 1, {}});
    for (auto& maker : x.makers)
      maker.by = sign(x, *me.key_of(keys.at(maker.id)));
    return x;
  }

  void claim(stranger& me, line& on) {
    if (!known(me))
      return;
    if (!state_)
      make_state(me);
    me.say(on, claimed(me, on.self));
  }

  std::optional<state_snapshot> state_;
};

class far_step : public manner {
public:
  void tries(stranger& me) override {
    // The same again and again: a joiner that still lives keeps its place.
    if (auto on = me.any_line())
      me.say(*on, state_request{on->id, absurd_step, {}, false, false});
  }
};

} // namespace

manner_makers false_states() {
  return {{"long_history", make<long_history>}, {"far_step", make<far_step>}};
}

} // namespace potluck::simulation
