#include "runtime/organiser/run_terms.hpp"

#include <algorithm>

#include "runtime/optimizer/schedules/schedule.hpp"
#include "runtime/state/little_endian.hpp"

namespace potluck {

namespace {

/// Whether it changes what a step's arithmetic is.
bool shapes(const run_change& x) {
  return std::holds_alternative<new_steps>(x)
         || std::holds_alternative<new_rate_tail>(x);
}

} // namespace

run_terms::run_terms(const run_settings& settings, std::vector<amendment> all)
    : settings_(settings), all_(std::move(all)) {
  for (const auto& x : all_) {
    if (shapes(x.change))
      bend(x);
    if (auto bans = std::get_if<new_bans>(&x.change)) {
      for (const auto& id : bans->who)
        banned_.erase(id);
      if (!bans->lifted)
        banned_.insert(bans->who.begin(), bans->who.end());
    }
    if (auto admission = std::get_if<new_admission>(&x.change))
      admission_ = admission->mode;
    // Where all hold one state it has a name.
    if (auto back = std::get_if<roll_back>(&x.change);
        back && back->state.empty() == settings_.redraws_groups())
      rolled_back_ = turn{x.number, *back};
  }
}

void run_terms::bend(const amendment& x) {
  // During the warm-up nothing changes: what falls begins at the peak.
  piece y;
  y.from = std::max(x.from, settings_.warmup_steps + 1);
  y.steps = pieces_.empty() ? settings_.steps : pieces_.back().steps;
  const auto end = y.steps;
  if (auto steps = std::get_if<new_steps>(&x.change))
    y.steps = steps->steps;
  if (y.from == settings_.warmup_steps + 1) {
    y.rate = settings_.learning_rate;
  } else if (y.from > end) {
    // The run was over, and the rate at its end: it is what a run of so many
    // steps has here.
    auto longer = settings_;
    longer.steps = y.steps;
    y.rate = learning_rate_at(longer, y.from - 1);
  } else {
    y.rate = rate(y.from - 1);
  }
  y.tail = 0;
  for (const auto& z : all_)
    if (auto wanted = std::get_if<new_rate_tail>(&z.change);
        wanted && z.number <= x.number)
      y.tail = wanted->length;
  pieces_.push_back(y);
}

std::uint64_t run_terms::steps(std::uint64_t held) const {
  auto result = settings_.steps;
  for (const auto& x : all_) {
    if (x.from > held + 1)
      continue;
    if (auto steps = std::get_if<new_steps>(&x.change))
      result = steps->steps;
    else if (std::holds_alternative<finish_run>(x.change))
      result = x.from;
  }
  return result;
}

double run_terms::rate(std::uint64_t step) const {
  const auto holds = std::find_if(pieces_.rbegin(), pieces_.rend(),
                                  [&](auto& x) { return x.from <= step; });
  if (holds == pieces_.rend())
    return learning_rate_at(settings_, step);
  const auto& x = *holds;
  if (step > x.steps)
    return 0;
  const auto& own = schedule_of(settings_);
  if (x.tail == 0)
    return own.rate(x.rate, x.from - 1, x.steps, step);
  // A tail that was asked for has an end.
  const auto& falls = own.ends_at_zero ? own : linear_schedule();
  const auto begin = std::max(x.from - 1, x.steps - std::min(x.steps, x.tail));
  return step <= begin ? x.rate : falls.rate(x.rate, begin, x.steps, step);
}

bool run_terms::paused(std::uint64_t held) const {
  bool result = false;
  bool last_word = false;
  for (const auto& x : all_) {
    const bool pause = std::holds_alternative<pause_run>(x.change);
    if (pause || std::holds_alternative<resume_run>(x.change)) {
      last_word = pause;
      if (x.from <= held + 1)
        result = pause;
    } else if (std::holds_alternative<roll_back>(x.change)) {
      result = last_word; // The step from which it held lies ahead again.
    }
  }
  return result;
}

digest run_terms::shape(std::uint64_t step) const {
  std::string bytes;
  for (const auto& x : all_)
    if (x.from <= step && shapes(x.change)) {
      append_little_endian(bytes, x.number);
      append_little_endian(bytes, x.from);
      append_little_endian(bytes, static_cast<std::uint8_t>(x.change.index()));
      auto steps = std::get_if<new_steps>(&x.change);
      auto tail = std::get_if<new_rate_tail>(&x.change);
      append_little_endian(bytes, steps ? steps->steps : tail->length);
    }
  return bytes.empty() ? digest{} : digest_of(bytes.data(), bytes.size());
}

} // namespace potluck
