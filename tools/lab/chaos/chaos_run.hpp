/// A scenario acted out with real processes: starts the peers, lets the faults
/// befall them, and follows what they log until they are done.
#pragma once

#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/lab/chaos/chaos_faults.hpp"
#include "tools/lab/demo/demo_screen.hpp"

namespace potluck::tools {

struct chaos_plan {
  std::string program;   ///< The path of `potluck`.
  std::string directory; ///< For identities, logs and checkpoints.
  std::string data;      ///< The text to train on.
  scenario what;
  std::uint64_t seed = 0;
};

/// Why processes cannot act this scenario out; empty when they can.
/// @param packets On a network that carries packets.
std::string unknown_to_chaos(const scenario& x, bool packets);

/// Fields of its groups that mean nothing to real processes, separated by
/// commas; empty when there are none.
std::string left_to_simulation(const scenario& x, bool packets);

/// The settings of the run: a tiny model, and what the scenario says.
std::vector<setting> chaos_settings(const scenario& x);

struct chaos_outcome {
  run_record record;
  std::vector<std::string> history; ///< What befell whom.
  std::size_t not_reached = 0; ///< Events that were due after the run's end.
  double seconds = 0;
  netlab::host_network::statistics network;
};

class chaos_run {
public:
  /// @param signals Blocked in this thread; any of them ends the run.
  chaos_run(chaos_plan plan, std::unique_ptr<netlab::host_network> network,
            demo_screen& screen, const sigset_t& signals);

  /// Fails with a sentence when there is nothing to judge.
  expected<chaos_outcome> run();

private:
  using clock = std::chrono::steady_clock;

  expected<bool> add_peers();
  expected<bool> start(std::size_t number, bool fresh);
  std::vector<std::string> words_of(std::size_t number) const;

  expected<bool> carry_out_due();
  expected<bool> carry_out(const fault_event& x);

  void follow();
  void tell(const chaos_peer& peer, const logged_event& x);
  bool look_after();
  void show();
  duration plan_time() const;
  chaos_outcome conclude();

  chaos_plan plan_;
  demo_screen& screen_;
  sigset_t signals_;
  fault_plan due_;
  std::unique_ptr<netlab::host_network> network_;
  std::optional<child_group> family_;
  std::vector<chaos_peer> peers_; ///< By number.
  chaos_faults faults_;
  std::optional<clock::time_point> first_step_;
  clock::time_point began_;
  clock::time_point calm_since_; ///< No step and no fault since then.
  clock::time_point next_measure_;
  double longest_pause_ = 0;
  bool finishing_ = false; ///< Somebody has finished: no more faults.
  std::string trouble_;
  run_view view_;
};

} // namespace potluck::tools
