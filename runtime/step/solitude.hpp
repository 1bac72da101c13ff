/// Whether this peer takes its steps alone although others train in its run.
///
/// Two parts of a run that cannot reach each other make two histories, of which
/// one is lost when they meet, and both count as the run if they never do.
/// Their users are told, again and again. Pure: the time comes in.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "messages/progress.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class solitude {
public:
  /// A record lives 15 s, so one that is heard so long after its peer was lost
  /// was written by a peer that lives; and so long a report says that it does.
  static constexpr duration proof = std::chrono::seconds{20};
  /// One that was never connected lives when it has been heard of so often.
  static constexpr unsigned proving_reports = 2;
  /// Between two words to the user; doubled each time up to the cap.
  static constexpr duration first_pause = std::chrono::seconds{30};
  static constexpr duration longest_pause = std::chrono::minutes{10};
  /// Trainers remembered that there is no line to.
  static constexpr std::size_t most = 256;

  void joined(const peer_id& who) {
    connected_.insert(who);
    absent_.erase(who);
  }
  void left(const peer_id& who, time_point now);
  /// A trainer of this run says so in a record; there is no line to it.
  void heard_of(const progress_report& x, time_point now);

  /// For the user.
  struct word {
    bool alone = false; ///< Else it is over.
    std::string sentence;
    /// One of the others was connected since this peer started: the rest are
    /// records, which a stranger may have made up.
    bool met = false;
  };
  /// This peer has taken a step. @param company Trainers are connected.
  /// @returns What is to be said now, if anything.
  std::optional<word> stepped(bool company, time_point now);
  /// The others' history is held now.
  std::optional<word> fetched();
  /// What is to be said at the end.
  std::optional<word> last_word() const;
  /// The same in a few words; empty while there is no trouble.
  const std::string& trouble() const {
    return trouble_;
  }

private:
  struct absence {
    time_point since;
    time_point heard;
    unsigned reports = 0;
    bool lost = false; ///< It was connected.
    address where;
  };

  bool lives(const absence& x, time_point now) const;
  std::string sentence() const;

  std::set<peer_id> connected_;
  std::map<peer_id, absence> absent_;
  std::uint64_t steps_ = 0; ///< Alone, since the last one with others.
  bool met_ = false;        ///< One that trained then was connected once.
  std::string whom_;        ///< There is no line to, as the sentence says it.
  std::string trouble_;
  time_point next_word_{};
  duration pause_{};
};

} // namespace potluck
