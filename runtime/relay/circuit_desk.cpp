#include "runtime/relay/circuit_desk.hpp"

#include <algorithm>
#include <utility>

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

circuit_desk::sendings circuit_desk::welcome(connection_id on,
                                             const std::string& run) {
  if (!guests_.welcome(on))
    return {};
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
  guests_.gone(on);
  return out;
}

// ---- opening and closing ----------------------------------------------------

std::string circuit_desk::objection(connection_id on, const peer_id& asker,
                                    const peer_id& to, time_point now) {
  if (!guests_.asks(asker, now))
    return "this hub was asked for too many circuits by this peer";
  if (to == asker)
    return "a circuit to oneself leads nowhere";
  const auto there = guests_.newest_of(to);
  if (!there)
    return "peer " + short_name(to) + " is not connected with this hub";
  const auto& ours = lines_[on].run;
  if (ours && ours != lines_[*there].run)
    return another_run;
  if (!admitted(on, *there))
    return not_admitted;
  if (rests_)
    return "this hub carries no circuits at present";
  if (between(asker, to) >= limits::circuits_a_pair)
    return "the two peers have enough circuits through this hub";
  return guests_.objection(asker, to, budget_.circuits);
}

bool circuit_desk::admitted(connection_id a, connection_id b) const {
  if (!admits_)
    return true;
  const auto& of_a = lines_.at(a).run;
  const auto& of_b = lines_.at(b).run;
  const auto& run = of_a ? of_a : of_b;
  return run && admits_(guests_.at(a)->who, *run)
         && admits_(guests_.at(b)->who, *run);
}

std::size_t circuit_desk::between(const peer_id& x, const peer_id& y) const {
  std::size_t result = 0;
  for (auto on : guests_.connections_of(x))
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
  guests_.add(at, who);
}

circuit_desk::sendings
circuit_desk::open(connection_id from, const circuit_open& x, time_point now) {
  const auto* asker = guests_.at(from);
  if (asker == nullptr)
    return {{from, closing(x.circuit, false,
                           "this hub does not know yet whom it talks to")}};
  const auto who = asker->who;
  auto why = objection(from, who, x.peer, now);
  sendings out;
  if (why.empty() && circuits() >= budget_.circuits) {
    const std::string full = "this hub carries as many circuits as it can";
    if (const auto other = guests_.gives_way_to(who))
      out = cut(*other, "it made room for others: " + full);
    else
      why = full;
  }
  if (!why.empty())
    return {{from, closing(x.circuit, false, why)}};
  const auto to = *guests_.newest_of(x.peer);
  const place near{from, x.circuit, true};
  const place far{to, next_number(to), false};
  auto rate = std::make_shared<token_bucket>(limits::circuit_rate,
                                             limits::circuit_burst);
  add(near, far, who, rate);
  add(far, near, x.peer, rate);
  out.push_back({to, circuit_open{far.number, who, asker->host}});
  out.push_back(
      {from, circuit_open{x.circuit, x.peer, guests_.at(to)->host, true}});
  return out;
}

void circuit_desk::remove(const place& at) {
  auto forget = [this](const place& x) {
    auto found = at_.find(x);
    guests_.remove(x, found->second.who);
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
  auto& sender = guests_.rate_of(it.who);
  const auto left = sender.available(now);
  if (left < -limits::sender_debt)
    return cut(at, "one of the two peers sends far more than it may");
  it.credit -= cost;
  it.owed += cost;
  it.rate->spend(cost);
  sender.spend(cost);
  guests_.prefix_rate_of(it.who).spend(cost);
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
  auto& sender = guests_.rate_of(x.who);
  auto& house = guests_.prefix_rate_of(x.who);
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
