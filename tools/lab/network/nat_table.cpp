#include "tools/lab/network/nat_table.hpp"

#include <algorithm>

namespace potluck {

namespace {

/// Ports that are given out where the inside one is not.
constexpr std::uint16_t first_port = 10000;
constexpr std::uint16_t last_port = 65535;

/// What of `x` makes a difference.
address as_far_as(nat_table::dependence how, const address& x) {
  switch (how) {
    case nat_table::dependence::none:
      return {};
    case nat_table::dependence::address:
      return {x.host, 0};
    case nat_table::dependence::address_and_port:
      break;
  }
  return x;
}

} // namespace

nat_table::nat_table(behaviour how, duration idle)
    : how_{how}, idle_{idle}, next_port_{first_port} {
}

nat_table::mapping* nat_table::find(duration now, std::uint16_t port) {
  auto found = by_port_.find(port);
  if (found == by_port_.end()
      || (!found->second.lasting && idle(now, found->second.used)))
    return nullptr;
  return &found->second;
}

void nat_table::sweep(duration now) {
  next_sweep_ = now + idle_;
  for (auto i = by_port_.begin(); i != by_port_.end();) {
    auto& [port, x] = *i;
    for (auto j = x.sessions.begin(); j != x.sessions.end();)
      j = idle(now, j->second) ? x.sessions.erase(j) : std::next(j);
    if (find(now, port)) {
      ++i;
      continue;
    }
    by_inside_.erase({x.inside, x.to});
    i = by_port_.erase(i);
  }
}

std::optional<std::uint16_t> nat_table::free_port(std::uint16_t wanted) {
  if (how_.mapping == dependence::none && by_port_.count(wanted) == 0)
    return wanted;
  for (int tries = last_port - first_port; tries >= 0; --tries) {
    const auto port = next_port_;
    next_port_ = port == last_port ? first_port : port + 1;
    if (by_port_.count(port) == 0)
      return port;
  }
  return std::nullopt;
}

std::optional<std::uint16_t>
nat_table::port_for(duration now, const address& inside, const address& to) {
  if (now >= next_sweep_)
    sweep(now);
  auto known = by_inside_.find({inside, to});
  if (known != by_inside_.end()) {
    if (find(now, known->second))
      return known->second;
    sweep(now);
  }
  auto port = free_port(inside.port);
  if (port) {
    by_port_[*port] = {inside, to, false, now, {}};
    by_inside_[{inside, to}] = *port;
  }
  return port;
}

std::optional<std::uint16_t> nat_table::open(duration now, const address& from,
                                             const address& to) {
  auto port = port_for(now, from, as_far_as(how_.mapping, to));
  if (port) {
    auto& x = by_port_[*port];
    x.used = x.sessions[to] = now;
  }
  return port;
}

std::optional<address> nat_table::admit(duration now, std::uint16_t port,
                                        const address& from) {
  auto* x = find(now, port);
  if (!x)
    return std::nullopt;
  auto dialled = [&](const auto& session) {
    return !idle(now, session.second)
           && as_far_as(how_.filtering, session.first)
                  == as_far_as(how_.filtering, from);
  };
  if (!x->lasting && how_.filtering != dependence::none
      && std::none_of(x->sessions.begin(), x->sessions.end(), dialled))
    return std::nullopt;
  x->used = x->sessions[from] = now;
  return x->inside;
}

std::optional<address> nat_table::carry(duration now, std::uint16_t port,
                                        const address& other) {
  auto* x = find(now, port);
  if (!x)
    return std::nullopt;
  auto session = x->sessions.find(other);
  if (session == x->sessions.end() || idle(now, session->second))
    return std::nullopt;
  x->used = session->second = now;
  return x->inside;
}

std::optional<std::uint16_t> nat_table::map_port(duration now,
                                                 const address& inside) {
  auto port = port_for(now, inside, {});
  if (port)
    by_port_[*port].lasting = true;
  return port;
}

void nat_table::forget() {
  by_port_.clear();
  by_inside_.clear();
}

} // namespace potluck
