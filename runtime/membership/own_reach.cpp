#include "runtime/membership/own_reach.hpp"

#include <algorithm>
#include <tuple>

#include "runtime/dialable.hpp"
#include "runtime/random.hpp"

namespace potluck {

bool own_reach::changes() {
  const auto before = told_;
  told_.reachable = votes_.reachable();
  told_.kind = !told_.reachable       ? router_.kind()
               : !votes_.is_certain() ? reach::unknown
               : mapped_              ? reach::mapped
                                      : reach::open;
  return told_.reachable != before.reachable || told_.kind != before.kind;
}

std::string own_reach::sentence(const address& where) const {
  if (told_.reachable)
    return "others can connect to this peer at " + to_string(where)
           + (told_.kind == reach::mapped ? ", where its router let it open a "
                                            "port"
                                          : "");
  std::string router;
  if (told_.kind == reach::cone)
    router = "; its router shows everybody the same port of it, so they may "
             "still meet halfway";
  else if (told_.kind == reach::symmetric)
    router = "; its router shows everybody another port of it";
  return "others cannot connect to this peer at " + to_string(where)
         + (own_ == role::expert ? ", so they cannot call its experts"
                                 : ", so it averages nothing for them")
         + router + "; forward a port, and set announce to its HOST:PORT";
}

std::optional<own_reach::question>
own_reach::ask(const address& where, bool mapped, bool decided,
               bool contributes, const guest_book& guests, time_point now) {
  // A bootstrap peer is told of by its user. A contributor is dialled by nobody
  // that could not do without, but plans count those that could not average:
  // one answer is enough for it.
  const bool matters
      = own_ == role::trainer
            ? decided && (!contributes || !told_.reachable || !found_out_)
            : own_ != role::bootstrap;
  if (!matters)
    return std::nullopt;
  if (where != where_ || mapped != mapped_) {
    if (!where_.host.empty())
      votes_.moved(); // A router may have opened the very port.
    if (where.host != where_.host) {
      router_.moved();
      asked_for_port_.clear();
    }
    found_out_ = false;
    where_ = where;
  }
  mapped_ = mapped;
  if (!votes_.asks(now))
    return std::nullopt;
  // On the internet, nobody of the own house can say anything; else those come
  // last. A network has one vote, and who has another version of IP none.
  const bool internet = is_public(where.host);
  std::vector<std::tuple<bool, std::uint64_t, peer_id>> order;
  for (auto& [id, g] : guests.all())
    if (!g.contributes && !g.relayed
        && (!internet
            || (is_public(g.who.where.host)
                && same_family(g.who.where.host, where.host))))
      order.emplace_back(is_local(g.who.where.host), mix(seed_, seed_of(id)),
                         id);
  std::sort(order.begin(), order.end());
  std::vector<peer_id> candidates;
  std::set<std::string> networks;
  for (auto& [local, chance, id] : order)
    if (networks.insert(network_of(guests.find(id)->who.where.host)).second)
      candidates.push_back(id);
  const auto nonce = mix(~seed_, ++questions_) | 1;
  auto whom = votes_.ask(candidates, nonce, now);
  // Those that were asked may be all that there are.
  found_out_ = found_out_ || !whom;
  if (!whom)
    return std::nullopt;
  // The asked one's host is known to our router by now.
  return question{*whom, {where.port, nonce, internet}};
}

bool own_reach::answered(const peer_id& from, const reach_answer& x,
                         time_point now) {
  return votes_.answered(from, x.nonce, x.reached, now);
}

std::optional<reachability::proof> own_reach::worth(const std::string& host,
                                                    bool new_host,
                                                    const std::string& own) {
  using proof = reachability::proof;
  if (!is_public(own))
    return proof::counts;
  if (!is_public(host) || !same_family(host, own))
    return std::nullopt;
  return new_host ? proof::decisive : proof::hint;
}

void own_reach::proven(std::uint64_t nonce, const std::string& host,
                       bool new_host, time_point now) {
  auto how = worth(host, new_host, where_.host);
  if (how && votes_.proven(nonce, *how, now))
    found_out_ = true;
}

void own_reach::came(const contact& who, const std::string& own,
                     time_point now) {
  if (auto how = worth(who.where.host, true, own))
    votes_.came(who.id, *how, now);
}

std::optional<contact> own_reach::ask_for_port(const guest_book& guests,
                                               time_point now) {
  if (votes_.is_certain() || where_.host.empty() || !router_.asks())
    return std::nullopt;
  for (auto& [host, when] : asked_for_port_)
    if (now - when < port_patience)
      return std::nullopt; // One at a time: its answer may be enough.
  const bool internet = is_public(where_.host);
  for (auto& [id, g] : guests.all()) {
    const auto& at = g.who.where;
    if (!dialable(at) || router_.knows(at.host)
        || (internet && !is_public(at.host)))
      continue;
    auto last = asked_for_port_.find(at.host);
    if (last != asked_for_port_.end()
        && now - last->second < reachability::validity)
      continue;
    asked_for_port_[at.host] = now;
    return g.who;
  }
  return std::nullopt;
}

} // namespace potluck
