#include "runtime/ways/cells/contributor_pace.hpp"

#include <algorithm>

#include "runtime/config.hpp"

namespace potluck {

namespace {

/// A contributor's batch is at most such a part of the time until it expects to
/// be asked for its gradient, but no shorter than a member's.
constexpr int batches_until_asked = 4;

} // namespace

bool operator==(const contributor_pace& a, const contributor_pace& b) {
  return a.look == b.look && a.batch == b.batch && a.report == b.report;
}

contributor_pace pace_of(duration step) {
  auto part = [&](int parts, duration shortest, duration longest) {
    return std::clamp(step / parts, shortest, longest);
  };
  contributor_pace x;
  x.look
      = part(limits::looks_a_step, limits::shortest_look, limits::longest_look);
  x.batch = part(limits::contributors_batches_a_step,
                 limits::contributors_shortest_batch,
                 limits::contributors_longest_batch);
  x.report = part(limits::reports_a_step, limits::shortest_report_pause,
                  limits::longest_report_pause);
  return x;
}

duration longest_batch_now(const contributor_pace& pace, duration since,
                           const std::optional<duration>& asked_after) {
  if (!asked_after)
    return pace.batch;
  auto distance
      = since < *asked_after ? *asked_after - since : since - *asked_after;
  return std::clamp<duration>(distance / batches_until_asked,
                              limits::longest_batch, pace.batch);
}

duration until_next_look(time_point now, duration look, const peer_id& self) {
  auto place = self.bytes[0] << 8 | self.bytes[1];
  auto own = duration{look.count() / 65536 * place};
  auto since = (now.time_since_epoch() - own) % look;
  if (since < duration::zero())
    since += look;
  return look - since;
}

} // namespace potluck
