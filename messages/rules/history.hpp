/// What peers MUST show of a run's history.
#pragma once

#include <algorithm>

#include "messages/history.hpp"
#include "messages/limits.hpp"
#include "messages/rules/rules.hpp"

namespace potluck::checks {

inline void check(rules& must, const history_request& x) {
  must.text(x.run, max_run_bytes, "the run's name");
}

inline void check(rules& must, const signed_step& x) {
  must.hold(!x.charter.empty() && !x.before.empty() && !x.after.empty(),
            "a signed step lacks a digest");
  must.hold(x.step > 0 && x.step <= max_step, "a signed step is none");
  must.hold(x.history_samples <= max_history_samples,
            "the history is too long");
  must.hold(x.samples <= max_group_samples, "there are too many samples");
  must.hold(!x.makers.empty(), "nobody made the step");
  must.hold(x.makers.size() <= max_members, "too many made the step");
  for (const auto& maker : x.makers) {
    must.hold(!maker.id.empty(), "one of those that made the step is missing");
    must.hold(maker.samples > 0 && maker.samples <= max_samples,
              "one of those that made the step has no samples or too many");
  }
  must.hold(std::adjacent_find(
                x.makers.begin(), x.makers.end(),
                [](const auto& a, const auto& b) { return !(a.id < b.id); })
                == x.makers.end(),
            "those that made the step are in no order");
}

inline void check(rules& must, const history_reply& x) {
  must.text(x.run, max_run_bytes, "the run's name");
  must.hold(x.steps.size() <= max_shown_steps, "too many steps are shown");
  for (const auto& step : x.steps)
    check(must, step);
  must.hold(std::adjacent_find(
                x.steps.begin(), x.steps.end(),
                [](const auto& a, const auto& b) { return a.step >= b.step; })
                == x.steps.end(),
            "the steps are in no order");
}

} // namespace potluck::checks
