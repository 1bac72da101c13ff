/// What must hold in every run, whatever befalls it: checked all along, from
/// what the honest peers report.
///
/// Pure: it is told events and moments, and collects violations as sentences.
/// The simulation feeds it; nothing here knows peers from processes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/event_log.hpp"

namespace potluck {

class run_invariants {
public:
  struct rules {
    std::uint64_t target_batch = 1;
    /// Peers that cannot reach each other may go on apart for a while.
    bool may_split = false;
    bool rounded = false; ///< Gradients or means, on the way (packing).
    /// In redrawn groups peers hold different parameters: no further apart than
    /// this part of their length (runtime/ways/moshpit). 0: groups are not
    /// redrawn, and all hold the same.
    double most_drift = 0;
    /// Honest peers, as `short_name`s that events mention. A ban of one of them
    /// is a violation, and so is to find bad data in what it sends.
    std::set<std::string> honest;
  };

  explicit run_invariants(rules what) : rules_(std::move(what)) {
  }
  void add_honest(const std::string& short_name) {
    rules_.honest.insert(short_name);
  }
  void no_longer_honest(const std::string& short_name) {
    rules_.honest.erase(short_name);
  }

  /// An honest peer (by number) told its user this.
  void told(std::size_t peer, duration at, const event& x);

  /// A new process of the peer continues from a checkpoint: it must hold the
  /// parameters that somebody had at that step, as far as anybody remembers.
  void resumed(std::size_t peer, duration at, std::uint64_t step,
               std::uint64_t history_samples, const std::string& digest);

  /// An honest peer holds these parameters after `step`, whose groups were
  /// redrawn: they are held against those of the others at that step.
  void parameters_seen(std::size_t peer, duration at, std::uint64_t step,
                       std::vector<float> values);

  /// The peer's process ended; what comes from that number is another one. With
  /// the last one that held a step's state its history is gone: who comes then
  /// founds the run anew, and is compared with nobody before.
  void process_ended(std::size_t peer);

  /// An honest member sent this mean of a chunk's tally.
  void tally_seen(std::size_t peer, duration at, float mean);

  /// A check that somebody else made. Counts, and records when not `holds`.
  void check(bool holds, duration at, const std::string& sentence);
  /// The same; `say` makes the sentence, when one is needed.
  template <class Say, class = std::invoke_result_t<Say>>
  void check(bool holds, duration at, Say say) {
    check(holds, at, holds ? std::string{} : std::string{say()});
  }

  const std::vector<std::string>& violations() const {
    return violations_;
  }
  std::uint64_t checks() const {
    return checks_;
  }

  /// The longest history that any peer has reported, and when it last grew.
  std::uint64_t longest_history() const {
    return longest_;
  }
  std::uint64_t highest_step() const {
    return highest_step_;
  }
  duration last_progress() const {
    return last_progress_;
  }
  /// Steps that more than one history had at a time.
  std::size_t splits() const {
    return splits_.size();
  }
  /// Of the steps committed: the share whose first round succeeded.
  double first_try() const;
  double last_loss() const {
    return last_loss_;
  }
  /// The furthest that two peers were apart at one step, as a part of the
  /// longer one's parameters.
  double drift() const {
    return drift_;
  }
  double most_drift() const {
    return rules_.most_drift;
  }

private:
  struct record {
    std::optional<std::uint64_t> step;
    std::optional<std::uint64_t> history;
    std::string group;            ///< Of its last committed round...
    std::uint64_t group_step = 0; ///< ...which completes this step.
  };
  struct tries {
    std::set<std::string> groups;
    bool committed = false;
  };

  /// Steps whose parameters are kept: who is further behind is compared when it
  /// has caught up.
  static constexpr std::uint64_t steps_compared = 8;

  void begin_history();
  void step_applied(std::size_t peer, duration at, const event& x);

  rules rules_;
  std::map<std::size_t, record> peers_;
  /// Per step: digests, and one peer that holds each.
  std::map<std::uint64_t, std::map<std::string, std::size_t>> states_;
  /// Per step: digests that somebody had at any time.
  std::map<std::uint64_t, std::set<std::string>> ever_;
  /// Per group and step: the digest that its members got.
  std::map<std::string, std::pair<std::string, std::size_t>> rounds_;
  std::map<std::uint64_t, tries> tries_;
  /// Per step, in redrawn groups: what each holds.
  std::map<std::uint64_t, std::map<std::size_t, std::vector<float>>> held_;
  double drift_ = 0;
  /// Of histories that are gone.
  std::size_t committed_before_ = 0;
  std::size_t at_once_before_ = 0;
  std::set<std::uint64_t> splits_;
  std::vector<std::string> violations_;
  std::uint64_t checks_ = 0;
  std::uint64_t longest_ = 0;
  std::uint64_t reached_ = 0; ///< By the present history.
  std::uint64_t highest_step_ = 0;
  duration last_progress_{0};
  double last_loss_ = 0;
};

/// One field of an event; a default when there is none of that type and name.
template <class T>
T field_of(const event& x, const std::string& name) {
  for (auto& [key, value] : x.fields)
    if (key == name)
      if (auto found = std::get_if<T>(&value))
        return *found;
  return {};
}

} // namespace potluck
