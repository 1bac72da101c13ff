#include "actors/cell.hpp"

#include <algorithm>
#include <utility>

#include "actors/behavior.hpp"
#include "actors/guest_list.hpp"
#include "runtime/averaging/chunk_map.hpp"
#include "runtime/membership/limits.hpp"
#include "runtime/packing/packing.hpp"

namespace potluck {

namespace {

using namespace std::chrono_literals;

/// For all contributions: a sponsor's leader waits `limits::answer_cap` for it.
/// Both, and each contribution's, are longer by `gathering_time`.
constexpr auto gathering_cap = 20s;

} // namespace

void cell_state::init(cell_actor::pointer self, cell_config config) {
  self_ = self;
  config_ = std::move(config);
  choice_.emplace(config_.self, config_.agreed.settings().group_size,
                  limits::report_max_age, config_.seed, redraws());
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
  passed_on_.erase(x.id);
  gave_.erase(x.id);
  tell_relay();
  if (told_ && told_->sponsor == x.id)
    choose(); // Nobody averages for us until somebody else does.
  if (gathering_) {
    gathering_->without(x.id);
    go_on();
  }
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
  self_->send(
      wired_.observer,
      event{"fault",
            {{"peer", short_name(config_.self)},
             {"what", std::string{"no line to those that average"}},
             {"detail", through.empty()
                            ? std::string{"nobody takes its gradient"}
                            : "its gradient goes to " + short_name(through)}}});
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
  if (gathering_) {
    auto now = self_->clock().now();
    auto late = now - began_ > gathering_cap + lines_patience_;
    if (late)
      gathering_->ask_nobody_else();
    for (auto& id : gathering_->unfinished())
      if (late
          || now - asked_at_[id]
                 > contributions_.patience(id) + lines_patience_) {
        contributions_.expired(id);
        answer(id, gathering_->number(), false, "too late");
        gathering_->without(id);
        gave_.erase(id);
        in_vain_.spend(now - std::exchange(charged_until_, now), now);
      }
    go_on();
  }
  auto pause = duration{limits::cell_interval};
  if (gathering_)
    pause = limits::gathering_interval;
  else if (told_ && told_->contributes && wanted_
           && cell_choice::linked(wanted_->who, connected_)
           && choice_->enough_members(self_->clock().now()))
    pause = until_next_look(self_->clock().now(), pace_.look, config_.self);
  self_->delayed_send(self_, pause, tick{});
}

// ---- as a sponsor ----------------------------------------------------------

void cell_state::on(const gather_contributions& x) {
  gathering::shape shape;
  shape.gradient_values = x.gradient_values;
  shape.part_values
      = contribution_values(config_.agreed.settings().chunk_values);
  asked_at_.clear();
  began_ = self_->clock().now();
  charged_until_ = began_;
  lines_patience_ = x.patience;
  packings_.clear();
  for (std::size_t i = 0; i < x.packings.size(); ++i)
    packings_[x.contributors.at(i)] = x.packings[i];
  chains_ = x.chains;
  better_ = x.better;
  gathering_.emplace(++requests_, x.step, x.state, shape, x.contributors,
                     gathering::at_once(x.gradient_values * sizeof(float)));
  if (in_vain_.spend({}, began_) < limits::contribution_floor)
    for (const auto& id : x.contributors)
      if (gave_.count(id) == 0)
        gathering_->without(id);
  go_on();
}

void cell_state::go_on() {
  for (auto& id : gathering_->next()) {
    asked_at_[id] = self_->clock().now();
    auto request = gathering_->request(packings_[id]);
    if (auto place = chains_.find(id); place != chains_.end()) {
      request.nearer = place->second.nearer;
      request.farther = place->second.farther;
    }
    if (auto better = better_.find(id); better != better_.end())
      request.better = better->second;
    post(self_, wired_.letters, parcel{id, request, {}});
  }
  if (!gathering_->over())
    return;
  self_->send(wired_.conductor, gathering_over{gathering_->step()});
  gathering_.reset();
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
  if (!gathering_) {
    // The last chunk of what came too late gets the answer, for the others.
    if (part.number <= requests_ && part.chunk == 0)
      answer(x.from, part.number, false, "too late");
    return;
  }
  switch (gathering_->offer(x.from, part, x.body.data, x.body.size)) {
    case gathering::verdict::placed:
    case gathering::verdict::unasked: // Its request was given up, and it knows.
      return;
    case gathering::verdict::complete:
      contributions_.observed(x.from, self_->clock().now() - asked_at_[x.from]);
      gave_.insert(x.from);
      passed_on_[x.from] = part.number;
      self_->send(wired_.conductor,
                  contribution_ready{std::make_shared<const contribution>(
                      *gathering_->take(x.from))});
      break;
    case gathering::verdict::refused:
      self_->send(wired_.observer,
                  event{"fault",
                        {{"peer", short_name(x.from)},
                         {"what", std::string{"contribution refused"}},
                         {"detail", gathering_->reason()}}});
      answer(x.from, part.number, false, gathering_->reason());
      break;
  }
  go_on();
}

void cell_state::on(const contribution_taken& x) {
  auto number = passed_on_.find(x.from);
  if (number == passed_on_.end())
    return;
  answer(x.from, number->second, x.accepted,
         x.accepted ? "" : "the step is over");
  passed_on_.erase(number);
}

void cell_state::answer(const peer_id& to, std::uint64_t number, bool accepted,
                        const std::string& reason) {
  post(self_, wired_.letters,
       parcel{to, contribution_answer{number, accepted, reason}, {}});
}

// ---- as a contributor ------------------------------------------------------

void cell_state::read(const peer_id& from, const contribution_request& x) {
  if (!choice_->contributes() || !told_ || told_->sponsor != from) {
    answer(from, x.number, false, "this is not my sponsor");
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

void cell_state::on(const hand_over& x) {
  if (!x.gradient) {
    answer(x.to, x.number, false, x.reason);
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
  if (gathering_ && gathering_->asked(from)
      && x.number == gathering_->number()) {
    gathering_->without(from); // It has nothing for us.
    go_on();
    return;
  }
  if (!x.accepted && choice_->contributes())
    self_->send(wired_.observer,
                event{"fault",
                      {{"peer", short_name(from)},
                       {"what", std::string{"contribution not counted"}},
                       {"detail", x.reason}}});
}

cell_actor::behavior_type cell(cell_actor::stateful_pointer<cell_state> self,
                               cell_config config) {
  return behave<cell_actor, cell_state>(self, std::move(config));
}

} // namespace potluck
