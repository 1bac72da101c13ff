/// When which fault befalls whom: a scenario's rules and churn, drawn from a
/// seed.
///
/// Pure. The owner asks for the next event, carries it out when its time has
/// come and says who is there, since targets are chosen among those.
///
/// Every peer, every visit of a peer and every occurrence of a rule draws from
/// a stream of its own, seeded by its number: when things happen depends on the
/// seed alone, and whom they befall on the seed and on who is there, never on
/// how often the owner asks. Of what happens at one moment, first come those
/// who join (bootstraps before others), then faults end, then peers return,
/// then those whose stay is over go, then rules strike, in the file's order.
///
/// Differences from what a person might expect: a rule that finds nobody to
/// strike passes over that time and goes on; a peer killed by a rule without
/// `back_after` returns after its group's `away`, if the group has one, and
/// never else; a peer that is not there when its stay is over (it finished)
/// does not return; a fault that lasts names the same peers when it ends,
/// whether they are there or not.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tools/lab/scenario/fault_history.hpp"
#include "tools/lab/scenario/scenario.hpp"

namespace potluck {

class fault_crowd;

/// A peer as the scenario's groups and chance make it.
struct scripted_peer {
  std::size_t number = 0;
  std::size_t group = 0; ///< Index into `scenario::groups`.
  double samples_per_second = 0;
  double clock_drift = 0;
  duration delay{0};
  double upload = 0;
  double download = 0;
  std::uint64_t seed = 0;
};

class fault_plan {
public:
  fault_plan(const scenario& what, std::uint64_t seed);

  /// Peers known so far, `join` faults included once they happened; numbers are
  /// indices and never reused.
  const std::vector<scripted_peer>& peers() const {
    return peers_;
  }

  /// When the next event is due; nothing when there is none any more.
  std::optional<duration> next() const;

  /// The events due at `now`, in order. Targets are chosen among `present`.
  /// @param present Numbers of the peers that run, stopped ones included.
  std::vector<fault_event> due(duration now,
                               const std::set<std::size_t>& present);

  /// From here on nothing begins, nobody comes and nobody goes: what has begun
  /// ends in its time, and that is all.
  void wind_down();

  /// The last fault that can be foreseen has ended: from here on the run must
  /// recover. Churn counts as a fault, and so does coming late; rules without
  /// an end, and churn, are never over. What lasts for ever (a fault without
  /// `for`) has to be lived with: it is over once it has begun.
  bool over(duration now) const;

  /// Whether an event of that number is a fault under way that will end.
  bool ends(std::uint64_t number) const {
    return lasting_.count(number) > 0;
  }

  /// Of the faults that have begun: how many of each kind, and a line for each
  /// as `fault_history` keeps them.
  const std::map<fault_kind, std::uint64_t>& counts() const {
    return history_.counts();
  }
  std::vector<std::string> history() const {
    return history_.lines();
  }

private:
  /// What is due at one moment, in the order in which it happens.
  enum class step { bootstrap, join, end, back, departure, rule };
  using pending = std::tuple<duration, step, std::uint64_t>; ///< Of whom.

  /// One stay of one peer, drawn when it begins.
  struct visit {
    std::uint64_t count = 0; ///< Stays so far.
    std::optional<duration> until;
    bool orderly = false;
    duration away{0};
    bool keeps_disk = true;
    std::optional<pending> departure; ///< As it stands in the queue.
  };
  struct rule_state {
    random_stream times;
    std::uint64_t strikes = 0;
  };

  random_stream stream(std::uint64_t kind, std::uint64_t number) const;
  std::size_t add_peer(std::size_t group);
  void begin_visit(std::size_t peer, duration now);
  void end_visit(std::size_t peer, duration now,
                 const std::optional<duration>& back_after);
  void schedule(duration at, step what, std::uint64_t number);
  std::optional<fault_event> happen(const pending& x, fault_crowd& there);
  fault_event come(duration at, std::size_t peer, bool again,
                   fault_crowd& there);
  std::optional<fault_event> depart(duration at, std::size_t peer,
                                    fault_crowd& there);
  std::optional<fault_event> strike(duration at, std::size_t rule,
                                    fault_crowd& there);
  fault_event welcome(duration at, const fault_rule& rule, fault_crowd& there);
  std::vector<std::size_t> choose(const fault_target& who,
                                  random_stream& chance,
                                  const fault_crowd& there) const;

  scenario scenario_;
  std::uint64_t seed_;
  std::vector<scripted_peer> peers_;
  std::vector<visit> visits_; ///< By peer.
  std::vector<rule_state> rules_;
  std::set<pending> queue_;
  std::map<std::uint64_t, fault_event> lasting_; ///< By number, until it ends.
  fault_history history_;
  std::uint64_t events_ = 0;
  duration latest_{0}; ///< Of what happened.
};

} // namespace potluck
