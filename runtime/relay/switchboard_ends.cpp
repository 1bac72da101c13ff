/// The switchboard's circuits that end here.
#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/relay/switchboard.hpp"

namespace potluck {

namespace {

using guard = std::unique_lock<std::mutex>;

} // namespace

relaying_transport::switchboard::circuits::iterator
relaying_transport::switchboard::add(connection_id hub, std::uint32_t number,
                                     bool here) {
  const auto id = next_++;
  places_[{hub, number, here}] = id;
  circuit x;
  x.hub = hub;
  x.number = number;
  x.opened_here = here;
  x.since = now_();
  x.end = std::make_unique<circuit_end>(here, make_);
  return circuits_.emplace(id, std::move(x)).first;
}

relaying_transport::switchboard::circuits::iterator
relaying_transport::switchboard::at(connection_id from, std::uint32_t number,
                                    bool opened_here) {
  // What its sender opened, we did not.
  auto found = places_.find({from, number, !opened_here});
  return found == places_.end() ? circuits_.end()
                                : circuits_.find(found->second);
}

connection_id relaying_transport::switchboard::dial_through(connection_id hub,
                                                            const peer_id& to) {
  guard lock{mutex_};
  if (stopped_)
    return next_++;
  if (lines_.count(hub) == 0) {
    const auto id = next_++;
    later(
        [to = to_, id] { to->on_closed(id, "the line to the hub has ended"); });
    work(lock);
    return id;
  }
  auto fresh = add(hub, desk_.next_number(hub), true);
  const auto id = fresh->first;
  put(hub, circuit_open{fresh->second.number, to});
  tell(fresh, fresh->second.end->begin());
  work(lock);
  return id;
}

std::string
relaying_transport::switchboard::objection(line& from,
                                           const std::string& home) {
  if (!from.opens.take(now_()))
    return "circuits come faster than this peer takes them";
  if (from.ends >= limits::circuits_a_line || came_ >= limits::circuits_here)
    return "too many circuits lead to this peer";
  if (const auto at = came_from_.find(home);
      at != came_from_.end() && at->second >= limits::circuits_of_a_home)
    return "too many circuits lead from your network to this peer";
  return "";
}

void relaying_transport::switchboard::tell(circuits::iterator x,
                                           circuit_end::news news) {
  const auto id = x->first;
  if (news.proven) {
    const bool here = x->second.opened_here;
    if (!here && !news.proven->empty() && *news.proven != x->second.opener)
      return end(x, "another peer than the hub named opened the circuit", true);
    x->second.told = true;
    later([to = to_, id, here, seen = address{x->second.host, 0},
           who = *news.proven] {
      here ? to->on_connected(id, seen, who) : to->on_accepted(id, seen, who);
    });
  }
  if (x->second.until)
    news.frames.clear(); // Nobody reads it any more.
  for (auto& frame : news.frames)
    later([to = to_, id, frame = std::move(frame)]() mutable {
      to->on_frame(id, std::move(frame));
    });
  flush(x);
  if (!news.over.empty())
    end(x, news.over, true);
}

void relaying_transport::switchboard::flush(circuits::iterator x) {
  auto& it = x->second;
  for (auto piece = it.end->next(); !piece.empty(); piece = it.end->next()) {
    auto owner = std::make_shared<std::vector<std::uint8_t>>(std::move(piece));
    const auto* bytes = owner->data();
    const auto size = owner->size();
    put(it.hub, circuit_data{it.number, it.opened_here},
        {std::move(owner), bytes, size});
  }
}

void relaying_transport::switchboard::drain(circuits::iterator x) {
  flush(x);
  if (x->second.until && x->second.end->drained())
    end(x, "closed here", true);
}

bool relaying_transport::switchboard::end_late() {
  const auto now = now_();
  std::vector<connection_id> late;
  bool waits = false;
  for (auto& [id, x] : circuits_)
    if (x.until || !(x.opened_here || x.told)) {
      const auto last = x.until.value_or(x.since + limits::circuit_patience);
      if (now >= last)
        late.push_back(id);
      else
        waits = true;
    }
  for (auto id : late) {
    auto x = circuits_.find(id);
    end(x,
        x->second.until ? "closed here" : "nobody has proven anything in time",
        true);
  }
  return waits;
}

void relaying_transport::switchboard::end(circuits::iterator x,
                                          const std::string& reason,
                                          bool tell_hub) {
  const auto id = x->first;
  auto& it = x->second;
  if (tell_hub)
    put(it.hub, circuit_close{it.number, it.opened_here, reason});
  if (!it.opened_here) {
    --lines_.at(it.hub).ends;
    --came_;
    if (const auto from = came_from_.find(it.home); --from->second == 0)
      came_from_.erase(from);
  }
  // One that came and proved nothing nobody has heard of.
  if (it.opened_here || it.told)
    later([to = to_, id, reason] { to->on_closed(id, reason); });
  places_.erase({it.hub, it.number, it.opened_here});
  circuits_.erase(x);
}

void relaying_transport::switchboard::send(connection_id id,
                                           outgoing_frame frame) {
  guard lock{mutex_};
  auto x = circuits_.find(id);
  if (x == circuits_.end() || x->second.until)
    return;
  if (auto problem = x->second.end->push(std::move(frame)); !problem.empty())
    end(x, problem, true);
  else
    flush(x);
  work(lock);
}

void relaying_transport::switchboard::close(connection_id id,
                                            std::uint32_t linger_ms) {
  guard lock{mutex_};
  auto x = circuits_.find(id);
  if (x == circuits_.end())
    return;
  auto& it = x->second;
  const auto until = now_() + std::chrono::milliseconds{linger_ms};
  if (!it.until)
    it.end->finish();
  it.until = it.until ? std::min(*it.until, until) : until;
  if (linger_ms == 0 || !it.end->open()) {
    end(x, "closed here", true);
  } else {
    drain(x);
    look_later();
  }
  work(lock);
}

} // namespace potluck
