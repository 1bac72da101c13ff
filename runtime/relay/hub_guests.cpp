#include "runtime/relay/hub_guests.hpp"

#include <algorithm>

#include "runtime/strangers/home_of.hpp"

namespace potluck {

// ---- who is there -----------------------------------------------------------

void hub_guests::met(connection_id on, const peer_id& who,
                     const std::string& host) {
  if (!whose_.emplace(on, caller{who, host}).second)
    return;
  auto& g = guests_[who];
  if (g.connections.empty()) {
    g.prefix = prefix_of(host);
    g.home = home_of(host);
    const auto [house, is_new] = prefixes_.try_emplace(g.prefix);
    if (house->second.guests++ == 0 && !is_new)
      left_.erase(house->second.left);
  }
  g.connections.insert(on);
}

bool hub_guests::welcome(connection_id on) {
  const auto whose = whose_.find(on);
  if (whose == whose_.end())
    return false;
  guests_.at(whose->second.who).welcome.push_back(on);
  return true;
}

void hub_guests::gone(connection_id on) {
  const auto whose = whose_.find(on);
  if (whose == whose_.end())
    return;
  const auto g = guests_.find(whose->second.who);
  whose_.erase(whose);
  g->second.connections.erase(on);
  auto& welcome = g->second.welcome;
  welcome.erase(std::remove(welcome.begin(), welcome.end(), on), welcome.end());
  if (g->second.connections.empty()) {
    leave(g->second.prefix);
    guests_.erase(g);
  }
}

/// What its peers have used stays used: they would leave and come back else.
void hub_guests::leave(const std::string& prefix) {
  auto& house = prefixes_.at(prefix);
  if (--house.guests > 0)
    return;
  house.left = left_.insert(left_.end(), prefix);
  if (left_.size() > limits::prefixes_left) {
    prefixes_.erase(left_.front());
    left_.pop_front();
  }
}

const hub_guests::caller* hub_guests::at(connection_id on) const {
  const auto whose = whose_.find(on);
  return whose == whose_.end() ? nullptr : &whose->second;
}

std::optional<connection_id> hub_guests::newest_of(const peer_id& who) const {
  const auto g = guests_.find(who);
  if (g == guests_.end() || g->second.welcome.empty())
    return std::nullopt;
  return g->second.welcome.back();
}

const std::set<connection_id>&
hub_guests::connections_of(const peer_id& who) const {
  return guests_.at(who).connections;
}

// ---- what they have ---------------------------------------------------------

bool hub_guests::asks(const peer_id& who, time_point now) {
  return guests_.at(who).opens.take(now);
}

std::string hub_guests::objection(const peer_id& asker, const peer_id& to,
                                  std::size_t most) const {
  const auto& from = guests_.at(asker);
  const auto& there = guests_.at(to);
  if (from.circuits >= limits::circuits_a_peer
      || there.circuits >= limits::circuits_a_peer)
    return "one of the two peers has too many circuits through this hub";
  const auto here = from.prefix == there.prefix ? 2 : 1;
  const auto& prefix = prefixes_.at(from.prefix);
  if (prefix.ends + here > limits::ends_a_prefix
      || prefixes_.at(there.prefix).ends + here > limits::ends_a_prefix)
    return "the network of one of the two peers has too many circuits through "
           "this hub";
  const auto may_ask = [most](std::size_t part) {
    return std::max(most / part, limits::openers_least);
  };
  if (prefix.opened >= may_ask(limits::openers_prefix_part)
      || opened_.of(from.home) >= may_ask(limits::openers_home_part))
    return "your network has asked this hub for as many circuits as it may";
  return "";
}

std::optional<circuit_place>
hub_guests::gives_way_to(const peer_id& asker) const {
  return opened_.gives_way_to(guests_.at(asker).home);
}

void hub_guests::add(const circuit_place& at, const peer_id& who) {
  auto& g = guests_.at(who);
  ++g.circuits;
  auto& house = prefixes_.at(g.prefix);
  ++house.ends;
  if (at.opened_there) {
    ++house.opened;
    opened_.add(at, g.home);
  }
}

void hub_guests::remove(const circuit_place& at, const peer_id& who) {
  auto& g = guests_.at(who);
  --g.circuits;
  auto& house = prefixes_.at(g.prefix);
  --house.ends;
  if (at.opened_there) {
    --house.opened;
    opened_.remove(at);
  }
}

token_bucket& hub_guests::rate_of(const peer_id& who) {
  return guests_.at(who).rate;
}

token_bucket& hub_guests::prefix_rate_of(const peer_id& who) {
  return prefixes_.at(guests_.at(who).prefix).rate;
}

} // namespace potluck
