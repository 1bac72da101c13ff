#include "tools/lab/network/sim_streams.hpp"

#include <algorithm>

#include "tools/lab/network/aligned_copy.hpp"

namespace potluck {

namespace {

/// What the framing and the packets' headers add to a frame.
constexpr std::size_t frame_overhead = 60;
/// What partitions held up is sent again so long after they ended.
constexpr duration next_retransmission = std::chrono::milliseconds{200};
/// Frames of up to a packet without a body pass what other connections have to
/// send, as in `upload_turns`.
constexpr std::size_t small_frame = 1448;
/// How long transports gather what they tell of traffic.
constexpr duration traffic_interval = std::chrono::milliseconds{100};

time_point moment(duration x) {
  return time_point{x};
}

void flip(outgoing_frame& x, std::size_t bit) {
  auto mask = static_cast<std::uint8_t>(1u << bit % 8);
  if (bit / 8 < x.head.size()) {
    x.head[bit / 8] ^= mask;
  } else {
    x.body = aligned_copy(x.body);
    const_cast<std::uint8_t*>(x.body.data)[bit / 8 - x.head.size()] ^= mask;
  }
}

} // namespace

sim_streams::sim_streams(sim_agenda& agenda, line_emulator& lines,
                         sim_hosts& hosts)
    : agenda_{agenda}, lines_{lines}, hosts_{hosts} {
}

void sim_streams::corrupt(const sim_host& x, sim_network::forger how) {
  if (how)
    forgers_[&x] = std::move(how);
  else
    forgers_.erase(&x);
}

void sim_streams::read_again(sim_host& x) {
  for (auto& what : x.take_unread())
    what();
}

// ---- connections -----------------------------------------------------------

void sim_streams::send_again() {
  for (auto* x : hosts_.all())
    for (auto& weak : x->endpoints)
      if (auto y = weak.lock())
        send_held(*y);
}

void sim_streams::send_held(sim_endpoint& x) {
  for (auto& [id, value] : x.lines) {
    auto& [c, which] = value;
    auto& s = c->sides[which];
    if (s.held.empty() || parted(*c))
      continue;
    // Retransmissions find their way again, in order.
    s.coming.due
        = std::max(s.coming.due, moment(agenda_.now() + next_retransmission));
    agenda_.later(s.coming.due.time_since_epoch(), [c = c, which = which] {
      for (auto& what : std::exchange(c->sides[which].held, {}))
        what();
    });
  }
}

void sim_streams::notify(const line& c, int to, std::function<void()> what) {
  if (!routers_carry(*c))
    return;
  auto& s = c->sides[to];
  s.coming.due = std::max(
      s.coming.due,
      moment(agenda_.now() + hosts_.way(*c->sides[1 - to].on, *s.on)));
  agenda_.later(s.coming.due.time_since_epoch(),
                [this, c, to, what = std::move(what)]() mutable {
                  pass(c, to, std::move(what));
                });
}

void sim_streams::notify_closed(const line& c, int to,
                                const std::string& reason) {
  notify(c, to, [this, c, to, reason] { close_side(c, to, reason); });
}

void sim_streams::pass(const line& c, int to, std::function<void()> what) {
  if (!c->sides[to].held.empty() || parted(*c))
    c->sides[to].held.push_back(std::move(what));
  else
    what();
}

void sim_streams::no_longer_open(sim_connection& c) {
  open_ -= c.open;
  c.open = false;
}

void sim_streams::close_side(const line& c, int which,
                             const std::string& reason) {
  auto& s = c->sides[which];
  if (s.closed || !s.owner)
    return;
  s.closed = true;
  no_longer_open(*c);
  s.owner->lines.erase(s.id);
  s.owner->strangers.ended(s.id, time_point{agenda_.now()});
  if (s.owner->listener)
    hosts_.hand_over(*s.on, [owner = s.owner, id = s.id, reason] {
      if (owner->listener)
        owner->listener->on_closed(id, reason);
    });
}

bool sim_streams::routers_carry(sim_connection& c) {
  for (auto which : {0, 1})
    if (auto& s = c.sides[which];
        s.router
        && !s.router->carries(agenda_.now(), s.outside,
                              which == 0 ? c.to : c.from))
      c.lost = true;
  return !c.lost;
}

// ---- ending ----------------------------------------------------------------

void sim_streams::close(const end& from, connection_id id) {
  from->closing.erase(id);
  auto found = from->lines.find(id);
  if (found == from->lines.end())
    return;
  auto [c, side] = found->second;
  if (std::exchange(c->sides[side].closing, true))
    return;
  notify_closed(c, 1 - side, "the other side closed");
  agenda_.later(agenda_.now(), [this, c = c, side = side] {
    close_side(c, side, "closed by this side");
  });
}

void sim_streams::trust(const end& from, connection_id id) {
  from->strangers.trusts(id);
  if (auto found = from->lines.find(id); found != from->lines.end())
    found->second.first->sides[found->second.second].meets_stranger = false;
}

void sim_streams::part_with(const end& by,
                            const stranger_desk::departure& who) {
  by->strangers.ended(who.id, time_point{agenda_.now()});
  const auto found = by->lines.find(who.id);
  if (found == by->lines.end())
    return;
  const auto [c, side] = found->second;
  notify_closed(c, 1 - side, "the other side closed");
  close_side(c, side, who.reason);
}

void sim_streams::count_unread(const line& c, int from) {
  auto& side = c->sides[from];
  if (!side.meets_stranger || side.closed || !side.owner)
    return;
  const auto by = side.owner;
  const auto& to = c->sides[1 - from];
  by->strangers.unread(side.id, c->from.host, to.letters, to.queued);
  while (auto gone = by->strangers.reads_too_little())
    part_with(by, *gone);
}

void sim_streams::stop(const end& x, bool crashed, bool silent) {
  if (std::exchange(x->stopped, true))
    return;
  --x->on->running;
  ports_.close({x->on->name(), x->port}, x);
  for (auto& [id, value] : std::exchange(x->lines, {})) {
    auto& [c, side] = value;
    auto& s = c->sides[side];
    if (crashed)
      s.died = agenda_.now();
    if (!silent)
      notify_closed(c, 1 - side,
                    crashed ? "connection reset" : "the other side closed");
    s.closed = true;
    no_longer_open(*c);
    if (!crashed && x->listener)
      x->listener->on_closed(id, "stopped");
  }
  x->listener.reset();
}

void sim_streams::cut(const sim_host& x,
                      const std::function<bool(const sim_host&)>& from) {
  for (auto& weak : x.endpoints) {
    auto y = weak.lock();
    if (!y || y->stopped)
      continue;
    auto lines = y->lines;
    for (auto& [id, value] : lines) {
      auto& [c, side] = value;
      if (from && !from(*c->sides[1 - side].on))
        continue;
      close_side(c, side, "the line broke");
      notify_closed(c, 1 - side, "the line broke");
    }
  }
}

// ---- frames ----------------------------------------------------------------

void sim_streams::send(const line& c, int side, outgoing_frame frame) {
  const auto& from = c->sides[side];
  if (from.closing || from.closed || !hosts_.exists(*c->sides[1 - side].on)
      || frame.head.empty() || frame.head.size() > max_head_bytes
      || frame.body.size > max_body_bytes)
    return;
  if (see_)
    see_(from.on->name(), frame);
  auto forger = forgers_.empty() ? forgers_.end() : forgers_.find(&*from.on);
  if (forger == forgers_.end()) {
    transmit(c, side, std::move(frame));
    return;
  }
  for (auto& x :
       forger->second(c->sides[1 - side].on->name(), std::move(frame)))
    transmit(c, side, std::move(x));
}

void sim_streams::transmit(const line& c, int from, outgoing_frame frame) {
  if (!routers_carry(*c))
    return;
  auto& s = c->sides[1 - from];
  auto x = std::make_shared<on_the_way>();
  auto& parcel = x->parcel;
  parcel.from = c->sides[from].on->number();
  parcel.to = s.on->number();
  parcel.bytes = frame.head.size() + frame.body.size + frame_overhead;
  parcel.bits = (frame.head.size() + frame.body.size) * 8;
  parcel.urgent = frame.body.size == 0 && parcel.bytes <= small_frame;
  const auto how = lines_.send(moment(agenda_.now()), parcel, s.coming);
  if (how.flipped) {
    x->announced = preamble_for(frame.head.data(), frame.head.size(),
                                frame.body.data, frame.body.size);
    flip(frame, *how.flipped);
  }
  x->frame = std::move(frame);
  for (unsigned i = 0; i < how.copies; ++i) {
    s.queued += parcel.bytes;
    s.letters += x->letter_bytes();
    highest_queue_ = std::max(highest_queue_, s.queued);
    count_unread(c, from);
    agenda_.later(
        how.arrives.time_since_epoch(),
        [this, c, from, left = how.left.time_since_epoch(), x = frame_ptr{x}] {
          auto& to = c->sides[1 - from];
          to.queued -= x->parcel.bytes;
          to.letters -= x->letter_bytes();
          count_unread(c, from);
          if (left > c->sides[from].died)
            return; // It never left the dead process's memory.
          pass(c, 1 - from, [this, c, from, x] { come_down(c, 1 - from, x); });
        });
  }
}

void sim_streams::come_down(const line& c, int to, const frame_ptr& x) {
  auto& s = c->sides[to];
  const auto now = agenda_.now();
  const auto done = lines_.come_down(moment(now), x->parcel, s.coming)
                        ->time_since_epoch(); // Streams drop nothing.
  if (done <= now)
    receive(c, to, x);
  else
    agenda_.later(done, [this, c, to, x] { receive(c, to, x); });
}

void sim_streams::receive(const line& c, int to, const frame_ptr& x) {
  auto& s = c->sides[to];
  if (!s.owner)
    return;
  if (s.owner->stopped) {
    // Nobody holds this end any more. The machine says so, if it runs.
    if (s.on->running > 0 || !s.closed)
      notify_closed(c, 1 - to, "connection reset");
    return;
  }
  if (lines_.line_of(s.on->number()).deaf) {
    // A window's worth of it is in the receiver's kernel, the rest at the
    // sender's: it counts as queued.
    s.queued += x->parcel.bytes;
    s.letters += x->letter_bytes();
    highest_queue_ = std::max(highest_queue_, s.queued);
    count_unread(c, 1 - to);
    s.on->keep_unread([this, c, to, x] {
      c->sides[to].queued -= x->parcel.bytes;
      c->sides[to].letters -= x->letter_bytes();
      count_unread(c, 1 - to);
      hand_in(c, to, x);
    });
    return;
  }
  hand_in(c, to, x);
}

void sim_streams::hand_in(const line& c, int to, const frame_ptr& x) {
  auto& s = c->sides[to];
  if (s.closed || s.closing || s.owner->stopped)
    return;
  if (x->announced
      && !intact(*x->announced, x->frame.head.data(), x->frame.body.data)) {
    close_side(c, to, "corrupt frame: bits changed on the way");
    notify_closed(c, 1 - to, "connection reset");
    return;
  }
  if (x->frame.body.size > small_frame)
    count_passed(s.owner, s.id, x->parcel.bytes);
  hosts_.hand_over(*s.on, [c, to, x] {
    auto& frame = x->frame;
    auto& side = c->sides[to];
    auto& owner = *side.owner;
    if (side.closing || owner.closing.count(side.id) || !owner.listener)
      return;
    owner.traffic.bytes_received += frame.head.size() + frame.body.size;
    owner.listener->on_frame(side.id, {frame.head, aligned_copy(frame.body)});
  });
}

void sim_streams::count_passed(const end& by, connection_id id,
                               std::uint64_t bytes) {
  if (by->passed.empty())
    agenda_.later(agenda_.now() + traffic_interval, [this, by] {
      hosts_.hand_over(*by->on, [by, all = std::exchange(by->passed, {})] {
        if (by->listener)
          by->listener->on_traffic(traffic_interval, all);
      });
    });
  for (auto& x : by->passed)
    if (x.id == id) {
      x.received += bytes;
      return;
    }
  by->passed.push_back({id, 0, bytes, false, duration{0}});
}

} // namespace potluck
