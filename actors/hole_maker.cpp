#include "actors/hole_maker.hpp"

#include <algorithm>
#include <utility>

#include "actors/behavior.hpp"
#include "actors/guest_list.hpp"
#include "runtime/dialable.hpp"

namespace potluck {

void hole_maker_state::on(const peer_joined& x) {
  auto at = guests_.find(x.who.id);
  if (!x.relayed) {
    if (at != guests_.end()) {
      at->second.puncher.relayed(false, now());
      at->second.relayed = false;
      at->second.dialled = {};
    }
    return arm();
  }
  if (at == guests_.end())
    at = guests_
             .emplace(x.who.id, guest{{config_.self, x.who.id,
                                       mix(config_.seed, ++sessions_), now()},
                                      {}})
             .first;
  // The host that a hub has told us: it is empty where none has.
  if (!x.who.where.host.empty())
    at->second.hosts = {x.who.where.host};
  at->second.puncher.relayed(true, now());
  at->second.relayed = true;
  inform(at->second);
  dial(x.who.id, at->second);
  arm();
}

void hole_maker_state::on(const report_heard& x) {
  auto at = guests_.find(x.report.id);
  if (at == guests_.end())
    return;
  const auto how = x.report.reach;
  at->second.its_reach = how;
  at->second.listens = is_open(how) ? x.report.where : address{};
  at->second.listens_also = x.report.also;
  inform(at->second);
  dial(x.report.id, at->second);
}

void hole_maker_state::dial(const peer_id& who, guest& x) {
  if (!x.relayed || !dialable(x.listens) || x.listens == x.dialled
      || !allowance_.take(now()))
    return;
  x.dialled = x.listens;
  self_->send(wired_.gateway,
              dial_contact{{who, x.listens}, {}, x.listens_also});
}

void hole_maker_state::on(const reach_known& x) {
  own_ = x;
  for (auto& [id, guest] : guests_)
    inform(guest);
}

void hole_maker_state::inform(guest& x) {
  x.puncher.know({own_.outside, own_.local, own_.kind, x.its_reach, x.hosts});
}

void hole_maker_state::on(const letter& x) {
  auto at = guests_.find(x.from);
  if (at == guests_.end())
    return;
  if (auto connect = std::get_if<hole_connect>(&x.content))
    carry_out(x.from, at->second.puncher.on(*connect, now()));
  else if (auto sync = std::get_if<hole_sync>(&x.content))
    carry_out(x.from, at->second.puncher.on(*sync, now()));
}

void hole_maker_state::on(const punches_failed& x) {
  if (auto at = guests_.find(x.who); at != guests_.end())
    carry_out(x.who, at->second.puncher.failed(x.attempt, now()));
}

void hole_maker_state::on(const deadline_passed& x) {
  if (x.number != alarm_)
    return;
  wake_ = time_point::max();
  for (auto& [id, guest] : guests_)
    carry_out(id, guest.puncher.tick(now()));
  arm();
}

void hole_maker_state::carry_out(const peer_id& who,
                                 const hole_puncher::actions& all) {
  for (const auto& action : all) {
    if (auto connect = std::get_if<hole_connect>(&action))
      post(self_, wired_.letters, parcel{who, *connect, {}});
    else if (auto sync = std::get_if<hole_sync>(&action))
      post(self_, wired_.letters, parcel{who, *sync, {}});
    else if (auto now_or_never = std::get_if<hole_puncher::punch_now>(&action))
      punch(who, *now_or_never);
    else if (!std::exchange(guests_.at(who).told, true))
      self_->send(wired_.observer, event{"hole", {{"peer", short_name(who)}}});
  }
  arm();
}

void hole_maker_state::punch(const peer_id& who,
                             const hole_puncher::punch_now& x) {
  punch_holes order{who, x.attempt, {}, x.begins};
  for (const auto& where : x.at)
    if (allowance_.take(now()))
      order.at.push_back(where);
  self_->send(wired_.gateway, std::move(order)); // Of none it says so.
}

void hole_maker_state::arm() {
  auto next = time_point::max();
  for (const auto& [id, guest] : guests_)
    next = std::min(next, guest.puncher.due());
  if (next == wake_)
    return;
  wake_ = next;
  ++alarm_;
  if (next < time_point::max())
    self_->delayed_send(self_, std::max(next - now(), duration{0}),
                        deadline_passed{alarm_});
}

hole_maker_actor::behavior_type
hole_maker(hole_maker_actor::stateful_pointer<hole_maker_state> self,
           hole_maker_config config) {
  return behave<hole_maker_actor, hole_maker_state>(self, std::move(config));
}

} // namespace potluck
