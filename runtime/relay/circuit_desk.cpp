#include "runtime/relay/circuit_desk.hpp"

#include <algorithm>
#include <utility>

#include "runtime/strangers/home_of.hpp"

namespace potluck {

namespace {

circuit_close closing(std::uint32_t number, bool opened_here,
                      const std::string& reason) {
  return {number, opened_here, reason};
}

const std::string another_run = "the two peers are not of one run";
const std::string not_admitted
    = "this hub passes circuits on only between peers that their run has "
      "admitted";

} // namespace

// ---- who is there -----------------------------------------------------------

bool circuit_desk::take_number(connection_id on, std::uint32_t number) {
  auto& last = lines_[on].theirs;
  if (number <= last)
    return false;
  last = number;
  return true;
}

void circuit_desk::met(connection_id on, const peer_id& who,
                       const std::string& host) {
  if (!whose_.emplace(on, caller{who, host}).second)
    return;
  auto& g = guests_[who];
  if (g.connections.empty()) {
    g.prefix = prefix_of(host);
    g.home = home_of(host);
    ++prefixes_[g.prefix].guests;
  }
  g.connections.insert(on);
}

circuit_desk::sendings circuit_desk::welcome(connection_id on,
                                             const std::string& run) {
  auto whose = whose_.find(on);
  if (whose == whose_.end())
    return {};
  guests_.at(whose->second.who).welcome.push_back(on);
  lines_[on].run = run;
  // It may have asked before its hello was read.
  std::vector<place> astray;
  for (auto at = at_.lower_bound({on, 0, false});
       at != at_.end() && at->first.on == on; ++at)
    if (lines_[at->second.other.on].run != run)
      astray.push_back(at->first);
  sendings out;
  for (auto& at : astray)
    for (auto& x : cut(at, another_run))
      out.push_back(std::move(x));
  return out;
}

circuit_desk::sendings circuit_desk::gone(connection_id on) {
  sendings out;
  for (;;) {
    auto at = at_.lower_bound({on, 0, false});
    if (at == at_.end() || at->first.on != on)
      break;
    const auto other = at->second.other;
    out.push_back({other.on, closing(other.number, !other.opened_there,
                                     "the other end left the hub")});
    remove(at->first);
  }
  lines_.erase(on);
  auto whose = whose_.find(on);
  if (whose == whose_.end())
    return out;
  auto g = guests_.find(whose->second.who);
  whose_.erase(whose);
  g->second.connections.erase(on);
  auto& welcome = g->second.welcome;
  welcome.erase(std::remove(welcome.begin(), welcome.end(), on), welcome.end());
  if (g->second.connections.empty()) {
    auto house = prefixes_.find(g->second.prefix);
    if (--house->second.guests == 0)
      prefixes_.erase(house);
    guests_.erase(g);
  }
  return out;
}

// ---- opening and closing ----------------------------------------------------

std::string circuit_desk::objection(connection_id on, guest& from,
                                    const peer_id& asker, const peer_id& to,
                                    time_point now) {
  if (!from.opens.take(now))
    return "this hub was asked for too many circuits by this peer";
  if (to == asker)
    return "a circuit to oneself leads nowhere";
  auto there = guests_.find(to);
  if (there == guests_.end() || there->second.welcome.empty())
    return "peer " + short_name(to) + " is not connected with this hub";
  const auto& ours = lines_[on].run;
  if (ours && ours != lines_[there->second.welcome.back()].run)
    return another_run;
  if (!admitted(on, there->second.welcome.back()))
    return not_admitted;
  if (rests_)
    return "this hub carries no circuits at present";
  if (between(from, to) >= limits::circuits_a_pair)
    return "the two peers have enough circuits through this hub";
  if (from.circuits >= limits::circuits_a_peer
      || there->second.circuits >= limits::circuits_a_peer)
    return "one of the two peers has too many circuits through this hub";
  const auto here = from.prefix == there->second.prefix ? 2 : 1;
  if (prefixes_[from.prefix].ends + here > limits::ends_a_prefix
      || prefixes_[there->second.prefix].ends + here > limits::ends_a_prefix)
    return "the network of one of the two peers has too many circuits through "
           "this hub";
  const auto may_ask = [this](std::size_t part) {
    return std::max(budget_.circuits / part, limits::openers_least);
  };
  const auto at_home = opened_.find(from.home);
  if (prefixes_[from.prefix].opened >= may_ask(limits::openers_prefix_part)
      || (at_home != opened_.end()
          && at_home->second.size() >= may_ask(limits::openers_home_part)))
    return "your network has asked this hub for as many circuits as it may";
  return "";
}

std::optional<circuit_desk::place>
circuit_desk::gives_way_to(const std::string& home) const {
  const auto fullest = std::max_element(
      opened_.begin(), opened_.end(), [](const auto& a, const auto& b) {
        return a.second.size() < b.second.size();
      });
  const auto mine = opened_.find(home);
  const auto least = (mine == opened_.end() ? 0 : mine->second.size()) + 1;
  if (fullest == opened_.end() || fullest->second.size() <= least)
    return std::nullopt;
  return fullest->second.begin()->second;
}

bool circuit_desk::admitted(connection_id a, connection_id b) const {
  if (!admits_)
    return true;
  const auto& of_a = lines_.at(a).run;
  const auto& of_b = lines_.at(b).run;
  const auto& run = of_a ? of_a : of_b;
  return run && admits_(whose_.at(a).who, *run)
         && admits_(whose_.at(b).who, *run);
}

std::size_t circuit_desk::between(const guest& x, const peer_id& y) const {
  std::size_t result = 0;
  for (auto on : x.connections)
    for (auto at = at_.lower_bound({on, 0, false});
         at != at_.end() && at->first.on == on; ++at)
      result += at_.at(at->second.other).who == y;
  return result;
}

void circuit_desk::add(const place& at, const place& other, const peer_id& who,
                       const std::shared_ptr<token_bucket>& rate) {
  auto& x = at_[at];
  x.who = who;
  x.other = other;
  x.held = std::make_shared<std::atomic<std::size_t>>(0);
  x.rate = rate;
  auto& g = guests_.at(who);
  ++g.circuits;
  auto& house = prefixes_[g.prefix];
  ++house.ends;
  if (at.opened_there) {
    ++house.opened;
    x.turn = ++turns_;
    opened_[g.home].emplace(x.turn, at);
  }
}

circuit_desk::sendings
circuit_desk::open(connection_id from, const circuit_open& x, time_point now) {
  auto asker = whose_.find(from);
  if (asker == whose_.end())
    return {{from, closing(x.circuit, false,
                           "this hub does not know yet whom it talks to")}};
  const auto who = asker->second.who;
  auto why = objection(from, guests_.at(who), who, x.peer, now);
  sendings out;
  if (why.empty() && circuits() >= budget_.circuits) {
    const std::string full = "this hub carries as many circuits as it can";
    if (const auto other = gives_way_to(guests_.at(who).home))
      out = cut(*other, "it made room for others: " + full);
    else
      why = full;
  }
  if (!why.empty())
    return {{from, closing(x.circuit, false, why)}};
  // An older connection may be dead, unnoticed.
  const auto to = guests_.at(x.peer).welcome.back();
  const place near{from, x.circuit, true};
  const place far{to, next_number(to), false};
  auto rate = std::make_shared<token_bucket>(limits::circuit_rate,
                                             limits::circuit_burst);
  add(near, far, who, rate);
  add(far, near, x.peer, rate);
  out.push_back({to, circuit_open{far.number, who, asker->second.host}});
  out.push_back(
      {from, circuit_open{x.circuit, x.peer, whose_.at(to).host, true}});
  return out;
}

void circuit_desk::remove(const place& at) {
  auto forget = [this](const place& x) {
    auto found = at_.find(x);
    auto& g = guests_.at(found->second.who);
    --g.circuits;
    auto& house = prefixes_.at(g.prefix);
    --house.ends;
    if (x.opened_there) {
      --house.opened;
      const auto asked = opened_.find(g.home);
      asked->second.erase(found->second.turn);
      if (asked->second.empty())
        opened_.erase(asked);
    }
    owing_.erase(x);
    at_.erase(found);
  };
  const auto first = at;
  const auto other = at_.at(first).other;
  forget(first);
  forget(other);
}

circuit_desk::sendings circuit_desk::cut(const place& at,
                                         const std::string& reason) {
  const auto first = at;
  const auto other = at_.at(first).other;
  sendings out{{first.on, closing(first.number, !first.opened_there, reason)},
               {other.on, closing(other.number, !other.opened_there, reason)}};
  remove(first);
  return out;
}

circuit_desk::sendings circuit_desk::close(connection_id from,
                                           const circuit_close& x) {
  const place at{from, x.circuit, x.opened_here};
  auto found = at_.find(at);
  if (found == at_.end())
    return {}; // It crossed ours.
  const auto other = found->second.other;
  sendings out{
      {other.on, closing(other.number, !other.opened_there, x.reason)}};
  remove(at);
  return out;
}

// ---- passing on -------------------------------------------------------------

connection_id circuit_desk::slowest() const {
  return std::max_element(
             lines_.begin(), lines_.end(),
             [](auto& x, auto& y) { return *x.second.held < *y.second.held; })
      ->first;
}

circuit_desk::sendings circuit_desk::pass(connection_id from,
                                          const circuit_data& x,
                                          const shared_bytes& body,
                                          time_point now) {
  const place at{from, x.circuit, x.opened_here};
  auto found = at_.find(at);
  if (found == at_.end())
    return {}; // It was closed meanwhile.
  auto& it = found->second;
  const auto cost
      = static_cast<std::uint32_t>(body.size) + limits::circuit_frame_cost;
  if (cost > it.credit)
    return cut(at, "an end of the circuit sent more than it may");
  // An admission may have ended meanwhile.
  if (!admitted(from, it.other.on))
    return cut(at, not_admitted);
  auto& line = lines_[it.other.on];
  if (*line.held + cost > limits::circuits_held_a_line)
    return cut(at, "one of the two peers does not read");
  sendings out;
  if (*held_ + cost > budget_.held)
    out.push_back({slowest(), {}, {}, true});
  auto& guest = guests_.at(it.who);
  auto& sender = guest.rate;
  const auto left = sender.available(now);
  if (left < -limits::sender_debt)
    return cut(at, "one of the two peers sends far more than it may");
  it.credit -= cost;
  it.owed += cost;
  it.rate->spend(cost);
  sender.spend(cost);
  prefixes_.at(guest.prefix).rate.spend(cost);
  // What is beyond its own budget is no other guest's loss.
  if (left > 0)
    rate_.spend(cost);

  // A copy: what came must not keep its connection from being read.
  auto copy = std::make_unique<std::vector<std::uint8_t>>(
      body.data, body.data + body.size);
  const auto* bytes = copy->data();
  *it.held += cost;
  *line.held += cost;
  *held_ += cost;
  auto taken = [here = it.held, there = line.held, all = held_,
                cost](const std::vector<std::uint8_t>* gone) {
    delete gone;
    *here -= cost;
    *there -= cost;
    *all -= cost;
  };
  shared_bytes passed{
      std::shared_ptr<const std::vector<std::uint8_t>>{copy.release(), taken},
      bytes, body.size};
  const auto& other = it.other;
  out.push_back({other.on, circuit_data{other.number, !other.opened_there},
                 std::move(passed)});
  if (it.owed >= limits::credit_portion)
    owing_.insert(at);
  return out;
}

void circuit_desk::settle(const place& at, time_point now, sendings& out) {
  auto& x = at_.at(at);
  auto& guest = guests_.at(x.who);
  auto& sender = guest.rate;
  auto& house = prefixes_.at(guest.prefix).rate;
  const auto waits = static_cast<std::uint32_t>(*x.held);
  if (x.owed < waits + limits::credit_portion || x.rate->available(now) < 0
      || sender.available(now) < 0 || house.available(now) < 0
      || rate_.available(now) < 0)
    return;
  const auto back = x.owed - waits;
  x.owed -= back;
  x.credit += back;
  if (x.owed < limits::credit_portion)
    owing_.erase(at);
  out.push_back({at.on, circuit_credit{at.number, !at.opened_there, back}});
}

circuit_desk::sendings circuit_desk::look(time_point now) {
  sendings out;
  for (auto& at : std::set<place>{owing_})
    settle(at, now, out);
  return out;
}

} // namespace potluck
