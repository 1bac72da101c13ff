#include "runtime/relay/circuit_desk.hpp"

#include <arpa/inet.h>

#include <utility>

namespace potluck {

namespace {

circuit_close closing(std::uint32_t number, bool opened_here,
                      const std::string& reason) {
  return {number, opened_here, reason};
}

} // namespace

std::string prefix_of(const std::string& host) {
  in6_addr wide{};
  if (inet_pton(AF_INET6, host.c_str(), &wide) == 1)
    return {reinterpret_cast<const char*>(wide.s6_addr), 6};
  in_addr narrow{};
  if (inet_pton(AF_INET, host.c_str(), &narrow) == 1)
    return {reinterpret_cast<const char*>(&narrow.s_addr), 3};
  return host;
}

// ---- who is there -----------------------------------------------------------

bool circuit_desk::take_number(connection_id on, std::uint32_t number) {
  auto& last = numbers_[on].theirs;
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
    ++prefixes_[g.prefix].guests;
  }
  g.connections.insert(on);
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
  numbers_.erase(on);
  auto whose = whose_.find(on);
  if (whose == whose_.end())
    return out;
  auto g = guests_.find(whose->second.who);
  whose_.erase(whose);
  g->second.connections.erase(on);
  if (g->second.connections.empty()) {
    auto house = prefixes_.find(g->second.prefix);
    if (--house->second.guests == 0)
      prefixes_.erase(house);
    guests_.erase(g);
  }
  return out;
}

// ---- opening and closing ----------------------------------------------------

std::string circuit_desk::objection(guest& from, const peer_id& asker,
                                    const peer_id& to, time_point now) {
  if (!from.opens.take(now))
    return "this hub was asked for too many circuits by this peer";
  if (to == asker)
    return "a circuit to oneself leads nowhere";
  auto there = guests_.find(to);
  if (there == guests_.end())
    return "peer " + short_name(to) + " is not connected with this hub";
  if (from.circuits >= limits::circuits_a_peer
      || there->second.circuits >= limits::circuits_a_peer)
    return "one of the two peers has too many circuits through this hub";
  const auto here = from.prefix == there->second.prefix ? 2 : 1;
  if (prefixes_[from.prefix].ends + here > limits::ends_a_prefix
      || prefixes_[there->second.prefix].ends + here > limits::ends_a_prefix)
    return "the network of one of the two peers has too many circuits through "
           "this hub";
  if (circuits() >= limits::circuits_in_all)
    return "this hub carries as many circuits as it can";
  return "";
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
  ++prefixes_[g.prefix].ends;
}

circuit_desk::sendings
circuit_desk::open(connection_id from, const circuit_open& x, time_point now) {
  auto asker = whose_.find(from);
  if (asker == whose_.end())
    return {{from, closing(x.circuit, false,
                           "this hub does not know yet whom it talks to")}};
  const auto who = asker->second.who;
  auto why = objection(guests_.at(who), who, x.peer, now);
  if (!why.empty())
    return {{from, closing(x.circuit, false, why)}};
  // The oldest connection: a newer one may be a mere try.
  const auto to = *guests_.at(x.peer).connections.begin();
  const place near{from, x.circuit, true};
  const place far{to, next_number(to), false};
  auto rate = std::make_shared<token_bucket>(limits::circuit_rate,
                                             limits::circuit_burst);
  add(near, far, who, rate);
  add(far, near, x.peer, rate);
  return {{to, circuit_open{far.number, who, asker->second.host}},
          {from, circuit_open{x.circuit, x.peer, whose_.at(to).host, true}}};
}

void circuit_desk::remove(const place& at) {
  auto forget = [this](const place& x) {
    auto found = at_.find(x);
    auto& g = guests_.at(found->second.who);
    --g.circuits;
    --prefixes_.at(g.prefix).ends;
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

circuit_desk::sendings circuit_desk::pass(connection_id from,
                                          const circuit_data& x,
                                          const shared_bytes& body) {
  const place at{from, x.circuit, x.opened_here};
  auto found = at_.find(at);
  if (found == at_.end())
    return {}; // It was closed meanwhile.
  auto& it = found->second;
  if (body.size > it.credit)
    return cut(at, "an end of the circuit sent more than it may");
  if (*held_ + body.size > limits::circuits_held)
    return cut(at, "this hub holds as many bytes as it can");
  const auto cost = static_cast<double>(body.size) + limits::circuit_frame_cost;
  it.credit -= static_cast<std::uint32_t>(body.size);
  it.owed += static_cast<std::uint32_t>(body.size);
  it.rate->spend(cost);
  guests_.at(it.who).rate.spend(cost);
  rate_.spend(cost);

  // A copy: what came must not keep its connection from being read.
  auto copy = std::make_unique<std::vector<std::uint8_t>>(
      body.data, body.data + body.size);
  const auto* bytes = copy->data();
  *it.held += body.size;
  *held_ += body.size;
  auto taken = [here = it.held, all = held_,
                size = body.size](const std::vector<std::uint8_t>* gone) {
    delete gone;
    *here -= size;
    *all -= size;
  };
  shared_bytes passed{
      std::shared_ptr<const std::vector<std::uint8_t>>{copy.release(), taken},
      bytes, body.size};
  const auto& other = it.other;
  sendings out{{other.on, circuit_data{other.number, !other.opened_there},
                std::move(passed)}};
  if (it.owed >= limits::credit_portion)
    owing_.insert(at);
  return out;
}

void circuit_desk::settle(const place& at, time_point now, sendings& out) {
  auto& x = at_.at(at);
  auto& sender = guests_.at(x.who).rate;
  const auto waits = static_cast<std::uint32_t>(*x.held);
  if (x.owed < waits + limits::credit_portion || x.rate->available(now) < 0
      || sender.available(now) < 0 || rate_.available(now) < 0)
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
