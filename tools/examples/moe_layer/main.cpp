/// A LibTorch program with a layer whose experts are on other machines, used as
/// torch::nn::Linear would be; any peer of the run leads to them:
///
///     potluck expert --uids 'ffn.*.*' --grid 4x4 --hidden 16 --peer HOST:PORT
///     moe_layer HOST:PORT

#include "actors/experts/expert_client.hpp"
#include "actors/peer.hpp"
#include "models/blas_kernels.hpp"
#include "models/moe/decentralized_moe.hpp"
#include "runtime/uv/uv_transport.hpp"
#include "runtime/uv/wall_clock.hpp"
#include <iostream>
#include <thread>

using namespace potluck;

observer_actor::behavior_type ears() { // Hears what our peer does.
  return {[](const event&) {}, [](const run_status&) {},
          [](const peer_over&) {}};
}

int main(int argc, char** argv) {
  use_better_kernels(argv);
  auto seed = parse_address(argc == 2 ? argv[1] : "");
  if (!seed)
    return std::cerr << "moe_layer HOST:PORT: " << seed.error() << '\n', 2;
  auto experts = std::make_shared<expert_client>(); // Through a peer of ours.
  peer_config config;
  auto key = key_pair::generate();
  config.self = key.id();
  config.signs = signatures_of(key);
  config.wall_clock = wall_clock_ms;
  config.role = role::expert;
  config.seeds = {*seed};
  config.make_transport = [key] { return make_uv_transport({key}); };
  config.expert_calls = experts->line();
  config.seed = 1;
  caf::actor_system_config options;
  caf::actor_system system{options}; // Its end waits for the peer's.
  auto peer = spawn_peer(system, config, system.spawn(ears));
  moe_options layer;
  layer.grid = {4, 4};
  layer.inputs = 16;
  torch::nn::Sequential model(torch::nn::Linear(8, 16),
                              decentralized_moe(layer, experts),
                              torch::nn::Linear(16, 1));
  torch::optim::Adam optimizer(model->parameters(), 0.01);
  for (int step = 1; step <= 500;)
    try {
      auto x = torch::randn({32, 8});
      auto loss = torch::mse_loss(model->forward(x), x.sum(1, true));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      if (step++ % 50 == 0)
        std::cout << "step " << step - 1 << " loss " << loss.item<float>()
                  << std::endl;
    } catch (const too_few_experts& x) { // None found yet, or too many gone.
      std::cerr << x.what() << std::endl;
      std::this_thread::sleep_for(std::chrono::seconds{1});
    }
  caf::anon_send(peer, leave_run{"done"});
}
