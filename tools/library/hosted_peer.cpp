#include "tools/library/hosted_peer.hpp"

#include <utility>

#include <caf/all.hpp>

#include "tools/library/without_signals.hpp"

namespace potluck::library {

namespace {

struct listeners {
  std::shared_ptr<news> heard;
  std::shared_ptr<meeting> with;
};

observer_actor::behavior_type watcher(listeners to) {
  return {[to](const event& x) {
            to.heard->hear(x);
            if (x.name == "finished")
              to.with->ends();
          },
          [to](const run_status& x) { to.heard->hear(x); },
          [to](const peer_over& x) {
            to.heard->hear(x);
            to.with->ends();
          }};
}

caf::actor_system_config& quiet(caf::actor_system_config& options) {
  // CAF's default, work stealing, polls thousands of times a second.
  options.set("scheduler.policy", caf::atom("sharing"));
  return options;
}

} // namespace

struct hosted_peer::inside {
  caf::actor_system_config options;
  caf::actor_system system{quiet(options)};
  observer_actor eyes;
  peer_actor peer;
};

hosted_peer::hosted_peer(peer_config config, std::shared_ptr<news> heard,
                         std::shared_ptr<meeting> with) {
  const without_signals unheard;
  inside_ = std::make_unique<inside>();
  inside_->eyes = inside_->system.spawn(watcher, listeners{heard, with});
  inside_->peer = spawn_peer(inside_->system, std::move(config), inside_->eyes);
  inside_->peer->attach_functor([heard, with](const caf::error&) {
    with->ends();
    heard->close();
  });
}

hosted_peer::~hosted_peer() {
  leave();
  caf::scoped_actor waiter{inside_->system};
  waiter->wait_for(inside_->peer);
  caf::anon_send_exit(inside_->eyes, caf::exit_reason::user_shutdown);
}

void hosted_peer::leave() {
  caf::anon_send(inside_->peer, leave_run{"leaving"});
}

} // namespace potluck::library
