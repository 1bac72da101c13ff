#include "actors/cell.hpp"

#include <algorithm>
#include <utility>

#include "actors/behavior.hpp"
#include "actors/guest_list.hpp"
#include "runtime/averaging/chunk_map.hpp"
#include "runtime/membership/limits.hpp"
#include "runtime/packing/packing.hpp"

namespace potluck {

void cell_state::init(cell_actor::pointer self, cell_config config) {
  self_ = self;
  config_ = std::move(config);
  choice_.emplace(config_.self, config_.agreed.settings().group_size,
                  limits::report_max_age, config_.seed, redraws());
  contributors_.emplace(
      contribution_values(config_.agreed.settings().chunk_values));
  self_->send(self_, tick{});
}

void cell_state::on(const cell_handles& w) {
  wired_ = w;
  // Whoever is new has to hear it, when the roster has told what it knows.
  told_.reset();
  wanted_.reset();
  told_relay_ = {};
  wired_at_ = self_->clock().now();
  self_->delayed_send(self_, limits::cell_beginning, deadline_passed{});
}

void cell_state::on(const deadline_passed&) {
  choose_first();
}

void cell_state::on(const run_looked_up& x) {
  looked_up_ = true;
  choice_->looked_up(x.published);
  choose_first();
}

std::size_t cell_state::most_members() const {
  return redraws() ? most_connections : config_.agreed.settings().group_size;
}

// ---- who takes part how ----------------------------------------------------

void cell_state::on(const peer_joined& x) {
  connected_.insert(x.who.id);
  if (x.relayed)
    direct_.erase(x.who.id);
  else
    direct_.insert(x.who.id);
  choice_->met(x.who.id, x.relayed);
  tell_relay();
}

void cell_state::on(const peer_left& x) {
  direct_.erase(x.id);
  // Redrawn groups average with whom they reach.
  if (connected_.erase(x.id) != 0 || redraws())
    choice_->lost(x.id);
  else
    choice_->missed(x.id, self_->clock().now());
  tell_relay();
  if (told_ && told_->sponsor == x.id)
    choose(); // Nobody averages for us until somebody else does.
  carry_out(contributors_->left(x.id, self_->clock().now()));
}

void cell_state::on(const report_heard& x) {
  auto& charter = x.report.charter;
  if (charter.empty() || charter == config_.agreed.digest())
    choice_->heard(x.report, self_->clock().now(), x.connected);
}

void cell_state::on(const reach_known& x) {
  choice_->hide(!x.reachable);
  if (told_ && wired_.conductor && wired_.roster)
    choose();
}

void cell_state::on(const averaged_without_us& x) {
  if (redraws())
    return; // The next group is another one.
  choice_->left_out(x.members, self_->clock().now());
  if (told_ && wired_.conductor && wired_.roster)
    choose();
  const auto through = told_ ? told_->sponsor : peer_id{};
  self_->send(wired_.observer,
              fault_news(config_.self, "no line to those that average",
                         through.empty()
                             ? std::string{"nobody takes its gradient"}
                             : "its gradient goes to " + short_name(through)));
}

void cell_state::choose_first() {
  if (!wired_.conductor || !wired_.roster || told_)
    return;
  // Whoever chose before it knows the members would be one, and call at all
  // that it then hears of.
  auto waited = self_->clock().now() - wired_at_;
  if (looked_up_ || (connected_.empty() && waited >= limits::cell_beginning)
      || waited >= limits::look_up_patience)
    choose();
  else
    self_->delayed_send(self_, limits::cell_beginning, deadline_passed{});
}

void cell_state::choose() {
  auto now = self_->clock().now();
  choice_->reconsider(now);
  cell_standing standing;
  standing.contributes = choice_->contributes();
  standing.sponsor = choice_->sponsor(direct_, now);
  standing.members = static_cast<std::uint32_t>(
      choice_->members(now) + (standing.contributes ? 0 : 1));
  auto changes = !told_ || told_->contributes != standing.contributes
                 || told_->sponsor != standing.sponsor;
  if (changes)
    self_->send(wired_.observer,
                event{"cell",
                      {{"contributes", standing.contributes},
                       {"sponsor", standing.sponsor.empty()
                                       ? std::string{}
                                       : short_name(standing.sponsor)},
                       {"members", std::uint64_t{standing.members}}}});
  // Who goes because it was told to takes the step's mean where it stood.
  if (told_ && told_->sponsor != standing.sponsor
      && connected_.count(told_->sponsor) == 0)
    leave_chain();
  if (changes || told_->members != standing.members) {
    told_ = standing;
    self_->send(wired_.conductor, standing);
  }
  links_wanted links;
  links.everybody = !standing.contributes;
  links.newcomers = links.everybody && standing.members < most_members();
  if (standing.contributes) {
    links.who = choice_->wanted(direct_, now);
    links.nearer = place_.nearer;
    links.farther = place_.farther;
    links.better = advice_;
  }
  if (!wanted_ || !(*wanted_ == links)) {
    wanted_ = links;
    self_->send(wired_.roster, links);
  }
}

void cell_state::on(const tick&) {
  if (wired_.conductor && wired_.roster && told_)
    choose();
  carry_out(contributors_->look(self_->clock().now()));
  auto pause = duration{limits::cell_interval};
  if (contributors_->gathers())
    pause = limits::gathering_interval;
  else if (told_ && told_->contributes && wanted_
           && cell_choice::linked(wanted_->who, connected_)
           && choice_->enough_members(self_->clock().now()))
    pause = until_next_look(self_->clock().now(), pace_.look, config_.self);
  self_->delayed_send(self_, pause, tick{});
}

// ---- as a sponsor ----------------------------------------------------------

void cell_state::on(const gather_contributions& x) {
  carry_out(contributors_->gather(x, self_->clock().now()));
}

void cell_state::on(const letter& x) {
  if (auto request = std::get_if<contribution_request>(&x.content))
    read(x.from, *request);
  else if (auto part = std::get_if<contribution_part>(&x.content))
    read(x, *part);
  else if (auto said = std::get_if<contribution_answer>(&x.content))
    read(x.from, *said);
}

void cell_state::read(const letter& x, const contribution_part& part) {
  carry_out(contributors_->offer(x.from, part, x.body.data, x.body.size,
                                 self_->clock().now()));
}

void cell_state::on(const contribution_taken& x) {
  carry_out(contributors_->taken(x.from, x.accepted));
}

void cell_state::carry_out(sponsorship::actions what) {
  for (auto& x : what)
    std::visit([this](auto& y) { carry_out(y); }, x);
}

void cell_state::carry_out(sponsorship::letter& x) {
  std::visit(
      [&](auto& y) {
        post(self_, wired_.letters, parcel{x.to, std::move(y), {}});
      },
      x.content);
}

void cell_state::carry_out(sponsorship::whole& x) {
  self_->send(wired_.conductor, contribution_ready{std::move(x.what)});
}

void cell_state::carry_out(const sponsorship::refused& x) {
  self_->send(wired_.observer,
              fault_news(x.from, "contribution refused", x.why));
}

void cell_state::carry_out(const sponsorship::done& x) {
  self_->send(wired_.conductor, gathering_over{x.step});
}

// ---- as a contributor ------------------------------------------------------

void cell_state::read(const peer_id& from, const contribution_request& x) {
  if (!choice_->contributes() || !told_ || told_->sponsor != from) {
    refuse(from, x.number, "this is not my sponsor");
    return;
  }
  wanted_as_ = x.packing;
  take_place(x);
  self_->send(wired_.conductor, contribution_wanted{from, x});
}

void cell_state::take_place(const contribution_request& x) {
  place_ = {x.nearer, x.farther};
  advice_ = x.better.id == config_.self ? contact{} : x.better;
  choice_->advised(advice_.id);
  for (const auto* who : {&place_.nearer, &advice_})
    if (!who->id.empty() && connected_.count(who->id) == 0)
      wanted_.reset(); // The last dial may have failed.
  tell_relay();
  choose();
}

void cell_state::leave_chain() {
  place_ = {};
  advice_ = {};
  tell_relay();
}

void cell_state::tell_relay() {
  auto id = place_.nearer.id;
  if (id.empty() && !place_.farther.empty() && told_)
    id = told_->sponsor; // It leads its chain.
  auto relay = direct_.count(id) != 0 ? id : peer_id{};
  if (relay == told_relay_ || !wired_.state_keeper)
    return;
  told_relay_ = relay;
  self_->send(wired_.state_keeper, mean_relay{relay});
}

void cell_state::refuse(const peer_id& to, std::uint64_t number,
                        const std::string& reason) {
  post(self_, wired_.letters,
       parcel{to, contribution_answer{number, false, reason}, {}});
}

void cell_state::on(const hand_over& x) {
  if (!x.gradient) {
    refuse(x.to, x.number, x.reason);
    return;
  }
  const std::size_t length
      = contribution_values(config_.agreed.settings().chunk_values);
  const auto& values = *x.gradient;
  contribution_part part{x.number, 0, x.samples, x.loss_sum, wanted_as_};
  for (std::size_t first = 0; first < values.size(); first += length) {
    auto count = std::min(length, values.size() - first);
    auto body
        = packed_body(wanted_as_, x.gradient, values.data() + first, count);
    post(self_, wired_.letters, parcel{x.to, part, std::move(body)});
    ++part.chunk;
  }
}

void cell_state::read(const peer_id& from, const contribution_answer& x) {
  if (contributors_->awaits(from, x.number))
    return carry_out(contributors_->declined(from, self_->clock().now()));
  if (!x.accepted && choice_->contributes())
    self_->send(wired_.observer,
                fault_news(from, "contribution not counted", x.reason));
}

cell_actor::behavior_type cell(cell_actor::stateful_pointer<cell_state> self,
                               cell_config config) {
  return behave<cell_actor, cell_state>(self, std::move(config));
}

} // namespace potluck
