#include "actors/matchmaking.hpp"

#include "actors/behavior.hpp"
#include "actors/guest_list.hpp"
#include "runtime/config.hpp"
#include "runtime/packing/packing.hpp"
#include "runtime/planning/chunk_size.hpp"
#include "runtime/step/slow_leaders.hpp"
#include "runtime/step/step_settings.hpp"

namespace potluck {

void matchmaking_state::init(matchmaking_actor::pointer self,
                             matchmaking_config config) {
  self_ = self;
  config_ = std::move(config);
  random_ = random_stream{config_.seed};
  answers_.emplace(config_.self);
  plans_.emplace(rules_of(config_.settings));
  if (config_.role == role::auxiliary) {
    // Holds no gradient: takes its length from each contract.
    facts_.open = true;
    on(facts_);
  }
}

void matchmaking_state::on(const matchmaking_handles& w) {
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
      post(self_, wired_.letters, parcel{id, no, {}});
  stay_out(no.group);
}

void matchmaking_state::make_matchmaker() {
  const auto& run = config_.settings;
  const auto redrawn = run.redraws_groups();
  contract_terms terms;
  terms.self.id = config_.self;
  terms.role = config_.role;
  terms.target_batch
      = config_.guards.has(safeguard::target_batch) ? run.target_batch : 1;
  terms.gradient_values = facts_.gradient_values;
  terms.chunk_values = run.chunk_values;
  terms.redrawn = redrawn;
  auto packs = packing_named(run.packing).value_or(packing::int8);
  // Robust rules look at a chunk's length and direction: always the same one.
  if (auto rule = run.averaging();
      rule.how == aggregator::mean && rule.part_norm <= 0)
    // Who packs what is planned later: the slowest lines then carry int8.
    terms.cut = [this, most = run.chunk_values, packs,
                 redrawn](const group_contract& c) {
      auto values = chunk_values_for(c, most, packs);
      // Redrawn groups cut alike: a chunk's number says where it is.
      return redrawn ? values
                     : fitting_chunk_values(c, values, packs, plans_->rules());
    };
  terms.plan
      = [this](const group_contract& c) { return plan_digest(plans_->of(c)); };
  terms.idle = [this](const group_contract& c) {
    std::vector<std::size_t> result;
    const auto& chunks = plans_->of(c).chunks;
    for (std::size_t i = 0; i < c.members.size(); ++i)
      if (c.members[i].role == role::auxiliary && chunks[i] == 0)
        result.push_back(i);
    return result;
  };
  if (config_.memory)
    terms.hindrance = [this](const group_contract& c) { return too_large(c); };
  terms.believe = [this] { return plans_->believe(); };
  terms.believable_samples = [this] { return facts_.believable_samples; };
  if (config_.role == role::trainer)
    terms.past = [this] { return facts_.past; };
  else
    terms.prefers = [this](const peer_id& one, const peer_id& other) {
      return averages_for_.comes_before(one, other);
    };
  terms.computing = [this] { return facts_.computing; };
  terms.bend = config_.bend_contract;
  matchmaker_.emplace(terms);
  tell_lines();
}

void matchmaking_state::tell_lines() {
  if (matchmaker_)
    matchmaker_->without_line(lines_.without());
}

std::string matchmaking_state::too_large(const group_contract& x) {
  std::size_t self = 0;
  while (x.members[self].who.id != config_.self)
    ++self;
  const auto bytes
      = round_memory(x, plans_->of(x), self, config_.settings.averaging());
  if (config_.memory->take(config_.self, bytes))
    return {};
  rests_until_ = self_->clock().now() + limits::too_large_rest;
  return "its share would hold " + std::to_string(bytes / 1'000'000)
         + " MB here, and max-memory (of `join`: max-model) leaves less of "
           "its "
         + std::to_string(config_.memory->most() / 1'000'000) + " MB";
}

void matchmaking_state::on(const matchmaking_facts& x) {
  if (x.step != facts_.step || x.state != facts_.state)
    outnumbered_since_.reset();
  facts_ = x;
  if (!matchmaker_ && x.gradient_values == 0 && config_.role != role::auxiliary)
    return;
  if (!matchmaker_)
    make_matchmaker();
  if (!x.open && matchmaker_->now() == matchmaker::state::freezing)
    carry_out(matchmaker_->expired()); // The gradient will not be frozen.
  matchmaker_->hold(x.step, x.state);
  matchmaker_->follow(x.leaders);
  for (const auto& id : x.out_of_reach)
    lines_.heard_of(id);
  tell_lines();
  matchmaker_->avoid({x.doubted.begin(), x.doubted.end()});
  matchmaker_->measure(x.upload_bytes_per_second, x.download_bytes_per_second,
                       x.slow_pairs);
}

void matchmaking_state::on(const lead_group& x) {
  if (!matchmaker_ || matchmaker_->now() != matchmaker::state::idle) {
    self_->send(wired_.conductor, group_dissolved{{}, "busy with another"});
    return;
  }
  auto now = self_->clock().now();
  group_id group;
  random_.fill(group.bytes.data(), group.bytes.size());
  patience_ = std::chrono::duration_cast<std::chrono::milliseconds>(
      answers_->of(x.invitees, x.answer_patience) + facts_.gathering);
  answers_->begin(group, x.invitees, now);
  computing_ = x.computing;
  leading_orders orders;
  orders.least_samples = x.least_samples;
  orders.patience_ms = static_cast<std::uint32_t>(x.round_patience.count());
  orders.computing_ms = static_cast<std::uint32_t>(x.computing.count());
  orders.shunned = x.shunned;
  orders.insist
      = outnumbered_since_ && now - *outnumbered_since_ >= limits::round_cap;
  std::vector<invitee> invitees;
  for (std::size_t i = 0; i < x.invitees.size(); ++i)
    invitees.push_back({x.invitees[i], x.roles[i],
                        i < x.most_lines.size() ? x.most_lines[i] : 0});
  carry_out(matchmaker_->begin(group, invitees, std::move(orders)));
  arm();
}

void matchmaking_state::on(const letter& x) {
  std::visit(
      [&](const auto& y) {
        using type = std::decay_t<decltype(y)>;
        if constexpr (std::is_constructible_v<matchmaking_message, type>) {
          if constexpr (std::is_same_v<type, group_invite>) {
            group_answer no;
            no.group = y.group;
            no.reason = declines(x.from);
            if (!no.reason.empty())
              return post(self_, wired_.letters, parcel{x.from, no, {}});
          }
          if (!matchmaker_)
            return;
          if constexpr (std::is_same_v<type, group_answer>)
            answers_->answered(x.from, y, matchmaker_->group(),
                               self_->clock().now());
          auto before = matchmaker_->group();
          carry_out(matchmaker_->receive(x.from, y));
          if (matchmaker_->group() != before)
            arm();
        }
      },
      x.content);
}

std::string matchmaking_state::declines(const peer_id& leader) const {
  const auto now = self_->clock().now();
  if (facts_.doubted.count(leader) != 0)
    return "not with you for a while";
  if (rests_until_ && now < *rests_until_)
    return "its last share needed too much memory";
  if (!matchmaker_ || !facts_.open)
    return "not ready";
  if (config_.role == role::auxiliary && !averages_for_.follows(leader, now))
    return "averaging for others";
  return {};
}

void matchmaking_state::on(const peer_joined& x) {
  averages_for_.joined(x.who.id);
  lines_.joined(x.who.id, x.relayed);
  tell_lines();
}

void matchmaking_state::on(const peer_left& x) {
  averages_for_.left(x.id);
  lines_.left(x.id, x.orderly);
  tell_lines();
  if (matchmaker_)
    carry_out(matchmaker_->lost(x.id));
}

void matchmaking_state::on(const gradient_frozen& x) {
  if (!matchmaker_ || x.group != matchmaker_->group())
    return;
  answers_->frozen(x.group, self_->clock().now());
  carry_out(matchmaker_->frozen(x.samples, x.loss_sum));
}

void matchmaking_state::on(const round_over& x) {
  // Redrawn groups follow each other with other members every time.
  if (x.committed && !config_.settings.redraws_groups())
    averages_for_.made(x.contract, x.left_out, self_->clock().now());
  if (x.committed && !x.healed && plans_->took(x.contract, x.seconds)
      && wired_.observer)
    self_->send(wired_.observer,
                event{"claims",
                      {{"believed", plans_->believe()},
                       {"planned_seconds", plans_->planned_seconds()},
                       {"seconds", x.seconds}}});
  if (matchmaker_ && x.contract.group == matchmaker_->group()
      && matchmaker_->now() == matchmaker::state::busy)
    carry_out(matchmaker_->finished());
}

void matchmaking_state::arm() {
  // A follower cannot know its leader's patience, only its bounds; nor for how
  // long its leader has computed.
  std::chrono::milliseconds patience = patience_;
  if (matchmaker_->now() != matchmaker::state::leading)
    patience = std::chrono::duration_cast<std::chrono::milliseconds>(
        limits::answer_cap + 2 * facts_.gathering + limits::follower_grace);
  self_->delayed_send(self_, patience, deadline_passed{++deadline_});
}

void matchmaking_state::on(const deadline_passed& x) {
  if (x.number == deadline_ && matchmaker_
      && matchmaker_->now() != matchmaker::state::busy
      && matchmaker_->now() != matchmaker::state::idle)
    carry_out(matchmaker_->expired());
}

// ---- what the matchmaker wants

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
        post(self_, wired_.letters, parcel{x.to, y, {}});
      },
      x.what);
}

