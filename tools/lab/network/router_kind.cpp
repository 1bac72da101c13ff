#include "tools/lab/network/router_kind.hpp"

#include <stdexcept>

namespace potluck {

const std::vector<router_trait>& router_traits() {
  using k = router_kind;
  static const std::vector<router_trait> traits{
      {k::none, "none", "an address of its own, that all can dial"},
      {k::open_cone, "open-cone",
       "mapping and filtering endpoint-independent (full cone)"},
      {k::address_restricted, "address-restricted",
       "mapping endpoint-independent, filtering address-dependent"},
      {k::port_restricted, "port-restricted",
       "mapping endpoint-independent, filtering address- and port-dependent"},
      {k::symmetric, "symmetric",
       "mapping and filtering address- and port-dependent"},
      {k::double_nat, "double",
       "two port-restricted in a row: the home's and the carrier's"},
      {k::upnp, "upnp", "port-restricted, and ports can be mapped"},
      {k::only_443, "only-443",
       "port-restricted, and nothing leaves but to port 443"},
      {k::ipv6_only, "ipv6-only",
       "no IPv4: the carrier's NAT64, port-restricted, leads to it"},
  };
  return traits;
}

const std::vector<std::string>& router_names() {
  static const auto names = [] {
    std::vector<std::string> result;
    for (const auto& x : router_traits())
      result.push_back(x.name);
    return result;
  }();
  return names;
}

std::string to_string(router_kind x) {
  return router_traits()[static_cast<std::size_t>(x)].name;
}

router_kind router_named(const std::string& name) {
  for (const auto& x : router_traits())
    if (x.name == name)
      return x.kind;
  throw std::logic_error("there is no router `" + name + "`.");
}

} // namespace potluck
