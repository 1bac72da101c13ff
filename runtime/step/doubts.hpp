/// Peers that groups form without for a while: they kept silent in rounds, sent
/// wrong states, lied about means, or contradict others.
///
/// None of this proves bad will, so nobody is banned here; a peer that is set
/// aside again soon is set aside for twice as long. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "messages/ids.hpp"
#include "messages/progress.hpp"
#include "runtime/clock.hpp"
#include "runtime/state/limits.hpp"
#include "runtime/step/facts.hpp"

namespace potluck::limits {

/// Who is doubted again is left out twice as long, up to this many times.
constexpr unsigned most_doublings = 6;
/// For how long who does not answer invitations is set aside at first: a busy
/// machine is late, too, and is to take part again.
constexpr auto unanswered_rest = std::chrono::seconds{10};

} // namespace potluck::limits

namespace potluck {

class doubts {
public:
  using verdict = std::pair<peer_id, std::chrono::seconds>;

  /// Peers whose silence is counted; beyond, the one that was last silent
  /// longest ago is forgotten.
  static constexpr std::size_t most_silent = 4096;

  /// @param contradicted As in `set_aside_longer`.
  void set_aside(const peer_id& who, duration how_long, time_point now,
                 bool contradicted = false);
  /// For twice as long as last time, if that was lately.
  /// @param contradicted By what others say: honest or not, so it may lead a
  ///     group of its own.
  /// @return For how long.
  /// @param first Of what the first time takes.
  std::chrono::seconds set_aside_longer(const peer_id& who, time_point now,
                                        bool contradicted = false,
                                        std::chrono::seconds first
                                        = limits::distrust);
  /// What a round says of its members: those that were silent too often are
  /// set aside.
  std::vector<verdict> heard(const round_over& x, time_point now);
  /// Likewise: these have not answered an invitation.
  std::vector<verdict> unanswered(const std::vector<peer_id>& who,
                                  time_point now);
  /// A report of a connected peer that is set aside.
  void heard(const progress_report& x, time_point now);
  void left(const peer_id& who);
  /// They were of another era.
  void forget_reports();
  /// It reports again, and its time is over.
  /// @return Whether it had been set aside.
  bool forgive(const peer_id& who);

  /// Groups form without it.
  bool has(const peer_id& who, time_point now) const;
  std::set<peer_id> all(time_point now) const;
  /// What those that are connected have said since. Valid until the next
  /// report.
  std::vector<const progress_report*> reports(time_point now) const;
  /// Those among them that others contradict.
  std::vector<peer_id> contradicted(time_point now) const;
  /// How much is remembered, of whatever kind.
  std::size_t remembered() const {
    return aside_.size() + before_.size() + silences_.size();
  }

private:
  struct aside {
    time_point until;
    bool contradicted = false;
    std::optional<progress_report> said = std::nullopt;
    time_point said_at{};
  };
  struct memory {
    unsigned times = 0; ///< Set aside lately, or silent in a row.
    time_point last;
  };

  bool lately(const peer_id& who, time_point now) const;
  void silent(const peer_id& who, time_point now, std::chrono::seconds first,
              std::vector<verdict>& verdicts);
  /// Those whose time ended long ago do not come back.
  void forget(time_point now);

  std::map<peer_id, aside> aside_;
  std::map<peer_id, memory> before_;
  std::map<peer_id, memory> silences_; ///< In rounds in a row.
};

} // namespace potluck
