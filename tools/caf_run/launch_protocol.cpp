#include "tools/caf_run/launch_protocol.hpp"

#include <caf/all.hpp>
#include <caf/io/all.hpp>

#include <charconv>

namespace potluck::caf_run {

namespace {

/// The actor that a slave publishes: calls `on_stop` once, when it is told to
/// or when the launcher is gone.
caf::behavior control(caf::event_based_actor* self, caf::actor launcher,
                      std::function<void()> on_stop) {
  self->monitor(launcher);
  auto called = std::make_shared<bool>(false);
  auto stop_once = [called, on_stop] {
    if (!std::exchange(*called, true))
      on_stop();
  };
  self->set_down_handler([stop_once](const caf::down_msg&) { stop_once(); });
  return {
      [stop_once](stop_atom) { stop_once(); },
  };
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.rfind("127.", 0) == 0;
}

} // namespace

expected<std::pair<std::string, std::uint16_t>>
parse_node(const std::string& text) {
  auto slash = text.rfind('/');
  std::uint16_t port = 0;
  if (slash != std::string::npos && slash > 0) {
    auto begin = text.data() + slash + 1;
    auto end = text.data() + text.size();
    auto [stop, error] = std::from_chars(begin, end, port);
    if (error == std::errc{} && stop == end && port != 0)
      return std::pair{text.substr(0, slash), port};
  }
  return failure{"'" + text + "' is not a node: write HOST/PORT."};
}

announced_slave::announced_slave(caf::actor_system& system, caf::actor control,
                                 std::uint16_t port)
    : system_(system), control_(std::move(control)), port_(port) {
}

announced_slave::~announced_slave() {
  system_.middleman().unpublish(control_, port_);
  caf::anon_send_exit(control_, caf::exit_reason::user_shutdown);
}

expected<std::unique_ptr<announced_slave>>
announce_slave(caf::actor_system& system, const std::string& host,
               const std::vector<std::string>& bootstrap_nodes,
               std::function<void()> on_stop) {
  std::string tried;
  for (const auto& text : bootstrap_nodes) {
    auto node = parse_node(text);
    if (!node)
      return failure{node.error()};
    auto launcher = system.middleman().remote_actor(node->first, node->second);
    if (!launcher) {
      tried += (tried.empty() ? "" : ", ") + text + ": "
               + system.render(launcher.error());
      continue;
    }
    auto actor = system.spawn(control, *launcher, std::move(on_stop));
    auto local = is_loopback(node->first);
    auto port
        = system.middleman().publish(actor, 0, local ? "127.0.0.1" : nullptr);
    if (!port) {
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
      return failure{"cannot open a port for the launcher: "
                     + system.render(port.error()) + "."};
    }
    caf::send_as(actor, *launcher, host, *port);
    return std::make_unique<announced_slave>(system, actor, *port);
  }
  return failure{"cannot reach the launcher ("
                 + (tried.empty() ? "no --caf#bootstrap-node" : tried)
                 + "): check that this host can connect to the one that runs "
                   "caf-run."};
}

} // namespace potluck::caf_run
