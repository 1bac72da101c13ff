#include "tools/potluck/calling_peer.hpp"

#include "runtime/uv/uv_transport.hpp"
#include "tools/potluck/peer_options.hpp"

namespace potluck::tools {

namespace {

observer_actor::behavior_type deaf() {
  return {[](const event&) {}, [](const run_status&) {},
          [](const peer_over&) {}};
}

} // namespace

calling_peer::quiet_config::quiet_config() {
  set("scheduler.policy", caf::atom("sharing"));
}

calling_peer::calling_peer(std::string run, std::vector<address> seeds,
                           bool insecure, std::map<address, peer_id> pins)
    : system_(options_), eyes_(system_.spawn(deaf)) {
  peer_config config;
  uv_transport_options how;
  how.key = key_pair::generate();
  how.insecure = insecure;
  config.self = how.key->id();
  config.signs = signatures_of(*how.key);
  config.wall_clock = wall_clock_ms;
  config.role = role::expert;
  config.run = std::move(run);
  config.listen = {insecure ? "127.0.0.1" : "::", 0};
  config.seeds = std::move(seeds);
  config.pins = std::move(pins);
  config.seed = random_seed();
  config.nonce = random_seed;
  config.make_transport = [how] { return make_uv_transport(how); };
  config.expert_calls = client_->line();
  peer_ = spawn_peer(system_, std::move(config), eyes_);
}

calling_peer::~calling_peer() {
  caf::anon_send(peer_, leave_run{"done"});
  {
    caf::scoped_actor waiter{system_};
    waiter->wait_for(peer_);
  }
  peer_ = nullptr;
  caf::anon_send_exit(eyes_, caf::exit_reason::user_shutdown);
  eyes_ = nullptr;
}

} // namespace potluck::tools
