/// The experts of one host: how far each is, and what is to become of it.
///
/// Pure: the time is passed in. Whoever owns it makes, saves and ends the
/// modules, and tells what came of that.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/experts/expert_records.hpp"
#include "runtime/membership/restart_budget.hpp"
#include "runtime/ports/expert_module.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Between two looks of a host at its queue and its announcements.
constexpr auto expert_interval = 100ms;
/// Between two lines about a host's work.
constexpr auto expert_news_interval = 5s;
/// Restarts of one expert within `restart_window`; then it is withdrawn.
constexpr std::size_t expert_restarts = 4;

} // namespace potluck::limits

namespace potluck {

class hosted_experts {
public:
  struct expert {
    expert_uid name;
    bool here = false;        ///< Served, or being made.
    bool ready = false;       ///< Made: it can be called.
    bool adopted = false;     ///< From another host.
    bool offered = false;     ///< To other hosts, while this one leaves.
    bool handed_over = false; ///< As far as this host could.
    std::uint32_t term = 1;
    expert_shape shape;
    std::uint64_t updates = 0;
    std::uint64_t saved = 0; ///< Updates of what lies on the shelf.
    restart_budget budget{limits::expert_restarts, limits::restart_window};
  };

  /// It is to be made, and served from then on. False when it is here already.
  bool add(const expert_uid& name, bool adopted);

  /// Its module is there, as it lies on the shelf. False when the expert is not
  /// here any more.
  bool made(const std::string& uid, const expert_shape& shape,
            std::uint64_t updates, std::uint32_t term);

  void computed(const std::string& uid, std::uint64_t updates);

  /// So many updates are on the shelf.
  void saved(const std::string& uid, std::uint64_t updates);
  /// The shelf did not take it: a host that leaves can do nothing more for it.
  void not_saved(const std::string& uid);

  /// Its module threw. True: make it again; false: it is given up.
  bool crashed(const std::string& uid, time_point now);

  /// Another host has it. False when it was not here anyway.
  bool withdraw(const std::string& uid);

  /// From now on experts are handed over, and none is taken in.
  void leave() {
    leaving_ = true;
  }
  bool leaving() const {
    return leaving_;
  }
  /// Another host serves it, or none will.
  void handed_over(const std::string& uid);
  /// Nobody remembers what was offered: all is to be offered anew.
  void offer_again();
  /// While leaving, each expert once: those whose last update is saved.
  /// @param learning One that computes a backward pass right now, or empty.
  std::vector<std::string> to_hand_over(const std::string& learning);
  /// True once: while leaving, when nothing keeps this host any more.
  bool gone();

  /// Those that have learnt since they were saved.
  std::vector<std::string> unsaved() const;

  /// Null when it is not here.
  const expert* find(const std::string& uid) const;

  /// The records to publish. Precondition: the uids are here.
  /// @param host This host, as others reach it.
  std::vector<dht_record> records(const std::string& run, const contact& host,
                                  const announcements::due_names& due) const;

  /// Those that were ever here, by uid.
  const std::map<std::string, expert>& all() const {
    return experts_;
  }
  std::size_t ready() const;
  /// Of all experts together.
  std::uint64_t updates() const;

private:
  expert* here(const std::string& uid);

  std::map<std::string, expert> experts_;
  bool leaving_ = false;
  bool told_ = false; ///< That nothing keeps this host.
};

} // namespace potluck
