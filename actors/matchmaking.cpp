#include "actors/matchmaking.hpp"

#include <algorithm>

#include "actors/behavior.hpp"
#include "runtime/config.hpp"
#include "runtime/packing/packing.hpp"
#include "runtime/planning/chunk_size.hpp"
#include "runtime/planning/contract_difference.hpp"
#include "runtime/planning/planner.hpp"

namespace potluck {

void matchmaking_state::init(matchmaking_actor::pointer self,
                             matchmaking_config config) {
  self_ = self;
  config_ = std::move(config);
  random_ = random_stream{config_.seed};
  patience_ = limits::first_round_patience;
  if (config_.role == role::auxiliary) {
    // Holds no gradient: takes its length from each contract.
    facts_.open = true;
    on(facts_);
  }
}

void matchmaking_state::on(const wiring& w) {
  // A new averager knows nothing of the round that we are busy with.
  auto new_averager = wired_.averager && wired_.averager != w.averager;
  auto new_conductor = wired_.conductor && wired_.conductor != w.conductor;
  wired_ = w;
  if (!matchmaker_)
    return;
  if (matchmaker_->now() != matchmaker::state::busy) {
    // The samples that we answered with are in no gradient any more.
    if (new_conductor)
      carry_out(matchmaker_->forgotten());
    return;
  }
  if (new_averager)
    withdraw();
  else if (new_conductor)
    stay_out(matchmaker_->group()); // Unless the averager has it already.
}

void matchmaking_state::withdraw() {
  // The others heal at once instead of waiting for a part that is gone.
  group_answer no;
  no.group = matchmaker_->group();
  no.reason = "its averager failed";
  carry_out(matchmaker_->finished());
  for (auto& id : members_)
    if (id != config_.self)
      self_->send(wired_.gateway, parcel{id, no, {}});
  stay_out(no.group);
}

void matchmaking_state::on(const matchmaking_facts& x) {
  if (x.step != facts_.step || x.state != facts_.state)
    outnumbered_since_.reset();
  facts_ = x;
  if (!matchmaker_) {
    if (x.gradient_values == 0 && config_.role != role::auxiliary)
      return;
    matchmaker_settings s;
    s.self.id = config_.self;
    s.role = config_.role;
    s.target_batch = config_.settings.target_batch;
    s.redrawn = config_.settings.redraws_groups();
    s.gradient_values = x.gradient_values;
    s.chunk_values = config_.settings.chunk_values;
    // Robust rules look at a chunk's length and direction: always the same one.
    if (auto rule = config_.settings.averaging();
        rule.how == aggregator::mean && rule.part_norm <= 0)
      // Who packs what is planned later: the slowest lines then carry int8.
      s.cut
          = [this, most = s.chunk_values,
             how
             = packing_named(config_.settings.packing).value_or(packing::int8)](
                const group_contract& c) {
              auto values = chunk_values_for(c, most, how);
              // Redrawn groups cut alike: a chunk's number says where it is.
              return config_.settings.redraws_groups()
                         ? values
                         : fitting_chunk_values(c, values, how, rules());
            };
    s.patience_ms = static_cast<std::uint32_t>(patience_.count());
    s.plan
        = [this](const group_contract& c) { return plan_digest(plan_of(c)); };
    // Whom its members cannot reach stands among those claims.
    s.believe = [this] {
      return config_.settings.redraws_groups() || claims_.believe();
    };
    matchmaker_.emplace(std::move(s));
  }
  if (!x.open && matchmaker_->now() == matchmaker::state::freezing)
    carry_out(matchmaker_->expired()); // The gradient will not be frozen.
  matchmaker_->hold(x.step, x.state);
  matchmaker_->follow(x.leaders);
  gathering_ = x.gathering;
  std::vector<peer_id> avoided{x.doubted.begin(), x.doubted.end()};
  avoided.insert(avoided.end(), x.out_of_reach.begin(), x.out_of_reach.end());
  matchmaker_->avoid(std::move(avoided));
  matchmaker_->measure(x.upload_bytes_per_second, x.download_bytes_per_second,
                       x.slow_pairs);
}

void matchmaking_state::on(const lead_group& x) {
  if (!matchmaker_ || matchmaker_->now() != matchmaker::state::idle) {
    self_->send(wired_.conductor, group_dissolved{{}, "busy with another"});
    return;
  }
  patience_ = answer_patience(x);
  invited_at_ = self_->clock().now();
  unanswered_.clear();
  for (auto& who : x.invitees)
    unanswered_.insert(who.id);
  matchmaker_->set_patience(
      static_cast<std::uint32_t>(x.round_patience.count()));
  matchmaker_->set_computing(static_cast<std::uint32_t>(x.computing.count()));
  matchmaker_->set_least_samples(x.least_samples);
  group_id group;
  random_.fill(group.bytes.data(), group.bytes.size());
  led_ = group;
  std::vector<invitee> invitees;
  for (std::size_t i = 0; i < x.invitees.size(); ++i)
    invitees.push_back({x.invitees[i], x.roles[i]});
  matchmaker_->shun(x.shunned);
  matchmaker_->insist(outnumbered_since_
                      && invited_at_ - *outnumbered_since_
                             >= limits::round_cap);
  carry_out(matchmaker_->begin(group, invitees));
  arm();
}

std::chrono::milliseconds
matchmaking_state::answer_patience(const lead_group& x) const {
  auto longest = freezes_.patience(config_.self, x.answer_patience);
  for (auto& who : x.invitees) {
    longest = std::max(longest, answers_.patience(who.id, x.answer_patience));
    // The others' answers say nothing about a newcomer's batches and line.
    if (answers_.count(who.id) == 0)
      longest = std::max<duration>(longest, x.answer_patience);
  }
  longest = std::min<duration>(longest, limits::answer_cap) + gathering_;
  return std::chrono::duration_cast<std::chrono::milliseconds>(longest);
}

void matchmaking_state::answered(const peer_id& from, const group_answer& x) {
  if (!x.accepted || x.group != led_ || unanswered_.erase(from) == 0)
    return;
  answers_.observed(from, self_->clock().now() - invited_at_);
  // Who was late, but lives, is given twice the time. Who says nothing is not:
  // nobody may hold everybody up longer and longer.
  if (matchmaker_->group() != led_)
    answers_.expired(from);
}

void matchmaking_state::on(const letter& x) {
  std::visit(
      [&](const auto& y) {
        using type = std::decay_t<decltype(y)>;
        if constexpr (std::is_constructible_v<matchmaking_message, type>) {
          if constexpr (std::is_same_v<type, group_invite>) {
            bool doubted = facts_.doubted.count(x.from) != 0;
            if (!matchmaker_ || !facts_.open || doubted) {
              group_answer no;
              no.group = y.group;
              no.reason = doubted ? "not with you for a while" : "not ready";
              self_->send(wired_.gateway, parcel{x.from, no, {}});
              return;
            }
          }
          if (!matchmaker_)
            return;
          if constexpr (std::is_same_v<type, group_answer>)
            answered(x.from, y);
          auto before = matchmaker_->group();
          carry_out(matchmaker_->receive(x.from, y));
          if (matchmaker_->group() != before)
            arm();
        }
      },
      x.content);
}

void matchmaking_state::on(const peer_left& x) {
  if (matchmaker_)
    carry_out(matchmaker_->lost(x.id));
}

void matchmaking_state::on(const gradient_frozen& x) {
  if (!matchmaker_ || x.group != matchmaker_->group())
    return;
  if (x.group == led_) // The leader's own batch takes its time, too.
    freezes_.observed(config_.self, self_->clock().now() - invited_at_);
  carry_out(matchmaker_->frozen(x.samples, x.loss_sum));
}

void matchmaking_state::check_claims(const round_over& x) {
  if (!x.committed || x.healed || rules().shares != share_rule::planned
      || x.contract.members.size() < 2 || x.contract.group != planned_)
    return;
  std::vector<peer_id> members;
  for (auto& member : x.contract.members)
    members.push_back(member.who.id);
  auto before = claims_.believe();
  claims_.observe(members, quotes_lines(x.contract), planned_seconds_,
                  x.seconds);
  if (claims_.believe() == before || !wired_.observer)
    return;
  self_->send(wired_.observer, event{"claims",
                                     {{"believed", claims_.believe()},
                                      {"planned_seconds", planned_seconds_},
                                      {"seconds", x.seconds}}});
}

void matchmaking_state::on(const round_over& x) {
  check_claims(x);
  if (matchmaker_ && x.contract.group == matchmaker_->group()
      && matchmaker_->now() == matchmaker::state::busy)
    carry_out(matchmaker_->finished());
}

void matchmaking_state::arm() {
  // A follower cannot know its leader's patience, only its bounds.
  std::chrono::milliseconds patience = patience_;
  if (matchmaker_->now() != matchmaker::state::leading)
    patience = std::chrono::duration_cast<std::chrono::milliseconds>(
        limits::answer_cap + gathering_ + limits::follower_grace);
  self_->delayed_send(self_, patience, deadline_passed{++deadline_});
}

void matchmaking_state::on(const deadline_passed& x) {
  if (x.number == deadline_ && matchmaker_
      && matchmaker_->now() != matchmaker::state::busy
      && matchmaker_->now() != matchmaker::state::idle)
    carry_out(matchmaker_->expired());
}

// ---- what the matchmaker wants
// ---------------------------------------------------

void matchmaking_state::carry_out(const matchmaker::actions& actions) {
  for (auto& action : actions)
    std::visit([&](const auto& y) { carry_out(y); }, action);
}

void matchmaking_state::carry_out(const send_to_peer& x) {
  if (auto answer = std::get_if<group_answer>(&x.what))
    if (!answer->accepted)
      stay_out(answer->group);
  std::visit(
      [&](const auto& y) {
        self_->send(wired_.gateway, parcel{x.to, y, {}});
      },
      x.what);
}

void matchmaking_state::carry_out(const freeze_gradient& x) {
  self_->send(wired_.conductor, freeze_wanted{x.group});
}

void matchmaking_state::carry_out(const release_gradient& x) {
  if (!x.refused.empty() && wired_.observer)
    self_->send(wired_.observer,
                event{"fault",
                      {{"peer", short_name(x.refused)},
                       {"what", std::string{"refused a contract"}},
                       {"detail", x.reason}}});
  if (x.outnumbered && !outnumbered_since_)
    outnumbered_since_ = self_->clock().now();
  stay_out(x.group);
  self_->send(wired_.conductor, group_dissolved{x.group, x.reason});
}

void matchmaking_state::stay_out(const group_id& group) {
  self_->send(wired_.averager, member_withdrew{group, config_.self});
}

plan_rules matchmaking_state::rules() const {
  const auto& s = config_.settings;
  plan_rules result = share_rule_named(s.shares).value_or(share_rule::planned);
  result.packs_thin_lines = s.packs_thin_lines();
  result.overlaps = s.delayed_updates();
  return result;
}

const share_plan& matchmaking_state::plan_of(const group_contract& contract) {
  auto input = plan_input_digest(contract);
  if (!last_plan_ || last_plan_->first != input)
    last_plan_ = {input, plan(collaboration_of(contract, rules()))};
  return last_plan_->second;
}

void matchmaking_state::carry_out(const start_round& x) {
  outnumbered_since_.reset();
  members_.clear();
  for (auto& member : x.contract.members)
    members_.push_back(member.who.id);
  group_formed formed{x.contract, plan_of(x.contract)};
  planned_ = x.contract.group;
  planned_seconds_ = formed.plan.predicted_seconds;
  self_->send(wired_.conductor, formed);
}

void matchmaking_state::carry_out(const member_declined& x) {
  self_->send(wired_.averager, member_withdrew{x.group, x.member});
}

matchmaking_actor::behavior_type
matchmaking(matchmaking_actor::stateful_pointer<matchmaking_state> self,
            matchmaking_config config) {
  return behave<matchmaking_actor, matchmaking_state>(self, std::move(config));
}

} // namespace potluck