void matchmaking_state::carry_out(const freeze_gradient& x) {
  config_.awaited->set(x.group);
  self_->send(wired_.conductor, freeze_wanted{x.group});
}

void matchmaking_state::carry_out(const release_gradient& x) {
  if (!x.refused.empty() && wired_.observer)
    self_->send(wired_.observer,
                fault_news(x.refused, "refused a contract", x.reason));
  if (x.outnumbered && !outnumbered_since_)
    outnumbered_since_ = self_->clock().now();
  if (!x.members.empty() && wired_.cell)
    self_->send(wired_.cell, averaged_without_us{x.members});
  stay_out(x.group);
  self_->send(
      wired_.conductor,
      group_dissolved{x.group, x.reason, x.miscounts ? x.refused : peer_id{}});
}

void matchmaking_state::stay_out(const group_id& group) {
  self_->send(wired_.averager, member_withdrew{group, config_.self});
}

void matchmaking_state::carry_out(const start_round& x) {
  outnumbered_since_.reset();
  members_.clear();
  for (auto& member : x.contract.members) {
    members_.push_back(member.who.id);
    if (member.who.id != config_.self)
      lines_.heard_of(member.who.id);
  }
  tell_lines();
  plans_->begin(x.contract);
  self_->send(wired_.conductor,
              group_formed{x.contract, plans_->of(x.contract)});
}

