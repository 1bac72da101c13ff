#include "tools/potluck/peer_setup.hpp"

#include <cstdlib>
#include <random>

namespace potluck::tools {

std::string default_identity_directory() {
  if (auto state = std::getenv("XDG_STATE_HOME"); state && *state)
    return std::string{state} + "/potluck";
  if (auto home = std::getenv("HOME"); home && *home)
    return std::string{home} + "/.local/state/potluck";
  return "";
}

std::uint64_t random_seed() {
  std::random_device source;
  return (std::uint64_t{source()} << 32 | source()) | 1;
}

expected<contact> parse_contact(const std::string& text) {
  contact who;
  const auto at = text.find('@');
  if (at != std::string::npos) {
    auto id = parse_id<peer_id>(text.substr(0, at));
    if (!id || id->empty())
      return failure{"'" + text
                     + "' does not begin with a peer's id: write the 64 hex "
                       "digits that its `listening` event and `potluck "
                       "bootstrap` say, and HOST:PORT behind the @."};
    who.id = *id;
  }
  auto where = parse_address(text.substr(at == std::string::npos ? 0 : at + 1));
  if (!where)
    return failure{where.error()};
  if (where->port == 0)
    return failure{"'" + text
                   + "' has port 0; give the port that the peer listens on."};
  who.where = std::move(*where);
  return who;
}

void add_seeds(peer_config& config, const std::vector<contact>& whom) {
  for (auto& who : whom) {
    config.seeds.push_back(who.where);
    if (!who.id.empty())
      config.pins[who.where] = who.id;
  }
}

} // namespace potluck::tools
