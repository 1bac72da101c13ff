#include "actors/averager.hpp"

#include <algorithm>

#include "actors/behavior.hpp"
#include "runtime/averaging/round/giving_way.hpp"
#include "runtime/config.hpp"
#include "runtime/contract_members.hpp"
#include "runtime/fault_points.hpp"
#include "runtime/planning/planned_windows.hpp"

namespace potluck {

static_assert(value_pool::most_waiting_of_one
                  < limits::read_on_share * limits::unread_bytes,
              "a member whose parts wait for others' would not be read again");

namespace {

/// A follower's extra patience is such a part of the round's, which grows with
/// the line, and at least `limits::follower_grace`.
constexpr int follower_share = 4;

bool has_samples(const group_contract& contract) {
  auto& all = contract.members;
  return std::any_of(all.begin(), all.end(),
                     [](auto& x) { return x.samples != 0; });
}

} // namespace

void averager_state::init(averager_actor::pointer self,
                          averager_config config) {
  self_ = self;
  say_.init(self);
  config_ = std::move(config);
  chance_ = random_stream{config_.seed};
  if (!config_.intake)
    config_.intake = std::make_shared<round_intake>(); // That nobody feeds.
  config_.intake->close();                             // A predecessor's.
  others_ = other_rounds{config_.awaited};
  reducers_.init(self, config_.reducer_started, config_.intake);
}

void averager_state::on(const averager_handles& w) {
  wired_ = w;
  say_.wire(w);
  if (!config_.abandoned.group.empty() && wired_.gateway) {
    auto old = std::exchange(config_.abandoned, {});
    tell_out_of(old.group, old.members);
  }
}

// ---- the round begins -------------------------------------------------------

void averager_state::on(const begin_round& x) {
  reducers_.end_all();
  if (round_) {
    carry_out(round_->give_up()); // The news of it must not be lost.
    if (round_->agreement().standing() == standing::aborted)
      others_.aborted(round_->what().contract.group);
  }
  const auto& group = x.contract.group;
  if (wired_.supervisor)
    self_->send(wired_.supervisor, round_begun{group, ids_of(x.contract)});
  round_.reset(); // Its means can be written over, if nobody else has them.
  last_in_touch_.reset();
  say_.begin(x.contract);
  auto self = caf::actor_cast<averager_actor>(self_);
  round_.emplace(
      round_terms{x.contract, x.plan, x.keeps_majority, config_.self,
                  config_.rule, config_.packing, config_.guards,
                  config_.nonce ? config_.nonce() : chance_.next(), denials_,
                  call_offs_, config_.threads},
      room_.prepare(x.contract, x.plan, config_.self), config_.intake,
      [self, group] { caf::anon_send(self, means_placed{group}); }, chance_,
      self_->clock().now());
  if (!has_samples(x.contract))
    return abandon("its contract counts no samples");
  self_->send(wired_.gateway, no_strangers{ids_of(x.contract)});
  if (strikes(fault_point::round_abandoned))
    return abandon("it gives the round up as it begins");
  plan_windows();
  const auto own = round_->bulk().map().chunks_of(round_->members().self());
  for (auto chunk = own.first;
       !round_->what().alone() && chunk < own.first + own.count; ++chunk)
    reducer_of(chunk);
  for (auto& [id, relayed] : connected_)
    tell([&id = id](auto& r) { return r.joined(id); });
  for (auto& early : others_.begin(group))
    on(letter{early.from, std::move(early.content), std::move(early.body)});
  for (auto& id : ids_of(x.contract))
    if (id != config_.self && !connected_.count(id))
      lose(id);
  for (auto& [id, relayed] : connected_)
    if (relayed)
      leave_if_apart(id);
  if (round_) // It stays.
    self_->delayed_send(self_, patience(), deadline_passed{++deadline_});
}

void averager_state::on(const gradient_lent& x) {
  if (runs(x.round))
    tell([&](auto& r) { return r.lend(x.gradient); });
}

void averager_state::plan_windows() {
  windows_planned news;
  if (!round_->over())
    news.windows = planned_windows(round_->what().contract, round_->what().plan,
                                   round_->members().self());
  self_->send(wired_.gateway, std::move(news));
}

// ---- what happens in it -----------------------------------------------------

bool averager_state::runs(const group_id& group) const {
  return round_ && round_->what().contract.group == group;
}

template <class What>
void averager_state::tell(What what) {
  if (!round_)
    return;
  round_->at(self_->clock().now());
  carry_out(what(*round_));
}

void averager_state::on(const letter& x) {
  const auto* group = round_of(x.content);
  if (!group)
    return;
  if (runs(*group))
    tell([&](auto& r) { return r.receive(x.from, x.content, x.body); });
  else if (auto answer = others_.read({x.from, x.content, x.body}))
    say_.post(x.from, std::move(*answer));
}

void averager_state::on(const means_placed& x) {
  if (runs(x.group))
    tell([](auto& r) { return r.means_placed(); });
}

void averager_state::on(const mean_ready& x) {
  if (!runs(x.group))
    return;
  reducers_.done(x.chunk);
  auto values = x.values;
  if (config_.bend_mean) {
    auto bent = std::make_shared<std::vector<float>>(*values);
    config_.bend_mean(*bent);
    values = bent;
  }
  tell([&](auto& r) {
    return r.averaged(x.chunk, std::move(values), x.left_out, x.parts);
  });
}

void averager_state::on(const part_refused& x) {
  if (runs(x.group))
    tell([&](auto& r) { return r.refused(x.member, x.why); });
}

void averager_state::on(const inquiry_due& x) {
  if (runs(x.group))
    tell([&](auto& r) { return r.reminded(x.chunk); });
}

void averager_state::on_down(const caf::down_msg& x) {
  const auto chunk = reducers_.lost(x.source);
  if (!chunk)
    return;
  // The parts that it held are gone with it.
  auto orders = round_->reducer_lost(*chunk);
  if (!orders)
    return abandon("a reducer failed again: " + to_string(x.reason));
  say_.fault("restarted chunk_reducer", to_string(x.reason));
  reducer_of(*chunk);
  carry_out(std::move(*orders));
}

// ---- what it wants ---------------------------------------------------------

void averager_state::carry_out(round_orders orders) {
  for (auto& x : orders)
    std::visit([this](auto& y) { carry_out(y); }, x);
}

void averager_state::carry_out(offer_part& x) {
  self_->send(reducer_of(x.head.chunk),
              part_arrived{x.member, x.head, std::move(x.body)});
}

void averager_state::carry_out(do_without& x) {
  self_->send(reducer_of(x.chunk), part_given_up{std::move(x.members)});
}

void averager_state::carry_out(audit_reminder& x) {
  self_->delayed_send(self_, x.after,
                      inquiry_due{round_->what().contract.group, x.chunk});
}

void averager_state::carry_out(round_decided&) {
  plan_windows();
  reducers_.end_all();
}

// ---- members and time -------------------------------------------------------

void averager_state::on(const peer_joined& x) {
  connected_[x.who.id] = x.relayed;
  tell([&](auto& r) { return r.joined(x.who.id); });
  if (x.relayed)
    leave_if_apart(x.who.id);
}

void averager_state::on(const peer_left& x) {
  connected_.erase(x.id);
  others_.forget(x.id);
  if (!round_ || last_in_touch_ == x.id)
    return;
  round_->left(x.id);
  if (x.orderly || last_in_touch_ || !cut_off_without(x.id))
    return lose(x.id);
  last_in_touch_ = x.id;
  self_->delayed_send(self_, limits::out_of_touch_patience,
                      out_of_touch{round_->what().contract.group});
}

bool averager_state::cut_off_without(const peer_id& member) const {
  const auto& all = round_->members();
  const auto i = all.index_of(member);
  return i < all.size() && !round_->over() && all.own().trains
         && round_->watch().cut_off_without(i, all);
}

void averager_state::on(const out_of_touch& x) {
  if (!runs(x.group) || !last_in_touch_)
    return;
  const auto last = *std::exchange(last_in_touch_, std::nullopt);
  tell([&](auto& r) { return r.out_of_touch(last); });
}

void averager_state::lose(const peer_id& member) {
  tell([&](auto& r) { return r.lost(member); });
}

void averager_state::on(const member_withdrew& x) {
  if (x.member != config_.self) {
    if (runs(x.group))
      lose(x.member);
  } else if (!runs(x.group)) { // Else its end will be told.
    round_over never;
    never.contract.group = x.group;
    self_->send(wired_.matchmaking, never);
    for (auto& [to, no] : others_.stay_out(x.group))
      say_.post(to, std::move(no));
  }
}

void averager_state::on(const outcome_known& x) {
  if (!runs(x.group) || round_->over())
    return;
  if (!x.member.empty())
    return tell([&](auto& r) { return r.ask(x.member); });
  // Nobody in particular: most of the others have gone on.
  tell([](auto& r) { return r.overtaken(); });
  auto again = x;
  again.asked = true;
  // The means that somebody committed may take their time on the way.
  if (!x.asked)
    self_->delayed_send(self_, 2 * x.patience, again);
  else if (round_->quiet() < x.patience || round_->agreement().fetching())
    self_->delayed_send(self_, x.patience, again);
  else
    abandon("most others have completed the step without this peer");
}

duration averager_state::patience() const {
  auto result = round_->patience();
  // The leader's verdict should come before a follower loses patience.
  if (round_->members().self() != 0)
    result
        += std::max<duration>(limits::follower_grace, result / follower_share);
  return result;
}

void averager_state::on(const deadline_passed& x) {
  if (!round_ || x.number != deadline_)
    return;
  look_at_patience();
  if (!round_->agreement().waiting())
    return;
  // From what is new on, not from when this member last looked; and no more
  // than half of it is left as soon as it waits for answers alone.
  const auto half = patience() / 2;
  const auto left = patience() - round_->quiet();
  self_->delayed_send(self_, left > duration{0} ? std::min(left, half) : half,
                      deadline_passed{++deadline_});
}

void averager_state::on(const parts_overdue& x) {
  if (runs(x.group))
    look_at_patience();
}

void averager_state::look_at_patience() {
  round_->at(self_->clock().now());
  if (last_in_touch_)
    return; // It may be this peer that the others wait for.
  tell([](auto& r) { return r.look(); });
  if (round_->agreement().waiting() && round_->quiet() >= round_->patience())
    tell([](auto& r) { return r.patience_over(); });
}

// ---- it ends before it is over ----------------------------------------------

void averager_state::leave_if_apart(const peer_id& member) {
  // Waiting would cost everybody the patience: the others heal without us.
  if (round_ && gives_way(*round_, member))
    abandon("no line but through a hub to " + short_name(member));
}

void averager_state::abandon(const std::string& why) {
  carry_out(round_->give_up());
  reducers_.end_all();
  config_.intake->close();
  const auto contract = round_->what().contract;
  const auto over = round_->over();
  round_.reset();
  say_.fault("left the round", why);
  tell_out_of(contract.group, ids_of(contract));
  if (over)
    return;
  round_over news;
  news.contract = contract;
  say_.tell_over(news);
}

void averager_state::tell_out_of(const group_id& group,
                                 const std::vector<peer_id>& members) {
  for (auto& [to, no] : others_.leave(group, members))
    if (to != config_.self)
      say_.post(to, std::move(no));
}

averager_actor::behavior_type
averager(averager_actor::stateful_pointer<averager_state> self,
         averager_config config) {
  return behave<averager_actor, averager_state>(self, std::move(config));
}

} // namespace potluck
