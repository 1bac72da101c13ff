/// The machines of the simulated network. Private to this folder.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/lab/network/line_emulator.hpp"
#include "tools/lab/network/sim_agenda.hpp"
#include "tools/lab/network/sim_host.hpp"

namespace potluck {

class sim_hosts {
public:
  using host = std::shared_ptr<sim_host>;

  /// Machine number i has line number i.
  sim_hosts(sim_agenda& agenda, line_emulator& lines);

  /// The machine of this name, a new one if nobody has named it before. For
  /// those that exist, by turns at the same time.
  host named(const std::string& name);
  /// The machine of this name, or one on which nothing runs.
  host find(const std::string& name) const;
  bool exists(const sim_host& x) const {
    return &x != nowhere_.get();
  }
  /// Puts a machine behind the router of that public host, a new one if there
  /// is none yet. Its name is known within its home alone then.
  void put_behind(const host& x, router_kind kind,
                  const std::string& public_host);
  /// The home of a machine that has a router has another public host.
  void move_home(const sim_host& x, const std::string& public_host);

  /// Where a dial from `from` ends.
  struct door {
    host machine;                        ///< Behind a router: one of its home.
    std::shared_ptr<home_router> router; ///< Of the machine, if it is passed.
  };
  door nowhere() const {
    return {nowhere_, nullptr};
  }
  door door_of(const sim_host& from, const std::string& name) const;

  /// By turns at the same time.
  sim_host& at(std::size_t number) const {
    return *by_number_[number];
  }
  const std::vector<sim_host*>& all() const {
    return by_number_;
  }

  /// From here on machines take turns.
  void take_turns() {
    turns_ = true;
  }
  /// Hears of each machine that is about to be handed something.
  void tell_before(std::function<void(std::size_t)> before) {
    before_ = std::move(before);
  }
  void hand_over(sim_host& x, std::function<void()> what);
  void thaw(sim_host& x);

  /// Delays and jitter from one to the other.
  duration way(const sim_host& a, const sim_host& b);
  /// Whether a partition is between them.
  bool parted(const sim_host& a, const sim_host& b) const;
  /// Whether they may have no connection.
  static bool estranged(const sim_host& a, const sim_host& b);

  /// Forgets all that waits.
  void clear();

private:
  sim_agenda& agenda_;
  line_emulator& lines_;
  std::map<std::string, host> hosts_;
  std::vector<sim_host*> by_number_;
  /// A machine of each home, by public host.
  std::map<std::string, host> homes_;
  const host nowhere_; ///< Where dials to a name go that nobody has.
  std::function<void(std::size_t)> before_;
  bool turns_ = false;
};

} // namespace potluck