void matchmaking_state::carry_out(const member_declined& x) {
  self_->send(wired_.averager, member_withdrew{x.group, x.member});
  self_->send(wired_.conductor, members_doubted{{x.member},
                                                "it stepped back from a round",
                                                std::nullopt,
                                                true,
                                                duration::zero()});
}

void matchmaking_state::carry_out(const member_lied& x) {
  self_->send(wired_.conductor,
              members_doubted{{x.member}, x.what, std::nullopt, true});
}

void matchmaking_state::carry_out(const answers_over& x) {
  const auto free = std::max<duration>(limits::contract_free,
                                       computing_ / limits::contract_free_part)
                    + facts_.gathering;
  auto late = answers_->late(x.unanswered, free, self_->clock().now());
  if (!late.who.empty())
    self_->send(wired_.conductor,
                members_doubted{std::move(late.who),
                                "it answered an invitation late, or not",
                                std::nullopt, true, late.how_long});
}

void matchmaking_state::carry_out(const leader_failed& x) {
  // Of an honest one this peer hears before it loses patience.
  self_->send(wired_.conductor,
              members_doubted{{x.leader},
                              "it invited and wrote no contract",
                              std::nullopt,
                              true,
                              limits::follower_grace});
}

matchmaking_actor::behavior_type
matchmaking(matchmaking_actor::stateful_pointer<matchmaking_state> self,
            matchmaking_config config) {
  return behave<matchmaking_actor, matchmaking_state>(self, std::move(config));
}

} // namespace potluck
