/// Hosts of experts and their callers in the simulation: modules of arithmetic
/// that tell what they apply, and an actor that calls.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/experts/expert_client.hpp"
#include "actors/experts/expert_host.hpp"
#include "runtime/random.hpp"

namespace potluck::simulation {

/// Experts of each host.
constexpr std::size_t experts_of_a_host = 4;
/// Updates between two saves, and thus between two versions of a replica.
constexpr std::uint64_t expert_save_every = 8;
/// What an expert may lose when its host does: the updates since the last save,
/// and those made while that one was on its way to two guards.
constexpr std::uint64_t expert_most_lost = 3 * expert_save_every;

/// Hears what a host's modules do.
struct expert_witness {
  std::function<void(const std::string& uid, std::uint64_t version)> made;
  std::function<void(const std::string& uid,
                     const std::vector<std::uint64_t>& calls,
                     std::uint64_t version)>
      applied;
};

/// The experts of the host with this number, on shelves that are its disk.
expert_hosting simulated_hosting(std::size_t number,
                                 std::shared_ptr<const expert_witness> witness,
                                 expert_shelves shelves);

/// Calls, twice a second, one of the experts that hosts 0 to `hosts` - 1 began
/// with; two of three calls teach. Ends when `client`'s peer does.
/// @param answered Told the uid.
caf::actor
spawn_simulated_caller(caf::actor_system& system,
                       std::shared_ptr<expert_client> client,
                       std::vector<std::size_t> hosts, std::uint64_t seed,
                       std::shared_ptr<std::uint64_t> next_call,
                       std::function<void(const std::string& uid)> answered);

} // namespace potluck::simulation
