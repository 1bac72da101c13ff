#include "tools/lab/sim/address_plan.hpp"

#include "tools/lab/network/public_hosts.hpp"
#include "tools/lab/network/router_kind.hpp"

namespace potluck::simulation {

namespace {

constexpr std::uint16_t usual_port = 31337;
/// That everybody knows from the beginning.
constexpr std::size_t most_seeds = 3;

/// Of a machine that has a router before it.
std::string private_host(router_kind behind, std::size_t number) {
  const auto high = number >> 8, low = number & 255;
  if (behind == router_kind::ipv6_only)
    return "fd00::" + std::to_string(high) + ":" + std::to_string(low);
  return "192.168." + std::to_string(high) + "." + std::to_string(low);
}

} // namespace

std::string public_host(std::size_t number) {
  const auto x = public_host_address(number);
  return std::to_string(x >> 24) + "." + std::to_string(x >> 16 & 255) + "."
         + std::to_string(x >> 8 & 255) + "." + std::to_string(x & 255);
}

address_plan::address_plan(const scenario& what, const fault_plan& plan)
    : what_{what}, plan_{plan} {
  for (auto role : {"bootstrap", "trainer"})
    for (auto& x : plan_.peers())
      if (auto& group = group_of(x.number); group.role == role
                                            && group.router == "none"
                                            && seeds_.size() < most_seeds)
        seeds_.push_back(open(x.number));
}

std::string address_plan::host_of(std::size_t number) const {
  const auto router = router_named(group_of(number).router);
  return router == router_kind::none ? public_host(number)
                                     : private_host(router, number);
}

std::uint16_t address_plan::port_of(std::size_t number) const {
  return group_of(number).role == "bootstrap" && what_.needs_port_443()
             ? 443
             : usual_port;
}

address address_plan::open(std::size_t number) const {
  return {public_host(number), port_of(number)};
}

std::string address_plan::move_in(std::size_t number) {
  const auto which = plan_.peers()[number].group;
  const auto own = public_host(number);
  const auto homes = what_.groups[which].homes;
  if (homes == 0)
    return own;
  return homes_.emplace(std::pair{which, housed_[which]++ % homes}, own)
      .first->second;
}

std::vector<address> address_plan::dialable() const {
  std::vector<address> result;
  for (auto& x : plan_.peers())
    if (auto& group = group_of(x.number);
        group.router == "none" && !is_stranger(group))
      result.push_back(open(x.number));
  return result;
}

} // namespace potluck::simulation
