#include "tools/lab/bench/averaging_conductor.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "actors/behavior.hpp"
#include "runtime/config.hpp"
#include "tools/lab/bench/process_memory.hpp"
#include "tools/lab/bench/workload.hpp"

namespace potluck::bench {

namespace {

/// Values of each mean that are checked in every round; all are in the last.
constexpr std::uint64_t checked_values = 1024;

/// What all hold after a round: nothing in particular, but the same.
digest state_after(std::uint64_t round) {
  return digest_of(&round, sizeof(round));
}

} // namespace

void member_state::init(conductor_actor::pointer self, member_start start) {
  self_ = self;
  config_ = std::move(start.config);
  id_ = start.self;
  line_ = {config_.upload, config_.download, {}};
  out_ = start.out;
  result_ = std::move(start.result);
  idle_bytes_ = memory_row("RssAnon");
  gradient_ = std::make_shared<std::vector<float>>(config_.values);
  for (std::uint64_t i = 0; i < config_.values; ++i)
    (*gradient_)[i] = contribution_of(config_.number, i);
}

void member_state::on(const conductor_handles& x) {
  wired_ = x;
  self_->send(wired_.roster, links_wanted{});
  announce();
}

void member_state::on(const line_measured& x) {
  if (config_.upload == 0)
    line_.upload = x.upload;
  if (config_.download == 0)
    line_.download = x.download;
}

void member_state::on(const peer_joined& x) {
  companions_[x.who.id] = x.who;
  if (companions_.size() + 1 == config_.members && !ready_said_) {
    ready_said_ = true;
    cpu_before_ = cpu_seconds();
    say({"ready", {}});
    announce();
  }
}

void member_state::on(const peer_left& x) {
  companions_.erase(x.id);
  if (round_ == config_.rounds)
    end_if_all_have();
  else
    end("member " + short_name(x.id) + " left: " + x.reason);
}

void member_state::on(const report_heard& x) {
  if (x.report.samples == 0)
    return; // Not yet connected with everybody.
  auto& done = done_[x.report.id];
  done = std::max(done, x.report.step);
  lead_if_all_are_ready();
  end_if_all_have();
}

/// As a trainer says that its parameters changed and that it has samples.
void member_state::announce() {
  matchmaking_facts facts;
  facts.step = round_;
  facts.state = state_after(round_);
  facts.gradient_values = config_.values;
  facts.open = true;
  facts.upload_bytes_per_second = line_.upload;
  facts.download_bytes_per_second = line_.download;
  self_->send(wired_.matchmaking, facts);
  own_report mine;
  mine.report.id = id_;
  mine.report.charter = digest_of(run_name, std::strlen(run_name));
  mine.report.phase
      = round_ == config_.rounds ? phase::finished : phase::accumulating;
  mine.report.step = round_;
  mine.report.state = facts.state;
  mine.report.samples = ready_said_;
  mine.urgent = true;
  self_->send(wired_.roster, mine);
  lead_if_all_are_ready();
}

void member_state::lead_if_all_are_ready() {
  if (config_.number != 0 || leading_ || !ready_said_
      || round_ == config_.rounds)
    return;
  lead_group order;
  for (auto& [id, who] : companions_) {
    auto done = done_.find(id);
    if (done == done_.end() || done->second < round_)
      return;
    order.invitees.push_back(who);
    order.roles.push_back(role::trainer);
  }
  order.answer_patience = limits::answer_cap;
  order.round_patience = limits::first_round_patience;
  leading_ = true;
  self_->send(wired_.matchmaking, order);
}

void member_state::on(const freeze_wanted& x) {
  self_->send(wired_.matchmaking, gradient_frozen{x.group, 1, 0});
}

void member_state::on(const group_formed& x) {
  if (x.contract.members.size() != config_.members)
    return end("only " + std::to_string(x.contract.members.size()) + " of "
               + std::to_string(config_.members) + " members came together");
  predicted_ = x.plan.predicted_seconds;
  self_->send(wired_.averager, begin_round{x.contract, x.plan});
  self_->send(wired_.averager, gradient_lent{gradient_, x.contract.group});
}

void member_state::on(const group_dissolved&) {
  // Matchmaking had not heard yet that the last round is over.
  leading_ = false;
  self_->send(self_, tick{});
}

void member_state::on(const tick&) {
  lead_if_all_are_ready();
}

void member_state::on(const round_over& x) {
  leading_ = false;
  ++round_;
  say({"round",
       {{"round", round_},
        {"began", seconds(self_->clock().now()) - x.seconds},
        {"averaging", x.seconds},
        {"predicted", predicted_},
        {"upload", line_.upload},
        {"download", line_.download},
        {"sent", x.bytes_sent},
        {"received", x.bytes_received}}});
  cpu_after_ = cpu_seconds(); // The check of the last mean looks at all of it.
  auto problem = problem_with(x);
  if (!problem.empty())
    return end(problem);
  if (round_ == config_.rounds)
    mean_ = digest_of(x.mean->data(), x.mean->size() * sizeof(float));
  announce();
  end_if_all_have();
}

std::string member_state::problem_with(const round_over& x) const {
  if (!x.committed || !x.mean)
    return "round " + std::to_string(round_) + " came to nothing";
  if (x.healed)
    return "round " + std::to_string(round_) + " lost a member";
  auto scale = static_cast<float>(1.0 / config_.members);
  constexpr double largest = 60; // Of all contributions.
  auto last = round_ == config_.rounds;
  auto stride
      = last ? 1 : std::max<std::uint64_t>(1, config_.values / checked_values);
  for (std::uint64_t i = 0; i < config_.values; i += stride) {
    float sum = 0;
    for (std::uint32_t m = 0; m < config_.members; ++m)
      sum += contribution_of(m, i);
    // A part is rounded, and then the mean of them all.
    auto slack = 2 * packing_error(config_.packing, largest, largest);
    if (std::abs((*x.mean)[i] - sum * scale) > slack)
      return "round " + std::to_string(round_) + ": value " + std::to_string(i)
             + " of the mean is wrong";
  }
  return "";
}

void member_state::end_if_all_have() {
  // A member that has gone had completed all rounds, or we would have ended.
  if (round_ != config_.rounds)
    return;
  for (auto& [id, who] : companions_) {
    auto done = done_.find(id);
    if (done == done_.end() || done->second < round_)
      return;
  }
  end("");
}

void member_state::end(const std::string& problem) {
  result_->problem = problem;
  say({"over",
       {{"problem", problem},
        {"cpu_seconds", cpu_after_ - cpu_before_},
        {"peak_bytes", peak_memory()},
        {"idle_bytes", idle_bytes_},
        {"digest", to_string(mean_)}}});
  self_->quit();
}

void member_state::say(const event& x) {
  *out_ << to_json(x, seconds(self_->clock().now())) << std::endl;
}

conductor_actor::behavior_type
member(conductor_actor::stateful_pointer<member_state> self,
       member_start start) {
  return behave<conductor_actor, member_state>(self, std::move(start));
}

} // namespace potluck::bench
