#include "runtime/membership/own_reach.hpp"

#include <algorithm>
#include <tuple>

#include "runtime/dialable.hpp"
#include "runtime/random.hpp"

namespace potluck {

bool own_reach::changes() {
  const auto before = told_;
  told_ = votes_.reachable();
  return told_ != before;
}

std::string own_reach::sentence(const address& where) const {
  if (told_)
    return "others can connect to this peer at " + to_string(where);
  return "others cannot connect to this peer at " + to_string(where)
         + (own_ == role::expert ? ", so they cannot call its experts"
                                 : ", so it averages nothing for them")
         + "; forward a port and name it with --announce HOST:PORT";
}

std::optional<peer_id> own_reach::ask(const address& where, bool decided,
                                      bool contributes,
                                      const guest_book& guests,
                                      time_point now) {
  // A bootstrap peer is told of by its user. A contributor is dialled by nobody
  // that could not do without, but plans count those that could not average:
  // one answer is enough for it.
  const bool matters = own_ == role::trainer
                           ? decided && (!contributes || !told_ || !found_out_)
                           : own_ != role::bootstrap;
  if (!matters)
    return std::nullopt;
  if (where != where_) {
    if (!where_.host.empty())
      votes_.moved();
    found_out_ = false;
    where_ = where;
  }
  if (!votes_.asks(now))
    return std::nullopt;
  // Those of its own house come last.
  std::vector<std::tuple<bool, std::uint64_t, peer_id>> order;
  for (auto& [id, g] : guests.all())
    if (!g.contributes && !g.relayed)
      order.emplace_back(is_local(g.who.where.host), mix(seed_, seed_of(id)),
                         id);
  std::sort(order.begin(), order.end());
  std::vector<peer_id> candidates;
  std::set<std::string> hosts; // A vote each.
  for (auto& [local, chance, id] : order)
    if (hosts.insert(guests.find(id)->who.where.host).second)
      candidates.push_back(id);
  auto whom = votes_.ask(candidates, now);
  // Those that were asked may be all that there are.
  found_out_ = found_out_ || !whom;
  return whom;
}

void own_reach::answered(const peer_id& from, bool reached, time_point now) {
  votes_.answered(from, reached, now);
  found_out_ = found_out_ || reached;
}

} // namespace potluck
