#include "tools/library/glance.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/optimizer/schedules/schedule.hpp"

namespace potluck::library {

namespace {

/// Copies to a field of the status what has room there.
template <std::size_t Size>
void put(char (&field)[Size], const std::string& text) {
  const auto length = std::min(text.size(), Size - 1);
  std::memcpy(field, text.data(), length);
  field[length] = '\0';
}

} // namespace

std::string glance::phase() const {
  if (at == stage::closed)
    return "closed";
  if (!heard.problem.empty())
    return "failed";
  if (heard.finished)
    return "finished";
  if (at != stage::open || heard.closed)
    return "left";
  if (only_calls)
    return "calling";
  if (heard.last.phase == potluck::phase::founding)
    return "joining";
  return to_string(heard.last.phase);
}

void glance::fill(struct potluck_status& x) const {
  const auto& last = heard.last;
  x.step = last.step;
  x.steps = last.steps;
  x.peers = at == stage::open ? std::max(1u, last.peers) : 0;
  x.samples = last.samples;
  x.target = run ? run->settings().target_batch : 0;
  x.own = figures.samples;
  x.stale = figures.stale;
  x.taken = figures.taken;
  x.loss = last.loss;
  x.rate = last.samples_per_second;
  x.share = last.own_share;
  x.learning_rate
      = run ? learning_rate_at(run->settings(), figures.taken + 1) : 0;
  x.progress = figures.has_parameters ? 1 : heard.progress;
  put(x.phase, phase());
  put(x.trouble, heard.problem.empty() ? last.trouble : heard.problem);
}

} // namespace potluck::library
