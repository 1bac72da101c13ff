#include "runtime/step/stages.hpp"

#include <algorithm>
#include <iterator>

namespace potluck {

namespace {

struct transition {
  stage from;
  cause why;
  stage to;
};

constexpr transition transitions[] = {
    {stage::starting, cause::state_shown, stage::accumulating},
    {stage::starting, cause::last_state, stage::finished},
    // The mean of a round that a predecessor of this machine was in.
    {stage::starting, cause::committed, stage::applying},
    // Its first state is its founder's, and this peer has another one.
    {stage::starting, cause::behind, stage::fetching},
    {stage::fetching, cause::none_held, stage::starting},

    {stage::accumulating, cause::group_asked, stage::frozen},
    {stage::accumulating, cause::behind, stage::fetching},
    {stage::accumulating, cause::committed, stage::applying},
    {stage::accumulating, cause::state_shown, stage::accumulating},
    {stage::accumulating, cause::last_state, stage::finished},

    {stage::frozen, cause::group_asked, stage::frozen},
    {stage::frozen, cause::formed, stage::averaging},
    {stage::frozen, cause::came_apart, stage::accumulating},
    {stage::frozen, cause::committed, stage::applying},
    {stage::frozen, cause::state_shown, stage::accumulating},
    {stage::frozen, cause::last_state, stage::finished},

    {stage::averaging, cause::aborted, stage::accumulating},
    {stage::averaging, cause::committed, stage::applying},
    {stage::averaging, cause::state_shown, stage::accumulating},
    {stage::averaging, cause::last_state, stage::finished},

    {stage::applying, cause::state_shown, stage::accumulating},
    {stage::applying, cause::last_state, stage::finished},

    {stage::fetching, cause::state_shown, stage::accumulating},
    {stage::fetching, cause::last_state, stage::finished},
    {stage::fetching, cause::not_fetched, stage::accumulating},
    {stage::fetching, cause::last_kept, stage::finished},

    // A part that finished apart from the others has another last state.
    {stage::finished, cause::behind, stage::fetching},
    {stage::finished, cause::state_shown, stage::accumulating},
    {stage::finished, cause::last_state, stage::finished},
};

} // namespace

std::optional<stage> next_stage(stage from, cause why) {
  auto row = std::find_if(
      std::begin(transitions), std::end(transitions),
      [&](const transition& x) { return x.from == from && x.why == why; });
  if (row == std::end(transitions))
    return std::nullopt;
  return row->to;
}

} // namespace potluck
