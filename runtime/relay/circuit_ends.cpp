#include "runtime/relay/circuit_ends.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/strangers/home_of.hpp"
#include "runtime/strangers/limits.hpp"

namespace potluck {

namespace {

constexpr home_allowance::bounds opens{
    limits::opens_per_second, limits::opens_at_once,
    limits::opens_of_all,     limits::opens_of_all_at_once,
    limits::opens_per_second, limits::opens_at_once};

} // namespace

circuit_ends::circuit_ends(connection_id first, stream_maker make, listener& to)
    : next_(first), make_(std::move(make)), to_(to), opens_(opens) {
}

// ---- how they begin ---------------------------------------------------------

circuit_ends::circuits::iterator circuit_ends::add(connection_id hub,
                                                   std::uint32_t number,
                                                   bool here, time_point now) {
  const auto id = next_++;
  places_[{hub, number, here}] = id;
  circuit x;
  x.hub = hub;
  x.number = number;
  x.opened_here = here;
  x.since = now;
  x.end = std::make_unique<circuit_end>(here, make_);
  return all_.emplace(id, std::move(x)).first;
}

circuit_ends::circuits::iterator
circuit_ends::at(connection_id hub, std::uint32_t number, bool here) {
  auto found = places_.find({hub, number, here});
  return found == places_.end() ? all_.end() : all_.find(found->second);
}

connection_id circuit_ends::open(connection_id hub, std::uint32_t number,
                                 const peer_id& to, time_point now) {
  auto fresh = add(hub, number, true, now);
  const auto id = fresh->first;
  to_.to_hub(hub, circuit_open{number, to}, {});
  tell(fresh, fresh->second.end->begin());
  return id;
}

bool circuit_ends::answered(connection_id hub, const circuit_open& x) {
  auto it = at(hub, x.circuit, true);
  if (it == all_.end())
    return false;
  if (it->second.host.empty())
    it->second.host = x.host;
  return true;
}

bool circuit_ends::come(connection_id hub, const std::string& at,
                        const circuit_open& x, time_point now) {
  const auto home = home_of(x.host);
  if (auto why = objection(hub, at, home, now); !why.empty()) {
    to_.to_hub(hub, circuit_close{x.circuit, false, why}, {});
    return false;
  }
  ++lines_[hub];
  auto fresh = add(hub, x.circuit, false, now);
  came_.add(fresh->first, home);
  fresh->second.host = x.host;
  fresh->second.opener = x.peer;
  tell(fresh, fresh->second.end->begin());
  return true;
}

std::string circuit_ends::objection(connection_id hub, const std::string& at,
                                    const std::string& home, time_point now) {
  // Each costs a handshake. Lines cost nothing: their home pays.
  if (!opens_.spend(at, 1, now))
    return "circuits come faster than this peer takes them";
  const std::string too_many = "too many circuits lead to this peer";
  if (const auto line = lines_.find(hub);
      line != lines_.end() && line->second >= limits::circuits_a_line)
    return too_many;
  if (came_.of(home) >= limits::circuits_of_a_home)
    return "too many circuits lead from your network to this peer";
  if (came_.size() >= limits::circuits_here) {
    const auto other = came_.gives_way_to(home);
    if (!other)
      return too_many;
    end(all_.find(*other), "it made room for others: " + too_many, true);
  }
  return "";
}

// ---- what passes ------------------------------------------------------------

bool circuit_ends::take(connection_id hub, const circuit_data& x,
                        const shared_bytes& body) {
  // What its sender opened, we did not.
  auto it = at(hub, x.circuit, !x.opened_here);
  if (it == all_.end())
    return false;
  tell(it, it->second.end->take(body));
  return true;
}

bool circuit_ends::grant(connection_id hub, const circuit_credit& x) {
  auto it = at(hub, x.circuit, !x.opened_here);
  if (it == all_.end())
    return false;
  if (it->second.end->grant(x.bytes))
    drain(it);
  else
    end(it, "the hub gave more credit than there is", true);
  return true;
}

void circuit_ends::tell(circuits::iterator x, circuit_end::news news) {
  const auto id = x->first;
  auto& it = x->second;
  if (news.proven) {
    if (!it.opened_here && !news.proven->empty() && *news.proven != it.opener)
      return end(x, "another peer than the hub named opened the circuit", true);
    it.told = true;
    to_.circuit_opened(id, it.opened_here, address{it.host, 0}, *news.proven);
  }
  if (it.until)
    news.frames.clear(); // Nobody reads it any more.
  for (auto& frame : news.frames)
    to_.circuit_brought(id, std::move(frame));
  flush(x);
  if (!news.over.empty())
    return end(x, news.over, true);
  weigh(x);
}

void circuit_ends::weigh(circuits::iterator x) {
  const auto begun = x->second.end->begun();
  large_ -= x->second.large;
  x->second.large = begun > limits::small_frame_bytes ? begun : 0;
  large_ += x->second.large;
  if (large_ <= limits::circuits_large_frames)
    return;
  const auto most = std::max_element(all_.begin(), all_.end(),
                                     [](const auto& a, const auto& b) {
                                       return a.second.large < b.second.large;
                                     });
  end(most, "it made room for others: too much comes by circuits at once",
      true);
}

void circuit_ends::flush(circuits::iterator x) {
  auto& it = x->second;
  for (auto piece = it.end->next(); !piece.empty(); piece = it.end->next()) {
    auto owner = std::make_shared<std::vector<std::uint8_t>>(std::move(piece));
    const auto* bytes = owner->data();
    const auto size = owner->size();
    to_.to_hub(it.hub, circuit_data{it.number, it.opened_here},
               {std::move(owner), bytes, size});
  }
}

void circuit_ends::drain(circuits::iterator x) {
  flush(x);
  if (x->second.until && x->second.end->drained())
    end(x, "closed here", true);
}

void circuit_ends::send(connection_id id, outgoing_frame frame) {
  auto x = all_.find(id);
  if (x == all_.end() || x->second.until)
    return;
  if (auto problem = x->second.end->push(std::move(frame)); !problem.empty())
    end(x, problem, true);
  else
    flush(x);
}

// ---- how they end -----------------------------------------------------------

void circuit_ends::end(circuits::iterator x, const std::string& reason,
                       bool tell_hub) {
  const auto id = x->first;
  auto& it = x->second;
  if (tell_hub)
    to_.to_hub(it.hub, circuit_close{it.number, it.opened_here, reason}, {});
  if (!it.opened_here) {
    if (const auto line = lines_.find(it.hub); --line->second == 0)
      lines_.erase(line);
    came_.remove(id);
  }
  // One that came and proved nothing nobody has heard of.
  if (it.opened_here || it.told)
    to_.circuit_ended(id, reason);
  large_ -= it.large;
  places_.erase({it.hub, it.number, it.opened_here});
  all_.erase(x);
}

bool circuit_ends::closed(connection_id hub, const circuit_close& x) {
  auto it = at(hub, x.circuit, !x.opened_here);
  if (it == all_.end())
    return false;
  end(it, x.reason.empty() ? "the other side closed the circuit" : x.reason,
      false);
  return true;
}

void circuit_ends::repeats(connection_id hub, std::uint32_t number) {
  if (auto old = at(hub, number, false); old != all_.end())
    end(old, "the hub used a circuit's number twice", false);
}

void circuit_ends::lose(connection_id hub, const std::string& reason) {
  std::vector<connection_id> lost;
  for (auto& [id, x] : all_)
    if (x.hub == hub)
      lost.push_back(id);
  for (auto id : lost)
    end(all_.find(id), "the line to the hub ended: " + reason, false);
}

bool circuit_ends::close(connection_id id, time_point until, time_point now) {
  auto x = all_.find(id);
  if (x == all_.end())
    return false;
  auto& it = x->second;
  if (!it.until)
    it.end->finish();
  it.until = it.until ? std::min(*it.until, until) : until;
  if (until <= now || !it.end->open()) {
    end(x, "closed here", true);
    return false;
  }
  drain(x);
  return true;
}

bool circuit_ends::end_late(time_point now) {
  std::vector<connection_id> late;
  bool waits = false;
  for (auto& [id, x] : all_)
    if (x.until || !(x.opened_here || x.told)) {
      const auto last = x.until.value_or(x.since + limits::circuit_patience);
      if (now >= last)
        late.push_back(id);
      else
        waits = true;
    }
  for (auto id : late) {
    auto x = all_.find(id);
    end(x,
        x->second.until ? "closed here" : "nobody has proven anything in time",
        true);
  }
  return waits;
}

void circuit_ends::end_all(const std::string& reason) {
  while (!all_.empty())
    end(all_.begin(), reason, false);
}

} // namespace potluck
