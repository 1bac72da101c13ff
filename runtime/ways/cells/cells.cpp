#include "runtime/ways/cells/cells.hpp"

#include <algorithm>

#include "messages/limits.hpp"
#include "runtime/membership/limits.hpp"
#include "runtime/planning/thin_lines.hpp"
#include "runtime/random.hpp"
#include "runtime/ways/cells/cell_balance.hpp"
#include "runtime/ways/cells/gathering.hpp"

namespace potluck {

namespace {

/// A sponsor guesses how a contributor went on for so many pauses between two
/// reports: one is sent at the next look behind the pause, and takes its way.
constexpr int reports_missed = 2;

bool sponsors(const outlook& at, const progress_report& x) {
  return x.contributes && x.sponsor == at.own.id;
}

bool stands_with(const outlook& at, const progress_report& x) {
  return x.step == at.own.step && x.state == at.own.state;
}

} // namespace

void cells::heard(const outlook& at, const progress_report& x) {
  if (!sponsors(at, x))
    return tally_.forget(x.id);
  // It is this peer that reports them on.
  const auto book = at.others.tracker().speeds(at.now);
  auto bounded = x;
  bounded.samples = std::min(x.samples, book.most_samples());
  bounded.samples_per_second
      = std::min(x.samples_per_second, book.most_speed());
  tally_.heard(bounded, at.now);
}

progress_report cells::reported(const outlook& at) const {
  auto result = at.own;
  if (at.own.contributes)
    return result;
  auto cell = tally_.at(at.own.step, at.own.state, at.now,
                        reports_missed * at.report_pause);
  result.contributors = static_cast<std::uint32_t>(
      std::min<std::size_t>(cell.contributors, max_contributors));
  result.samples = std::min(result.samples + cell.samples, max_samples);
  result.samples_per_second
      = std::min(result.samples_per_second + cell.samples_per_second, max_real);
  return result;
}

// ---- as a sponsor -----------------------------------------------------------

std::optional<gather_contributions>
cells::gather(const outlook& at, std::uint64_t parameters, double computing) {
  if (gathering_ || std::exchange(told_to_gather_, true))
    return std::nullopt;
  gather_contributions order;
  std::vector<progress_report> who;
  std::vector<peer_id> ours;
  std::vector<progress_report> members;
  for (auto& [id, x] : at.others.reports())
    if (sponsors(at, x)) {
      ours.push_back(id);
      if (x.samples > 0 && stands_with(at, x)) {
        order.contributors.push_back(id);
        who.push_back(x);
      }
    } else if (x.role == role::trainer && !x.contributes
               && stands_with(at, x)) {
      members.push_back(x);
    }
  if (order.contributors.empty())
    return std::nullopt;
  const auto bytes = parameters * sizeof(float);
  order.step = at.own.step;
  order.state = at.own.state;
  order.gradient_values = parameters;
  order.packings = packings(at, order.contributors, bytes, computing);
  order.patience = gathering_patience(reported(at), parameters,
                                      at.others.tracker().computing(at.now));
  order.chains = mean_chains(who, bytes, at.own.upload_bytes_per_second);
  order.better
      = better_sponsors(ours, members, mix(seed_of(at.own.id), at.own.step));
  gathering_ = true;
  return order;
}

std::vector<packing> cells::packings(const outlook& at,
                                     const std::vector<peer_id>& contributors,
                                     std::uint64_t bytes,
                                     double computing) const {
  if (how_.packing)
    return std::vector<packing>(contributors.size(), *how_.packing);
  // An exchange in which this peer averages all, and nobody needs the mean.
  collaboration cell;
  cell.gradient_bytes = bytes;
  cell.overlaps = how_.overlaps;
  cell.computing_seconds = computing;
  auto add = [&](const progress_report& r, bool contributes) {
    planned_peer x;
    x.computes = contributes;
    x.holds_model = !contributes;
    x.upload_bytes_per_second = r.upload_bytes_per_second;
    x.download_bytes_per_second = r.download_bytes_per_second;
    cell.peers.push_back(x);
  };
  add(at.own, false);
  for (const auto& id : contributors)
    add(*at.others.report(id), true);
  std::vector<double> shares(cell.peers.size(), 0);
  shares[0] = 1;
  auto chosen = choose_packings(cell, shares).packings;
  return {chosen.begin() + 1, chosen.end()};
}

bool cells::gathered() {
  return std::exchange(gathering_, false);
}

// ---- as a contributor -------------------------------------------------------

std::string cells::asked(const outlook& at, const contribution_wanted& x,
                         bool something) {
  if (x.request.step != at.own.step)
    return "at another step";
  if (x.request.state != at.own.state)
    return "another state";
  if (!at.own.contributes)
    return "averaging itself";
  if (!something)
    return "nothing accumulated";
  question_ = x;
  return {};
}

void cells::answered(const outlook& at, bool gave) {
  question_.reset();
  if (!gave)
    return;
  gave_for_step_ = at.own.step + 1;
  rests_until_ = at.now + limits::contributor_rest;
}

bool cells::rests(const outlook& at) const {
  return at.own.contributes && gave_for_step_ == at.own.step + 1
         && at.now < rests_until_;
}

} // namespace potluck
