/// What stands between a home and the internet. Mapping and filtering are
/// RFC 4787's words; nat_table.hpp explains them.
#pragma once

#include <string>
#include <vector>

namespace potluck {

enum class router_kind {
  none,
  open_cone,
  address_restricted,
  port_restricted,
  symmetric,
  double_nat,
  upnp,
  only_443,
  ipv6_only,
};

struct router_trait {
  router_kind kind;
  std::string name;    ///< In files: "port-restricted".
  std::string meaning; ///< One line.
};
/// In the order of `router_kind`.
const std::vector<router_trait>& router_traits();
/// Their names.
const std::vector<std::string>& router_names();
std::string to_string(router_kind x);
/// Precondition: `name` is one of `router_names()`.
router_kind router_named(const std::string& name);

} // namespace potluck
