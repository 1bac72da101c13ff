/// The thread-safe front of a peer's expert caller: what code that computes
/// with experts is given.
///
///     auto client = std::make_shared<potluck::expert_client>();
///     config.expert_calls = client->line(); // of a peer_config
///     auto peer = potluck::spawn_peer(system, config, observer);
///     my_layer{client};                     // an expert_network
///
/// It outlives restarts of the peer's actors. Every question gets its answer
/// exactly once: when the peer ends first, or a caller crashes, a failure.
/// Answers are given on a thread of this object's own.
#pragma once

#include <memory>

#include "actors/experts/expert_caller.hpp"
#include "actors/worker.hpp"

namespace potluck {

class expert_client : public expert_network {
public:
  /// @param mode `immediate`: answers are given on the thread of the actor,
  /// or inside the call when there is no peer; for one thread and a virtual
  /// clock.
  explicit expert_client(worker_mode mode = worker_mode::threaded);

  void look_up(
      const std::string& prefix,
      std::function<void(expected<std::vector<std::uint32_t>>)> done) override;
  void call(expert_call what,
            std::function<void(expected<expert_reply>)> done) override;

  /// For the `peer_config` of the peer that makes the calls.
  std::shared_ptr<expert_line> line() const {
    return line_;
  }

private:
  std::shared_ptr<expert_line> line_ = std::make_shared<expert_line>();
  std::shared_ptr<worker> voice_;
};

} // namespace potluck
