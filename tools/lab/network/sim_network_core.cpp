#include "tools/lab/network/sim_network_core.hpp"

#include <algorithm>
#include <cmath>

#include "tools/lab/network/aligned_copy.hpp"
#include "tools/lab/network/prefetch.hpp"

namespace potluck {

namespace {

constexpr double packet_bytes = 1400;
/// What the framing and the packets' headers add to a frame.
constexpr std::size_t frame_overhead = 60;
/// As kernels have it: at least so long, and twice the round trip.
constexpr duration shortest_retransmission = std::chrono::milliseconds{200};
constexpr duration dial_timeout = std::chrono::seconds{10};
/// Frames of up to a packet pass what other connections have to send, as in
/// `upload_turns`, but for this much of it, which is in the line already. No
/// more waits for a downlink: what stands there in a router's queue makes its
/// senders slow down.
constexpr std::size_t small_frame = 1448;
constexpr duration queue_in_the_line = std::chrono::milliseconds{250};
/// At most so much later than its turn comes a frame that is overtaken.
constexpr duration longest_detour = std::chrono::milliseconds{50};

duration time_for(std::size_t bytes, double rate) {
  if (rate <= 0)
    return duration{0};
  auto seconds = static_cast<double>(bytes) / rate;
  return duration{static_cast<duration::rep>(std::llround(seconds * 1e9))};
}

std::size_t size_of(const outgoing_frame& x) {
  return x.head.size() + x.body.size + frame_overhead;
}

bool passes_others(const outgoing_frame& x, std::size_t bytes) {
  return x.body.size == 0 && bytes <= small_frame;
}

} // namespace

sim_network::core::host sim_network::core::machine_of(const std::string& name) {
  auto& x = machines[name];
  if (!x) {
    x = std::make_shared<machine>();
    x->name = name;
    x->number = by_number.size();
    by_number.push_back(x.get());
    delays.insert(x->access.delay);
  }
  return x;
}

void sim_network::core::set_line(machine& x, const line& how) {
  delays.erase(delays.find(x.access.delay));
  delays.insert(how.delay);
  x.access = how;
}

bool sim_network::core::parted(const machine& a, const machine& b) const {
  // Both inside of a partition, or both outside of it, can talk.
  return &a != &b && a.partitions != b.partitions;
}

bool sim_network::core::estranged(const machine& a, const machine& b) const {
  const auto& x = a.estrangements;
  const auto& y = b.estrangements;
  return &a != &b && std::any_of(x.begin(), x.end(), [&](auto number) {
    return y.count(number) != 0;
  });
}

void sim_network::core::reconcile(std::uint64_t estrangement) {
  for (auto& [name, x] : machines)
    x->estrangements.erase(estrangement);
}

duration sim_network::core::one_way(const machine& a, const machine& b) {
  if (&a == &b)
    return duration{0};
  auto spread = a.access.jitter + b.access.jitter;
  auto jitter = spread.count() > 0 ? duration{static_cast<duration::rep>(
                    chance.below(static_cast<std::uint64_t>(spread.count())))}
                                   : duration{0};
  return a.access.delay + b.access.delay + jitter;
}

void sim_network::core::hand_over(const host& x, std::function<void()> what) {
  if (x->frozen) {
    x->frozen_mail.push_back(std::move(what));
    return;
  }
  if (before)
    before(x->number);
  if (turns)
    x->inbox.emplace_back(now, std::move(what));
  else
    what();
}

void sim_network::core::thaw(machine& x) {
  x.frozen = false;
  auto mail = std::move(x.frozen_mail);
  x.frozen_mail.clear();
  auto it = machine_of(x.name);
  for (auto& what : mail)
    hand_over(it, std::move(what));
}

void sim_network::core::ask(machine& x, std::function<void()> what,
                            const surroundings& where) {
  if (x.in_turn)
    x.deeds.push_back({x.moment, std::move(what), where});
  else
    what();
}

void sim_network::core::surroundings::look_ahead() const {
  if (line)
    prefetch(line, sizeof(*line));
  if (host)
    prefetch(host, sizeof(*host));
}

expected<address> sim_network::core::listen(const end& x,
                                            const address& where) {
  std::lock_guard guard{ports};
  const auto& host = x->on->name;
  auto port = where.port;
  if (port == 0)
    for (port = 1000; listening.count({host, port});)
      ++port;
  if (!listening.emplace(address{host, port}, x).second)
    return failure{"Cannot listen on " + to_string(where)
                   + ": the address is in use; choose another port."};
  x->port = port;
  return address{where.host, port};
}

void sim_network::core::stop_listening(const end& x) {
  std::lock_guard guard{ports};
  auto found = listening.find({x->on->name, x->port});
  if (found != listening.end() && found->second == x)
    listening.erase(found);
}

void sim_network::core::read_again(machine& x) {
  x.deaf = false;
  auto mail = std::move(x.unread);
  x.unread.clear();
  for (auto& what : mail)
    what();
}

// ---- connections
// ------------------------------------------------------------------

void sim_network::core::notify(const line_ptr& c, int to,
                               std::function<void()> what) {
  auto& s = c->sides[to];
  s.last_due = std::max(s.last_due, now + one_way(*c->sides[1 - to].on, *s.on));
  later(s.last_due, [this, c, to, what = std::move(what)]() mutable {
    pass(c, to, std::move(what));
  });
}

void sim_network::core::pass(const line_ptr& c, int to,
                             std::function<void()> what) {
  if (held_up(*c, to))
    c->sides[to].held.push_back(std::move(what));
  else
    what();
}

bool sim_network::core::held_up(const connection& c, int to) const {
  return !c.sides[to].held.empty() || parted(*c.sides[0].on, *c.sides[1].on);
}

void sim_network::core::reunite(std::uint64_t partition) {
  for (auto& [name, x] : machines)
    x->partitions.erase(partition);
  for (auto& [name, x] : machines)
    for (auto& weak : x->endpoints)
      if (auto y = weak.lock())
        send_again(*y);
}

void sim_network::core::send_again(endpoint& x) {
  for (auto& [id, value] : x.lines) {
    auto& [c, which] = value;
    auto& s = c->sides[which];
    if (s.held.empty() || parted(*c->sides[0].on, *c->sides[1].on))
      continue;
    // Retransmissions find their way again, in order.
    s.last_due = std::max(s.last_due, now + shortest_retransmission);
    later(s.last_due, [c = c, which = which] {
      auto held = std::move(c->sides[which].held);
      c->sides[which].held.clear();
      for (auto& what : held)
        what();
    });
  }
}

void sim_network::core::close_side(const line_ptr& c, int which,
                                   const std::string& reason) {
  auto& s = c->sides[which];
  if (s.closed || !s.owner)
    return;
  s.closed = true;
  if (c->open)
    --open;
  c->open = false;
  s.owner->lines.erase(s.id);
  if (s.owner->listener)
    hand_over(s.on, [owner = s.owner, id = s.id, reason] {
      if (owner->listener)
        owner->listener->on_closed(id, reason);
    });
}

void sim_network::core::dial(const end& from, connection_id id,
                             const address& where) {
  auto c = std::make_shared<connection>();
  c->from = {from->on->name, ++from->on->next_port};
  c->to = where;
  c->sides[0].owner = from;
  c->sides[0].on = from->on;
  c->sides[0].id = id;
  auto there = machines.find(where.host);
  c->sides[1].on = there == machines.end() ? nowhere : there->second;
  from->lines[id] = {c, 0};
  auto way = one_way(*from->on, *c->sides[1].on);
  later(now + way, [this, c] { arrive(c); });
}

void sim_network::core::arrive(const line_ptr& c) {
  auto& dialler = c->sides[0];
  auto& s = c->sides[1];
  auto nobody = s.on->running == 0 && &*s.on != &*dialler.on;
  if (parted(*dialler.on, *s.on) || estranged(*dialler.on, *s.on) || s.on->nat
      || nobody) {
    later(now + dial_timeout,
          [this, c] { close_side(c, 0, "the connection attempt timed out"); });
    return;
  }
  auto found = listening.find(c->to);
  if (found == listening.end()) {
    notify(c, 0, [this, c] { close_side(c, 0, "connection refused"); });
    return;
  }
  if (dialler.closing || dialler.closed)
    return;
  s.owner = found->second;
  s.id = s.owner->next_id++;
  s.owner->lines[s.id] = {c, 1};
  c->open = true;
  ++open;
  hand_over(s.on, [c] {
    auto& side = c->sides[1];
    if (side.owner->listener)
      side.owner->listener->on_accepted(side.id, c->from,
                                        c->sides[0].owner->who);
  });
  notify(c, 0, [this, c] {
    if (!c->sides[0].closed)
      hand_over(c->sides[0].on, [c] {
        auto& side = c->sides[0];
        if (side.owner->listener && !side.closed)
          side.owner->listener->on_connected(side.id, c->to,
                                             c->sides[1].owner->who);
      });
  });
}

void sim_network::core::send(const line_ptr& c, int side,
                             outgoing_frame frame) {
  const auto& from = c->sides[side];
  if (from.closing || from.closed || frame.head.empty()
      || frame.head.size() > max_head_bytes || frame.body.size > max_body_bytes)
    return;
  if (see)
    see(from.on->name, frame);
  if (!from.on->forge) {
    transmit(c, side, std::move(frame));
    return;
  }
  for (auto& x : from.on->forge(c->sides[1 - side].on->name, std::move(frame)))
    transmit(c, side, std::move(x));
}

void sim_network::core::transmit(const line_ptr& c, int from,
                                 outgoing_frame frame) {
  auto& a = *c->sides[from].on;
  auto& s = c->sides[1 - from];
  auto& b = *s.on;
  const auto& up = a.access;
  auto bytes = size_of(frame);
  ++totals.frames;
  totals.bytes += bytes;
  auto sending = time_for(bytes, up.upload);
  a.uplink_free = std::max(a.uplink_free, now) + sending;
  auto left = a.uplink_free;
  if (passes_others(frame, bytes))
    left = std::min(left,
                    std::max(now + queue_in_the_line, s.last_left) + sending);
  s.last_left = left;
  auto arrival = left + one_way(a, b);
  auto loss = 1 - (1 - up.loss) * (1 - b.access.loss);
  if (loss > 0) {
    auto packets = std::ceil(static_cast<double>(bytes) / packet_bytes);
    if (chance.uniform01() >= std::pow(1 - loss, packets)) {
      ++totals.lost_packets;
      arrival += std::max(shortest_retransmission,
                          4 * (a.access.delay + b.access.delay));
    }
  }
  auto happens = [&](double here, double there) {
    auto p = 1 - (1 - here) * (1 - there);
    return p > 0 && chance.uniform01() < p;
  };
  auto copies = 1;
  if (happens(up.duplicate, b.access.duplicate)) {
    ++totals.duplicated;
    copies = 2;
  }
  std::optional<preamble> announced;
  if (happens(up.corrupt, b.access.corrupt)) {
    ++totals.corrupted;
    announced = preamble_for(frame.head.data(), frame.head.size(),
                             frame.body.data, frame.body.size);
    auto bit = chance.below((frame.head.size() + frame.body.size) * 8);
    auto flip = static_cast<std::uint8_t>(1u << bit % 8);
    if (bit / 8 < frame.head.size()) {
      frame.head[bit / 8] ^= flip;
    } else {
      frame.body = aligned_copy(frame.body);
      const_cast<std::uint8_t*>(frame.body.data)[bit / 8 - frame.head.size()]
          ^= flip;
    }
  }
  auto overtaken = happens(up.reorder, b.access.reorder);
  if (overtaken)
    ++totals.reordered;
  auto sent = std::make_shared<on_the_way>();
  *sent = {std::move(frame), bytes, announced};
  for (int i = 0; i < copies; ++i) {
    auto at = std::max(arrival, s.last_due);
    if (overtaken)
      at += duration{static_cast<duration::rep>(
          chance.below(static_cast<std::uint64_t>(longest_detour.count())))};
    else
      s.last_due = at;
    s.queued += bytes;
    in_flight += bytes;
    totals.highest_queue = std::max(totals.highest_queue, s.queued);
    later(at,
          [this, c, from, left, sent] {
            auto& to = c->sides[1 - from];
            to.queued -= sent->bytes;
            in_flight -= sent->bytes;
            if (left > c->sides[from].died)
              return; // It never left the dead process's memory.
            if (held_up(*c, 1 - from))
              to.held.push_back(
                  [this, c, from, sent] { come_down(c, 1 - from, sent); });
            else
              come_down(c, 1 - from, sent);
          },
          {&*c, &b});
  }
}

void sim_network::core::come_down(const line_ptr& c, int to,
                                  const frame_ptr& x) {
  auto& s = c->sides[to];
  auto& on = *s.on;
  auto coming = time_for(x->bytes, on.access.download);
  on.downlink_free = std::max(on.downlink_free, now) + coming;
  auto done = on.downlink_free;
  if (passes_others(x->frame, x->bytes))
    done = std::min(done,
                    std::max(now + queue_in_the_line, s.last_down) + coming);
  s.last_down = done;
  if (done <= now)
    receive(c, to, x);
  else
    later(done, [this, c, to, x] { receive(c, to, x); }, {&*c, &on});
}

void sim_network::core::receive(const line_ptr& c, int to, const frame_ptr& x) {
  auto& s = c->sides[to];
  if (!s.owner)
    return;
  if (s.owner->stopped) {
    // Nobody holds this end any more. The machine says so, if it runs.
    if (s.on->running > 0 || !s.closed)
      notify(c, 1 - to,
             [this, c, to] { close_side(c, 1 - to, "connection reset"); });
    return;
  }
  if (s.on->deaf)
    s.on->unread.push_back([this, c, to, x] { hand_in(c, to, x); });
  else
    hand_in(c, to, x);
}

void sim_network::core::hand_in(const line_ptr& c, int to, const frame_ptr& x) {
  auto& s = c->sides[to];
  if (s.closed || s.closing || s.owner->stopped)
    return;
  if (x->announced
      && !intact(*x->announced, x->frame.head.data(), x->frame.body.data)) {
    close_side(c, to, "corrupt frame: bits changed on the way");
    notify(c, 1 - to,
           [this, c, to] { close_side(c, 1 - to, "connection reset"); });
    return;
  }
  hand_over(s.on, [c, to, x] {
    auto& frame = x->frame;
    auto& side = c->sides[to];
    auto& owner = *side.owner;
    if (side.closing || owner.closing.count(side.id) || !owner.listener)
      return;
    owner.traffic.bytes_received += frame.head.size() + frame.body.size;
    owner.listener->on_frame(side.id, {frame.head, aligned_copy(frame.body)});
  });
}

void sim_network::core::close(const end& from, connection_id id) {
  from->closing.erase(id);
  auto found = from->lines.find(id);
  if (found == from->lines.end())
    return;
  auto [c, side] = found->second;
  if (c->sides[side].closing)
    return;
  c->sides[side].closing = true;
  notify(c, 1 - side, [this, c = c, to = 1 - side] {
    close_side(c, to, "the other side closed");
  });
  later(now, [this, c = c, side = side] {
    close_side(c, side, "closed by this side");
  });
}

void sim_network::core::stop(const end& x, bool crashed, bool silent) {
  if (x->stopped)
    return;
  x->stopped = true;
  --x->on->running;
  stop_listening(x);
  auto lines = std::move(x->lines);
  x->lines.clear();
  for (auto& [id, value] : lines) {
    auto& [c, side] = value;
    auto& s = c->sides[side];
    if (crashed)
      s.died = now;
    if (!silent)
      notify(c, 1 - side, [this, c = c, to = 1 - side, crashed] {
        close_side(c, to,
                   crashed ? "connection reset" : "the other side closed");
      });
    s.closed = true;
    if (c->open)
      --open;
    c->open = false;
    if (!crashed && x->listener)
      x->listener->on_closed(id, "stopped");
  }
  x->listener.reset();
}

void sim_network::core::cut(const host& x,
                            const std::function<bool(const machine&)>& from) {
  for (auto& weak : x->endpoints) {
    auto y = weak.lock();
    if (!y || y->stopped)
      continue;
    auto lines = y->lines;
    for (auto& [id, value] : lines) {
      if (from && !from(*value.first->sides[1 - value.second].on))
        continue;
      close_side(value.first, value.second, "the line broke");
      notify(value.first, 1 - value.second,
             [this, c = value.first, to = 1 - value.second] {
               close_side(c, to, "the line broke");
             });
    }
  }
}

} // namespace potluck
