/// One peer under test: its process, life after life, and what befalls it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "messages/contact.hpp"
#include "tools/lab/demo/demo_peer.hpp"
#include "tools/lab/judge/run_record.hpp"

namespace potluck::tools {

class chaos_peer {
public:
  using clock = std::chrono::steady_clock;

  /// @param front Where others reach it.
  chaos_peer(std::string name, std::string role, address front);

  /// Starts its next life; `words` begin with the program. `fresh`: without the
  /// files of the lives before.
  expected<bool> start(const child_group& family, const std::string& directory,
                       std::vector<std::string> words, bool fresh);

  const std::string& name() const {
    return name_;
  }
  const std::string& role() const {
    return role_;
  }
  const address& front() const {
    return front_;
  }
  /// Begun so far.
  std::uint64_t lives() const {
    return count_;
  }

  /// Its process runs and has not been told to go; it may stand still.
  bool present();
  /// Its process runs.
  bool running();

  /// Ends it at once.
  void kill();
  /// Asks it to leave in order.
  void leave();

  // Faults that last are named by a number, since several may overlap.

  void stop(std::uint64_t fault);
  /// @param factor At least 1: it runs one part of the time in so many.
  void slow(std::uint64_t fault, double factor);
  void fill_disk(std::uint64_t fault);
  /// Ends any of the three.
  void end_fault(std::uint64_t fault);

  /// Lets a slow process run, or stops it, as its turn is.
  void turn(clock::time_point now);
  /// Looks at its memory.
  void measure();

  /// Reads on in its log.
  std::vector<logged_event> news();
  /// How it looks now.
  peer_view view() const;

  /// Everything, once it is over. Ends what still runs.
  std::vector<life_record> take_lives();

private:
  void apply();
  void end_life();
  void limit_files(bool full);

  std::string name_;
  std::string role_;
  address front_;
  std::optional<demo_peer> process_;
  std::vector<life_record> lives_; ///< Ended ones.
  life_record life_;               ///< Of the process.
  std::uint64_t count_ = 0;
  std::set<std::uint64_t> stops_;
  std::map<std::uint64_t, double> slow_;
  std::set<std::uint64_t> full_disks_;
  bool resting_ = false; ///< It is not a slow one's turn.
  bool stopped_ = false; ///< SIGSTOP was the last word.
  clock::time_point leave_deadline_;
};

} // namespace potluck::tools
