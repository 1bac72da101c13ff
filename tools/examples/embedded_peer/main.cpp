/// A CAF application of somebody else that hosts a peer: it founds a run alone,
/// takes eight steps with a model of its own, and leaves. Others could join it.

#include <iostream>

#include "actors/peer.hpp"
#include "runtime/uv/uv_transport.hpp"
#include "runtime/uv/wall_clock.hpp"

using namespace potluck;

namespace {

/// The model: one parameter that has to find the mean of the numbers 0, 1, 2.
class mean_finder : public trainer {
public:
  mean_finder() {
    layout_.add("mean", {1}, false, 0, 0);
  }

  const model_layout& layout() const override {
    return layout_;
  }

  batch_result accumulate(const batch_request& request, const float* parameters,
                          float* gradient, const std::atomic<bool>&) override {
    batch_result result;
    for (; result.samples < request.samples; ++result.samples) {
      auto number = request.first_sample + result.samples * request.stride;
      auto error = parameters[0] - static_cast<float>(number % 3);
      gradient[0] += 2 * error;
      result.loss_sum += error * error;
    }
    return result;
  }

  evaluation evaluate(const float*, std::uint64_t, std::uint64_t) override {
    return {};
  }

private:
  model_layout layout_;
};

/// The application's own actor: hears what the peer does, ends when it is over.
observer_actor::behavior_type watcher(observer_actor::pointer self) {
  return {
      [](const event& x) { std::cout << to_json(x, 0) << std::endl; },
      [](const run_status&) {}, // For progress bars.
      [self](const peer_over& x) {
        std::cout << "over: " << x.problem << std::endl;
        self->quit();
      },
  };
}

} // namespace

int main() {
  peer_config config;
  auto key = key_pair::generate(); // `identity` would keep one in a file.
  config.self = key.id();
  config.signs = signatures_of(key);
  config.wall_clock = wall_clock_ms;
  config.seed = 7;
  config.listen = {"127.0.0.1", 0}; // Any free port; `seeds` would join others.
  config.make_transport = [key] {
    uv_transport_options how;
    how.key = key;
    return make_uv_transport(how);
  };
  config.make_trainer = [](auto&) { return std::make_unique<mean_finder>(); };
  config.propose = [] {
    run_settings settings;
    settings.steps = 8;
    settings.warmup_steps = 0;
    settings.learning_rate = 0.2;
    return charter{settings, ""};
  };
  caf::actor_system_config options;
  caf::actor_system system{options};
  caf::scoped_actor self{system};
  auto eyes = system.spawn(watcher);
  auto peer = spawn_peer(system, config, eyes);
  self->wait_for(eyes);
  caf::anon_send(peer, leave_run{"done"}); // `system` waits for its end.
}
