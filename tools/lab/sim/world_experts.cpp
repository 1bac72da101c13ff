/// Hosts of experts among the simulated peers, and their callers.
#include "tools/lab/sim/world.hpp"

namespace potluck::simulation {

bool world::trains() const {
  for (auto& group : what_.groups)
    if (group.role == "trainer")
      return true;
  return false;
}

void world::add_experts(life& x, peer_config& c) {
  const auto& plan = x.box->plan();
  const auto& role = what_.groups[plan.group].role;
  x.client.reset();
  if (role == "caller") {
    x.client = std::make_shared<expert_client>(worker_mode::immediate);
    c.expert_calls = x.client->line();
  }
  if (role != "expert")
    return;
  auto witness = std::make_shared<expert_witness>();
  auto number = plan.number;
  witness->made
      = [this, number](const std::string& uid, std::uint64_t version) {
          judge_->of<sound_experts>().made(number, uid, version, now_);
        };
  witness->applied = [this, number](const std::string& uid,
                                    const std::vector<std::uint64_t>& calls,
                                    std::uint64_t version) {
    judge_->of<sound_experts>().applied(number, uid, calls, version, now_);
  };
  c.experts = simulated_hosting(number, witness, x.shelves);
}

machine::companion world::caller_of(const life& x) {
  if (!x.client)
    return nullptr;
  std::vector<std::size_t> hosts;
  for (auto& other : plan_.peers())
    if (what_.groups[other.group].role == "expert")
      hosts.push_back(other.number);
  if (hosts.empty())
    return nullptr;
  auto seed = mix(x.box->plan().seed, x.lives);
  return [this, hosts, seed, client = x.client](caf::actor_system& system) {
    return spawn_simulated_caller(system, client, hosts, seed, next_call_,
                                  [this](const std::string& uid) {
                                    judge_->of<sound_experts>().answered(uid,
                                                                         now_);
                                  });
  };
}

} // namespace potluck::simulation
