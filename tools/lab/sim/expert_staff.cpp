#include "tools/lab/sim/expert_staff.hpp"

#include <algorithm>

namespace potluck::simulation {

bool has_experts(const scenario& what) {
  return std::any_of(what.groups.begin(), what.groups.end(), [](auto& x) {
    return x.role == "expert" || x.role == "caller";
  });
}

expert_staff::expert_staff(const scenario& what, const fault_plan& plan,
                           sound_experts& judge, std::function<duration()> now)
    : what_{what}, plan_{plan}, judge_{judge}, now_{std::move(now)} {
}

void expert_staff::forget(std::size_t number) {
  shelves_.erase(number);
  judge_.forget(number);
}

machine::companion expert_staff::equip(const scripted_peer& x,
                                       std::uint64_t life, peer_config& c) {
  const auto& role = what_.groups[x.group].role;
  if (role == "expert")
    c.experts = hosting_of(x.number);
  if (role != "caller")
    return nullptr;
  auto& client = clients_[x.number];
  client = std::make_shared<expert_client>(worker_mode::immediate);
  c.expert_calls = client->line();
  return caller_of(client, mix(x.seed, life));
}

expert_hosting expert_staff::hosting_of(std::size_t number) {
  auto witness = std::make_shared<expert_witness>();
  witness->made
      = [this, number](const std::string& uid, std::uint64_t version) {
          judge_.made(number, uid, version, now_());
        };
  witness->applied = [this, number](const std::string& uid,
                                    const std::vector<std::uint64_t>& calls,
                                    std::uint64_t version) {
    judge_.applied(number, uid, calls, version, now_());
  };
  return simulated_hosting(number, witness, shelves_[number]);
}

machine::companion
expert_staff::caller_of(std::shared_ptr<expert_client> client,
                        std::uint64_t seed) const {
  std::vector<std::size_t> hosts;
  for (auto& other : plan_.peers())
    if (what_.groups[other.group].role == "expert")
      hosts.push_back(other.number);
  if (hosts.empty())
    return nullptr;
  return [this, hosts, seed, client](caf::actor_system& system) {
    return spawn_simulated_caller(
        system, client, hosts, seed, next_call_,
        [this](const std::string& uid) { judge_.answered(uid, now_()); });
  };
}

} // namespace potluck::simulation
