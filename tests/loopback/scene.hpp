/// One collaboration on this machine: `potluck` processes, their logs, and what
/// must be true of them.
///
/// A scene's files lie in a temporary directory. When a check fails they stay,
/// and the scene prints where, with the commands that run every process again.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "messages/contact.hpp"
#include "messages/ids.hpp"
#include "tests/support/json_log.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temporary_directory.hpp"

namespace potluck::loopback {

using namespace std::chrono_literals;
using words = std::vector<std::string>;

/// How long a start, or a step of a tiny model, may take on a machine with one
/// slow core that others use, too. Only a failing test ever waits so long.
constexpr std::chrono::milliseconds startup_patience = 60s;
/// Likewise for a whole run.
constexpr std::chrono::milliseconds run_patience = 120s;

/// A running (or ended) `potluck` of a scene, with its event log.
class peer {
public:
  peer(support::command what, const std::string& log,
       const std::string& output);

  support::process process;
  support::json_log log;

  /// What the `listening` event says; waits for it, and fails the test case
  /// when there is none.
  std::string address();
  std::string id();
  std::uint16_t port();

  /// Waits for the event; fails the test case when it does not come.
  nlohmann::json await(const std::string& event,
                       std::chrono::milliseconds patience = startup_patience,
                       std::size_t first = 0);
  /// Waits for a `step` event of this step or a later one; likewise.
  nlohmann::json await_step(std::uint64_t step,
                            std::chrono::milliseconds patience
                            = startup_patience);

  /// Digests after the steps that it applied, by step, as its log says from
  /// line `first` on.
  std::map<std::uint64_t, std::string> digests(std::size_t first = 0);
  /// The number of its last step.
  std::uint64_t last_step();

private:
  nlohmann::json listening();
};

class scene {
public:
  scene();
  ~scene();

  scene(const scene&) = delete;
  scene& operator=(const scene&) = delete;

  /// A real text that every Debian machine has, or one written for the purpose.
  std::string text();

  /// The path of `name` in the scene's directory.
  std::string path(const std::string& name) const {
    return directory_ / name;
  }

  /// Starts `potluck WORDS...` and returns at once.
  peer& start(const std::string& name, words arguments,
              std::map<std::string, std::string> environment = {});

  /// A bootstrap peer on a port that the kernel chose.
  peer& bootstrap();

  /// A trainer of the tiny model, with an identity directory called `name`.
  /// Later arguments win where flags repeat.
  peer& join(const std::string& name, const words& arguments,
             std::map<std::string, std::string> environment = {});

  /// Runs `potluck WORDS...` to its end, within `patience`.
  struct result {
    int status = -1; ///< -1 when a signal ended it, or nothing.
    std::string output;
  };
  result run(const std::string& name, words arguments,
             std::chrono::milliseconds patience = startup_patience,
             std::map<std::string, std::string> environment = {});

private:
  support::temporary_directory directory_;
  std::vector<std::unique_ptr<peer>> peers_;
};

/// Flags of a model that is computed in no time, so that a test is about the
/// peers, and of a batch that a step needs.
words tiny_run(std::uint64_t target_batch, std::uint64_t steps);

/// One list after the other.
words operator+(words a, const words& b);

/// Checks that all end with status 0 within `patience`.
void check_all_finish(const std::vector<peer*>& peers,
                      std::chrono::milliseconds patience = run_patience);

/// Checks that wherever two applied the same step, they have the same digest,
/// and that the last steps are one and the same. Returns how many steps two or
/// more peers share.
std::size_t check_equal_digests(const std::vector<peer*>& peers);

/// Waits until `a` and `b` have `count` steps in common, of those in b's log
/// from line `first` on and in a's from `first_of_a` on, and checks that their
/// digests are equal.
void check_agree(peer& a, peer& b, std::size_t count, std::size_t first = 0,
                 std::size_t first_of_a = 0);

/// Checks that every step in the log has at least `target_batch` samples, and
/// that steps come one by one but for downloads.
void check_steps(peer& who, std::uint64_t target_batch);

/// Checks, of the steps of which all `peers` know, that the shares of all are
/// one whole: no sample counts twice, none is lost.
void check_shares(const std::vector<peer*>& peers);

} // namespace potluck::loopback
