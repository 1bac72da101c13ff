// How connections of the simulated network begin.

#include <algorithm>

#include "tools/lab/network/sim_streams.hpp"

namespace potluck {

namespace {

constexpr duration dial_timeout = std::chrono::seconds{10};
/// For which a hole is tried, and how often.
constexpr duration punch_patience = std::chrono::seconds{5};
constexpr duration between_punches = std::chrono::milliseconds{150};

} // namespace

sim_streams::line sim_streams::make_line(const end& from, connection_id id,
                                         const address& to,
                                         std::uint16_t port) {
  auto c = std::make_shared<sim_connection>();
  c->local = {from->on->name(), port};
  c->to = to;
  c->sides[0].owner = from;
  c->sides[0].on = from->on;
  c->sides[0].id = id;
  from->lines[id] = {c, 0};
  return c;
}

void sim_streams::dial(const end& from, connection_id id,
                       const address& where) {
  knock(make_line(from, id, where, from->on->fresh_port()));
}

void sim_streams::knock(const line& c) {
  auto& dialler = c->sides[0];
  auto door = hosts_.door_of(*dialler.on, c->to.host);
  c->from = c->local;
  if (auto& router = dialler.on->router;
      router && router != door.machine->router) {
    if (auto seen = router->open(agenda_.now(), c->local, c->to)) {
      c->from = *seen;
      dialler.router = router;
      dialler.outside = seen->port;
    } else {
      door = hosts_.nowhere();
    }
  }
  c->sides[1].on = door.machine;
  agenda_.later(agenda_.now() + hosts_.way(*dialler.on, *door.machine),
                [this, c, router = door.router] { arrive(c, router); });
}

bool sim_streams::reaches(const sim_connection& c) const {
  const auto& from = *c.sides[0].on;
  const auto& there = *c.sides[1].on;
  return (there.running > 0 || &there == &from) && !parted(c)
         && !hosts_.estranged(from, there);
}

void sim_streams::nobody_there(const line& c) {
  if (!c->punches)
    agenda_.later(agenda_.now() + dial_timeout, [this, c] {
      close_side(c, 0, "the connection attempt timed out");
    });
}

void sim_streams::arrive(const line& c,
                         const std::shared_ptr<home_router>& by) {
  auto& dialler = c->sides[0];
  auto& there = c->sides[1];
  if (dialler.closed || dialler.closing || there.owner)
    return;
  auto to = c->to;
  if (by) {
    auto inside = by->admit(agenda_.now(), c->to.port, c->from);
    if (!inside) {
      nobody_there(c);
      return;
    }
    to = *inside;
    there.on = hosts_.find(to.host);
    there.router = by;
    there.outside = c->to.port;
  }
  if (!reaches(*c)) {
    nobody_there(c);
    return;
  }
  auto found = ports_.at(to);
  if (found && c->punches)
    for (auto& [id, value] : found->lines)
      if (auto& other = value.first; other->punches && other->to == c->from
                                     && other != c && !other->sides[1].owner
                                     && !other->sides[0].closing) {
        meet(c, other);
        return;
      }
  if (found)
    accept(c, found);
  else if (!c->punches)
    notify_closed(c, 0, "connection refused");
}

void sim_streams::open_between(const line& c, const end& by, connection_id id) {
  auto& s = c->sides[1];
  s.owner = by;
  s.id = id;
  by->lines[id] = {c, 1};
  c->open = true;
  ++open_;
}

void sim_streams::tell_connected(const line& c, int which) {
  hosts_.hand_over(*c->sides[which].on, [c, which] {
    auto& side = c->sides[which];
    if (side.owner->listener && !side.closed)
      side.owner->listener->on_connected(side.id, which == 0 ? c->to : c->from,
                                         c->sides[1 - which].owner->who);
  });
}

void sim_streams::accept(const line& c, const end& by) {
  if (!c->begins)
    return; // Each would wait for the other's first word.
  const auto& host = c->from.host;
  if (!by->strangers.may_knock(host, time_point{agenda_.now()})) {
    notify_closed(c, 0, "the other side closed");
    return;
  }
  open_between(c, by, by->next_id++);
  c->sides[1].meets_stranger = true;
  by->strangers.proved(c->sides[1].id, host, time_point{agenda_.now()});
  hosts_.hand_over(*c->sides[1].on, [c] {
    auto& side = c->sides[1];
    if (side.owner->listener)
      side.owner->listener->on_accepted(side.id, c->from,
                                        c->sides[0].owner->who);
  });
  while (auto gone = by->strangers.one_too_many())
    part_with(by, *gone);
  notify(c, 0, [this, c] {
    if (!c->sides[0].closed)
      tell_connected(c, 0);
  });
}

// ---- punching --------------------------------------------------------------

void sim_streams::punch(const end& from, connection_id id, const address& at,
                        bool begins) {
  auto c = make_line(from, id, at, from->port);
  c->punches = true;
  c->begins = begins;
  if (from->port == 0)
    close_side(c, 0, "this peer listens nowhere");
  punch_on(c, agenda_.now() + punch_patience);
}

void sim_streams::punch_on(const line& c, duration until) {
  auto& s = c->sides[0];
  if (s.closed || s.closing || c->sides[1].owner)
    return;
  const auto& lines = s.owner->lines;
  const auto taken = std::any_of(lines.begin(), lines.end(), [&](auto& x) {
    auto& [other, side] = x.second;
    return side == 1 ? other->from == c->to
                     : other->punches && other->open && other->to == c->to;
  });
  if (taken || agenda_.now() >= until) {
    close_side(c, 0,
               taken ? "this address is connected already"
                     : "no hole could be punched");
    return;
  }
  knock(c);
  agenda_.later(agenda_.now() + between_punches,
                [this, c, until] { punch_on(c, until); });
}

void sim_streams::meet(const line& c, line other) {
  auto& theirs = other->sides[0];
  if (c->begins == other->begins) {
    const auto why = "not exactly one side began the encryption";
    close_side(c, 0, why);
    close_side(other, 0, why);
    return;
  }
  theirs.closed = true;
  open_between(c, theirs.owner, theirs.id);
  tell_connected(c, 1);
  notify(c, 0, [this, c] {
    if (!c->sides[0].closed)
      tell_connected(c, 0);
  });
}

} // namespace potluck
