/// `potluck bootstrap`: first contact and DHT storage, for any run.

#include "tools/potluck/address_file.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/peer_options.hpp"
#include "tools/potluck/peer_process.hpp"

namespace potluck::tools {

namespace {

int run(cli::command_line& options, const std::string&) {
  peer_config config;
  config.role = role::bootstrap;
  config.run.clear();
  auto network = fill_network(options, config);
  if (!network)
    return complain(network.error());
  auto who = take_identity(options, *network, config);
  if (!who)
    return complain(who.error());
  auto notices = std::make_shared<notice_board>();
  keep_addresses(config, who->directory, "peers", *notices);
  return run_peer(options, std::move(config), std::move(notices));
}

} // namespace

command bootstrap_command() {
  cli::command_spec spec;
  spec.name = "bootstrap";
  spec.summary = "Be the first contact of a run's peers; trains nothing";
  spec.usage = "potluck bootstrap [OPTION]...";
  spec.options = network_options("0.0.0.0:7000");
  return {spec, run};
}

} // namespace potluck::tools
