#include "runtime/step/step_outcome.hpp"

#include <algorithm>

#include "runtime/step/step_news.hpp"

namespace potluck {

namespace {

using namespace std::chrono_literals;

/// Between two lines for a person's screen.
constexpr auto status_interval = 250ms;
/// ...and at least so long for each peer that it counts: a sponsor has
/// hundreds.
constexpr auto status_pause_a_peer = 4ms;

} // namespace

void step_outcome::on(const gradient_lent& x) {
  if (!averaging().question())
    return;
  compute([&](auto s) { return work().give(x, s); });
  announce(true);
}

void step_outcome::on(const contribution_ready& x) {
  const auto before = counted().samples;
  compute([&](auto s) { return work().add(x, s, round_.told()); });
  if (counted().samples != before)
    others().gave(x.what->from); // It is counted here now.
}

void step_outcome::on(const peer_left& x) {
  add(others().left(x, own(), now()));
  turn().newcomers().left(x.id, now());
  averaging().lost(x.id);
  if (x.orderly)
    history().parted(x.id);
  end_if_done();
}

void step_outcome::on(const checkpoint_saved& x) {
  others().end().checkpoint_saved(x.step, x.problem);
  out(event{"checkpoint",
            {{"step", x.step}, {"path", x.path}, {"problem", x.problem}}});
  end_if_done();
}

void step_outcome::note_round(const round_over& x) {
  out(round_news(x, !averaging().one_history()));
  for (const auto& id : x.stalled)
    out(fault_news(
        id, "stalled",
        "it did not average its chunks in time; the next plan counts "
        "on it less"));
}

void step_outcome::note_step(const state_changed& x, const digest& before) {
  const auto& round = round_.applied();
  round_.note_outcome(how().self);
  if (round) {
    history().made(round->contract, round->left_out, now());
    sign_step(*round, before);
    if (averaging().one_history()) {
      turn().newcomers().made(how().self, round->contract, round->left_out);
      turn().made(own().state, round->contract, round->left_out);
      others().made(turn().makers(), work().pace().since(now()), now());
      others().tracker().made(round->contract, round->left_out);
    }
  }
  std::chrono::duration<double> took = work().pace().since(now());
  out(step_news(x, round ? &*round : nullptr, round_.last(), took.count(),
                !averaging().one_history()));
  add(others().stepped(now()));
  if (how().checkpoint_every > 0 && x.step % how().checkpoint_every == 0
      && x.step < run().steps)
    save_checkpoint();
  // Nobody could use the mean of another group's step.
  if (round && averaging().one_history())
    out(mean_applied{{x.step, round->samples, x.history_samples, before,
                      x.state, round->mean,
                      others().known().reports().empty()}});
}

void step_outcome::make_end() {
  add(others().last_word());
  out(event{"finished",
            {{"step", own().step},
             {"loss", round_.last().loss},
             {"samples", own().history_samples},
             {"digest", to_string(me().held())}}});
  save_checkpoint();
}

void step_outcome::end_if_done() {
  auto last = trains() ? in() == stage::finished : own().step >= run().steps;
  const auto is_laggard = [this](const progress_report& x) {
    return !history().is_foreign(own(), x, now());
  };
  if (!last || !others().lets_go(own(), is_laggard, now()))
    return;
  out(status(round_.last()));
  out(peer_over{others().end().unsaved()});
}

bool step_outcome::ends_elsewhere(const way::reports& partners) {
  // Groups that make their steps apart make the last one apart, too.
  return averaging().one_history() && own().step < run().steps
         && others().end().outnumbers(partners.size() + 1);
}

void step_outcome::give_up_if_too_late() {
  auto outnumbered = in() == stage::accumulating && trains() && me().averages()
                     && !own().state.empty()
                     && ends_elsewhere(averaging().partners(at()));
  if (others().end().too_late(outnumbered, now()))
    out(peer_over{finishing::cut_off(own().step, run().steps)});
}

void step_outcome::show_status() {
  if (!how().shows_status || now() < next_status_)
    return;
  auto pause = others().known().reports().size() * status_pause_a_peer;
  next_status_ = now() + std::max<duration>(status_interval, pause);
  out(status(round_.last()));
}

} // namespace potluck
