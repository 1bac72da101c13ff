#include "runtime/step/telling.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/config.hpp"
#include "runtime/median.hpp"

namespace potluck {

namespace {

using namespace std::chrono_literals;

/// Longer is not told of computing a step.
constexpr auto longest_computing = 24h;
/// Batches of the slowest member that a leader waits for its answer: one under
/// way, and slack for a machine that has other things to do.
constexpr int patience_in_batches = 6;

using seconds = std::chrono::duration<double>;

std::chrono::milliseconds in_milliseconds(seconds x) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(x);
}

/// For answers: several of the slowest member's batches, each of at least one
/// sample.
std::chrono::milliseconds answer_patience(const way::reports& partners) {
  seconds longest = limits::longest_batch;
  for (auto& x : partners)
    if (x.samples_per_second > 0)
      longest = std::max(longest, seconds{1 / x.samples_per_second});
  return in_milliseconds(
      std::min<seconds>(longest * patience_in_batches, limits::answer_cap));
}

/// Of the trainers that say so; 0: nobody does.
double median_upload(const progress_report& own, const way::reports& partners) {
  std::vector<double> all;
  auto add = [&](double x) {
    if (std::isfinite(x) && x > 0)
      all.push_back(x);
  };
  add(own.upload_bytes_per_second);
  for (auto& x : partners)
    add(x.upload_bytes_per_second);
  return lower_median(std::move(all));
}

} // namespace

phase phase_in(stage x, bool computes) {
  switch (x) {
    case stage::starting:
    case stage::fetching:
      return phase::joining;
    case stage::accumulating:
      return computes ? phase::accumulating : phase::waiting;
    case stage::frozen:
      return phase::matchmaking;
    case stage::averaging:
    case stage::applying:
      return phase::averaging;
    case stage::finished:
      break;
  }
  return phase::finished;
}

std::chrono::milliseconds computing_time(const progress_tracker& tracker,
                                         std::uint64_t target_batch,
                                         time_point now) {
  auto speed = tracker.samples_per_second(now);
  if (!(speed > 0))
    return {};
  return in_milliseconds(std::min<seconds>(
      seconds{static_cast<double>(target_batch) / speed}, longest_computing));
}

lead_group invitation(way& how, const outlook& at, const way::reports& partners,
                      helpers& auxiliaries, bool needed, const doubts& doubted,
                      std::chrono::milliseconds patience,
                      std::uint64_t target_batch) {
  lead_group order;
  order.round_patience = patience;
  order.answer_patience = std::max(patience, answer_patience(partners));
  order.computing = computing_time(at.others.tracker(), target_batch, at.now);
  order.least_samples = how.least_samples(at, partners);
  auto invite = [&](const progress_report& x, double most_line) {
    order.invitees.push_back({x.id, x.where});
    order.roles.push_back(x.role);
    order.most_lines.push_back(most_line);
  };
  for (auto& x : partners)
    invite(x, 0);
  // One trainer alone has nothing to average.
  const auto there = partners.empty() ? std::vector<progress_report>{}
                                      : at.others.tracker().auxiliaries(at.now);
  for (auto& [id, most_line] : auxiliaries.choose(
           there, median_upload(at.own, partners), at.now, needed))
    invite(*std::find_if(there.begin(), there.end(),
                         [&id = id](auto& x) { return x.id == id; }),
           most_line);
  for (auto& id : doubted.contradicted(at.now))
    if (id != at.own.id && at.others.connected(id))
      order.shunned.push_back(id);
  return order;
}

matchmaking_facts facts_of(way& how, const outlook& at, const doubts& doubted,
                           const leader_order& order, bool open,
                           std::uint64_t parameters) {
  matchmaking_facts facts;
  facts.step = at.own.step;
  facts.state = at.own.state;
  facts.gradient_values = how.round_values(parameters);
  facts.leaders = order;
  facts.open = open;
  facts.doubted = doubted.all(at.now);
  facts.upload_bytes_per_second = at.own.upload_bytes_per_second;
  facts.download_bytes_per_second = at.own.download_bytes_per_second;
  facts.slow_pairs = at.own.slow_pairs;
  facts.believable_samples = at.others.tracker().believable_samples(at.now);
  facts.past = at.others.tracker().past();
  facts.computing = at.others.tracker().computing(at.now);
  how.tell(at, facts);
  return facts;
}

std::string part_of(const progress_report& own, std::size_t group_size,
                    bool rests) {
  if (rests)
    return "resting: the run is faster without this machine's gradients";
  if (!own.contributes || own.sponsor.empty() || own.members >= group_size)
    return {};
  return "relayed: peer " + short_name(own.sponsor)
         + " adds this machine's gradients to its own";
}

std::string relayed_through(const way& how, const outlook& at,
                            const group_contract& contract,
                            std::size_t group_size) {
  std::size_t trainers = 0;
  std::string result;
  for (const auto& x : contract.members) {
    const auto* known = at.others.report(x.who.id);
    const auto contributors = x.who.id == at.own.id
                                  ? how.reported(at).contributors
                              : known ? known->contributors
                                      : 0;
    trainers += (x.role == role::trainer) + contributors;
    if (contributors > 0)
      result += (result.empty() ? "peer " : ", peer ") + short_name(x.who.id)
                + " of " + std::to_string(contributors);
  }
  return trainers <= group_size ? result : std::string{};
}

run_status status_of(const outlook& at, const round_watch::result& last,
                     std::uint64_t steps) {
  const auto& tracker = at.others.tracker();
  run_status x;
  x.step = at.own.step;
  x.steps = steps;
  x.samples = tracker.total_samples(at.now);
  x.loss = last.loss;
  x.samples_per_second = tracker.samples_per_second(at.now);
  x.own_share = last.share;
  // Of the cells that this peer hears of, its own counted one by one.
  x.peers = at.own.contributes ? 0 : 1;
  for (auto& [id, r] : at.others.reports()) {
    const auto ours = r.contributes && r.sponsor == at.own.id;
    if (!(at.own.contributes && r.contributes))
      x.peers += 1 + (ours ? 0 : r.contributors);
  }
  x.phase = at.own.phase;
  if (auto left = tracker.time_to_target(at.now))
    x.seconds_to_next_step = seconds{*left}.count();
  return x;
}

} // namespace potluck
