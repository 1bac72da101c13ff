#include "tools/lab/network/home_router.hpp"

#include <stdexcept>
#include <utility>

namespace potluck {

namespace {

/// Of the home's router at its carrier (RFC 6598).
const std::string carrier_host = "100.64.0.2";
constexpr std::uint16_t https = 443;

nat_table::behaviour behaviour_of(router_kind x) {
  using d = nat_table::dependence;
  switch (x) {
    case router_kind::open_cone:
      return {d::none, d::none};
    case router_kind::address_restricted:
      return {d::none, d::address};
    case router_kind::symmetric:
      return {d::address_and_port, d::address_and_port};
    case router_kind::none:
      throw std::logic_error("no router is none to make.");
    default:
      return {d::none, d::address_and_port};
  }
}

} // namespace

home_router::home_router(router_kind kind, std::string public_host)
    : kind_{kind}, public_host_{std::move(public_host)} {
  tables_.emplace_back(behaviour_of(kind));
  if (kind == router_kind::double_nat)
    tables_.emplace_back(behaviour_of(kind));
}

std::optional<address> home_router::open(duration now, const address& from,
                                         const address& to) {
  if (kind_ == router_kind::only_443 && to.port != https)
    return std::nullopt;
  auto seen = from;
  for (auto& table : tables_) {
    auto port = table.open(now, seen, to);
    if (!port)
      return std::nullopt;
    seen = {&table == &tables_.back() ? public_host_ : carrier_host, *port};
  }
  return seen;
}

std::optional<address> home_router::admit(duration now, std::uint16_t port,
                                          const address& from) {
  std::optional<address> at = address{public_host_, port};
  for (auto table = tables_.rbegin(); at && table != tables_.rend(); ++table)
    at = table->admit(now, at->port, from);
  return at;
}

bool home_router::carries(duration now, std::uint16_t port,
                          const address& other) {
  std::optional<address> at = address{public_host_, port};
  for (auto table = tables_.rbegin(); at && table != tables_.rend(); ++table)
    at = table->carry(now, at->port, other);
  return at.has_value();
}

std::optional<address> home_router::map_port(duration now,
                                             const address& inside) {
  if (kind_ != router_kind::upnp)
    return std::nullopt;
  auto port = tables_.front().map_port(now, inside);
  if (!port)
    return std::nullopt;
  return address{public_host_, *port};
}

void home_router::reboot() {
  for (auto& table : tables_)
    table.forget();
}

void home_router::move_to(std::string public_host) {
  public_host_ = std::move(public_host);
  reboot();
}

} // namespace potluck
