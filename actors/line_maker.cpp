#include "actors/line_maker.hpp"

#include <utility>

#include "messages/codec.hpp"
#include "runtime/dialable.hpp"
#include "runtime/fault_points.hpp"

namespace potluck {

void line_maker::init(gateway_actor::pointer self,
                      std::shared_ptr<relaying_transport> network,
                      const peer_id& own) {
  self_ = self;
  network_ = std::move(network);
  own_ = own;
}

void line_maker::wire(const gateway_handles& w) {
  roster_ = w.roster;
  router_ = w.router;
  expert_caller_ = w.sessions.expert_caller;
  hole_maker_ = w.hole_maker;
}

void line_maker::add(connection_id id, link fresh) {
  fresh.since = now();
  if (fresh.dialled && !relaying_transport::is_circuit(id))
    memory_.dials(fresh.remote.host, fresh.since);
  links_.add(id, std::move(fresh));
  watch();
}

// ---- lines that are wanted --------------------------------------------------

void line_maker::dial(address where, const peer_id& expected,
                      std::vector<contact> hubs, address also) {
  if (memory_.prefers(also, now()))
    std::swap(where, also);
  link fresh{where, true, expected, {}, {}, {}};
  fresh.hubs = std::move(hubs);
  fresh.also = std::move(also);
  dial(std::move(fresh));
}

void line_maker::dial(link fresh) {
  auto fail = [&](const char* why) {
    give_up(fresh.remote, fresh.expected, why, fresh.hubs_tried);
  };
  if (memory_.is_itself(fresh.remote, now()))
    return fail("this peer itself answers there");
  if (links_.size() >= most_connections)
    return fail("too many connections are open");
  if (strikes(fault_point::dial_fails))
    return fail("the dial failed at once");
  const auto id = network_->dial(fresh.remote, fresh.expected);
  add(id, std::move(fresh));
}

bool line_maker::dial_other(link& x) {
  link fresh{std::exchange(x.also, {}), true, x.expected, {}, {}, {}};
  if (!dialable(fresh.remote) || leaving_ || has(x.expected)
      || !memory_.may_try(fresh.remote, now()))
    return false;
  fresh.hubs = std::exchange(x.hubs, {});
  fresh.hubs_tried = x.hubs_tried;
  dial(std::move(fresh));
  return true;
}

void line_maker::call_up(const call& x) {
  if (leaving_ || x.to.id == own_ || x.to.where.port == 0)
    return;
  if (parked_.add(x))
    dial_by_hearsay(x.to);
}

void line_maker::dial_by_hearsay(const contact& who) {
  if (links_.is_on_its_way(who.id))
    return;
  if (memory_.is_itself(who.where, now()) || memory_.may_try(who.where, now()))
    return dial(who.where, who.id);
  drop_waiting(who.id);
  if (router_)
    self_->send(router_, dial_failed{who.where, who.id,
                                     "nobody was there lately", false});
}

void line_maker::drop_waiting(const peer_id& who) {
  for (auto& x : parked_.give_up(who))
    if (expert_caller_)
      self_->send(expert_caller_, std::move(x));
}

void line_maker::give_up(const address& where, const peer_id& expected,
                         const std::string& reason, bool through_hub) {
  drop_waiting(expected);
  if (!through_hub)
    memory_.failed(where, now());
  const dial_failed news{where, expected, reason, through_hub};
  if (roster_)
    self_->send(roster_, news);
  if (router_)
    self_->send(router_, news);
  go_on(expected, false);
}

void line_maker::try_to_reach(const potluck::try_to_reach& x) {
  if (full())
    return;
  link fresh{x.who.where, true, x.who.id, {}, {}, {}};
  fresh.reached = false;
  fresh.nonce = x.nonce;
  fresh.asker = x.asker;
  add(network_->dial(x.who.where, x.who.id), std::move(fresh));
}

void line_maker::ask_for_port(const contact& who) {
  if (full())
    return;
  link fresh{who.where, true, who.id, {}, {}, {}};
  fresh.asks_for_port = true;
  add(network_->punch(who.where, true), std::move(fresh));
}

// ---- through hubs -----------------------------------------------------------

void line_maker::go_through(const contact& who, std::vector<contact> hubs) {
  if (leaving_)
    hubs.clear();
  auto next = hubs_.next(who, hubs, {own_, guests_, links_}, now());
  switch (next.step) {
    case hub_choice::step::open: {
      link fresh{who.where, true, who.id, {}, {}, {}};
      fresh.hubs = std::move(next.rest);
      add(network_->dial_through(next.over, who.id), std::move(fresh));
      break;
    }
    case hub_choice::step::dial:
      dial(next.hub.where, next.hub.id);
      break;
    case hub_choice::step::wait:
      break;
    case hub_choice::step::give_up:
      give_up(who.where, who.id, "no hub leads to it", true);
  }
}

void line_maker::go_on(const peer_id& hub, bool there) {
  for (auto& x : hubs_.end(hub, there))
    if (!has(x.who.id))
      go_through(x.who, std::move(x.hubs));
}

void line_maker::hurry() {
  auto all = links_.hurry(guests_, now());
  for (auto& x : all.detours)
    go_through(x.who, std::move(x.hubs));
  for (auto id : all.others)
    dial_other(links_.at(id));
}

// ---- through holes ----------------------------------------------------------

void line_maker::punch(const punch_holes& x) {
  if (!only_circuits_to(x.who))
    return; // There is what it is for, or nobody to have it with.
  std::set<connection_id> all;
  for (const auto& at : x.at) {
    if (full())
      break;
    link fresh{at, true, x.who, {}, {}, {}};
    fresh.punched = true;
    const auto id = network_->punch(at, x.begins);
    all.insert(id);
    add(id, std::move(fresh));
  }
  if (all.empty() && hole_maker_)
    self_->send(hole_maker_, punches_failed{x.who, x.attempt});
  punches_.begin(x.who, x.attempt, std::move(all));
}

// ---- what becomes of them ---------------------------------------------------

bool line_maker::accepted(const connection_accepted& x) {
  if (full()) {
    network_->close(x.id, 0);
    return false;
  }
  link fresh{x.remote, false, {}, x.proven, {}, {}};
  if (relaying_transport::is_circuit(x.id))
    fresh.hub_sees = x.remote.host;
  add(x.id, std::move(fresh));
  return true;
}

bool line_maker::opened(const connection_opened& x) {
  using opening = line_table::opening;
  const auto due = links_.opened(x.id, x.remote, x.proven, own_, now());
  if (due != opening::unknown && !relaying_transport::is_circuit(x.id))
    memory_.dials(x.remote.host, now());
  if (due == opening::seen)
    network_->send(x.id, {encode(reach_proof{links_.at(x.id).nonce}), {}});
  if (due == opening::seen || due == opening::unseen)
    network_->close(x.id);
  if (due == opening::unknown || due == opening::missed)
    network_->close(x.id, 0); // If missed, it comes to nothing, in `closed`.
  return due == opening::greeted;
}

std::optional<line_maker::link> line_maker::closed(const connection_closed& x) {
  auto taken = links_.take(x.id);
  if (!taken)
    return std::nullopt;
  auto& gone = *taken;
  if (gone.reached) {
    self_->send(
        self_, parcel{gone.asker, reach_answer{*gone.reached, gone.nonce}, {}});
  } else if (gone.asks_for_port) {
    // It has said what it sees, or will not.
  } else if (!gone.peer.empty()) {
    guests_.closed(gone.peer, x.id);
  } else if (gone.punched) {
    auto over = punches_.ended(gone.expected, x.id);
    if (over && hole_maker_)
      self_->send(hole_maker_, punches_failed{gone.expected, *over});
  } else if (gone.dialled && !dial_other(gone)) {
    const bool another = links_.is_on_its_way(gone.expected);
    // If it comes through a hub, it is none itself.
    if (!another)
      go_on(gone.expected, false);
    if (!gone.hubs.empty() && !leaving_ && !has(gone.expected))
      go_through({gone.expected, gone.remote}, gone.hubs);
    else if (!another && !hubs_.has(gone.expected))
      give_up(gone.remote, gone.expected,
              is_another(gone, gone.proven) ? "another peer answers there"
              : gone.late                   ? "no answer in time"
                                            : x.reason,
              gone.hubs_tried || relaying_transport::is_circuit(x.id));
  }
  return taken;
}

void line_maker::missed(connection_id id, const peer_id& who) {
  links_.at(id).proven = who; // As far as anything is, without encryption.
  network_->close(id, 0);
}

void line_maker::dialled_self(const link& l) {
  memory_.answered_itself(l.remote, now());
  if (roster_)
    self_->send(roster_, dial_succeeded{l.remote, own_});
}

bool line_maker::is_about_reach(connection_id id, const message& said) {
  const auto& l = links_.at(id);
  const auto* theirs = std::get_if<hello>(&said);
  const auto* proof = std::get_if<reach_proof>(&said);
  if (!proof && !(theirs && l.asks_for_port))
    return false;
  const bool right
      = theirs && (l.proven.empty() ? theirs->id : l.proven) == l.expected;
  // A proof that came by way of a hub proves nothing.
  if (proof && !l.dialled && !relaying_transport::is_circuit(id) && roster_)
    self_->send(roster_,
                reach_proven{proof->nonce, l.remote.host, came_from_afar(l)});
  if (right && roster_)
    self_->send(roster_, port_seen{{theirs->seen_host, theirs->seen_port},
                                   l.remote.host,
                                   network_->local_addresses()});
  network_->close(id, 0);
  return true;
}

std::vector<parcel> line_maker::welcome(connection_id id, const hello& theirs) {
  links_.welcome(id, theirs.id, now());
  const auto& l = links_.at(id);
  guests_.add(theirs.id, id);
  network_->belongs(id, theirs.id, theirs.run);
  const bool dialled = l.dialled && !relaying_transport::is_circuit(id);
  if (dialled)
    memory_.answered(l.remote, theirs.seen_host);
  if (l.punched)
    punches_.end(theirs.id); // It has come to what it was for.
  else if (dialled && roster_)
    self_->send(roster_, dial_succeeded{l.remote, theirs.id});
  go_on(theirs.id, true);
  return parked_.take(theirs.id);
}

// ---- guests -----------------------------------------------------------------

void line_maker::parted(const peer_id& who) {
  punches_.end(who);
  for (auto id : guests_.parted(who))
    network_->close(id);
}

void line_maker::leave() {
  leaving_ = true;
  for (auto id : links_.strangers())
    network_->close(id, 0);
}

// ---- time -------------------------------------------------------------------

void line_maker::watch() {
  if (std::exchange(ticking_, true))
    return;
  self_->delayed_send(self_, limits::handshake_check, tick{});
}

void line_maker::look() {
  ticking_ = false;
  hurry();
  for (auto id : links_.overdue(now()))
    network_->close(id, 0);
  if (!links_.strangers().empty())
    watch();
}

} // namespace potluck
