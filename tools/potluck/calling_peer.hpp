/// A peer that does nothing but call experts: for commands that compute with
/// them and train nothing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/experts/expert_client.hpp"
#include "actors/peer.hpp"

namespace potluck::tools {

class calling_peer {
public:
  /// Joins the run of `seeds`, encrypted unless `insecure`.
  /// @param pins See `peer_config::pins`.
  calling_peer(std::string run, std::vector<address> seeds, bool insecure,
               std::map<address, peer_id> pins = {});

  /// Leaves the run; calls that are open fail.
  ~calling_peer();

  calling_peer(const calling_peer&) = delete;
  calling_peer& operator=(const calling_peer&) = delete;

  std::shared_ptr<expert_network> network() const {
    return client_;
  }

private:
  /// Without CAF's work stealing, which polls while there is nothing to do, and
  /// so takes processor time from experts on the same machine.
  struct quiet_config : caf::actor_system_config {
    quiet_config();
  };

  quiet_config options_;
  caf::actor_system system_;
  std::shared_ptr<expert_client> client_ = std::make_shared<expert_client>();
  observer_actor eyes_;
  peer_actor peer_;
};

} // namespace potluck::tools
