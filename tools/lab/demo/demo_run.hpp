/// The demonstration's plot: starts the peers, kills one, adds one, and follows
/// what they log until they are done.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tools/lab/demo/demo_peer.hpp"

namespace potluck::tools {

struct demo_plan {
  std::string program;        ///< The path of `potluck`.
  std::string directory;      ///< For identities, logs and checkpoints.
  std::string data;           ///< The text to train on.
  std::uint64_t trainers = 3; ///< To begin with.
  std::uint64_t steps = 0;
  std::uint64_t target_batch = 0;
};

class demo_run {
public:
  /// @param signals Blocked in this thread; any of them ends the run.
  demo_run(demo_plan plan, demo_screen& screen, const sigset_t& signals);

  /// Returns when all peers are done or one of them is in trouble, which the
  /// record then says. Fails with a sentence when there is nothing to judge.
  expected<run_record> run();

private:
  expected<bool> start(const child_group& family, const std::string& name,
                       const std::string& role,
                       const std::vector<std::string>& options);
  expected<bool> start_first_peers(const child_group& family);
  expected<bool> swap_peers(const child_group& family);
  void follow();
  void tell(const demo_peer& peer, const logged_event& x);
  std::string name_of(const std::string& short_id) const;
  bool all_done();
  bool in_trouble();
  void show();
  run_record conclude();

  demo_peer& bootstrap() {
    return peers_.front();
  }

  demo_plan plan_;
  demo_screen& screen_;
  sigset_t signals_;
  std::vector<demo_peer> peers_; ///< The bootstrap first, the late one last.
  std::string contact_;          ///< The bootstrap's address, once it has one.
  std::set<std::string> told_;   ///< What several peers log is said once.
  run_view view_;
  std::chrono::steady_clock::time_point began_;
  std::chrono::steady_clock::time_point last_news_;
};

} // namespace potluck::tools
