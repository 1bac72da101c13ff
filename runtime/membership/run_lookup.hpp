/// When this peer publishes its report in the DHT, and when it looks up those
/// of others there, and how many.
///
/// What all answer with grows with the peers, and so does the number of those
/// that ask: so a peer that knows all asks rarely. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "messages/progress.hpp"
#include "messages/routing.hpp"
#include "runtime/clock.hpp"
#include "runtime/membership/guest_book.hpp"

namespace potluck {

class run_lookup {
public:
  /// Records that each node names to a look-up of a member: what it does not
  /// know it asks for again, once it has dialled these. The five nodes closest
  /// to a run's key answer everybody, and the records of all that do not know
  /// each other yet were more than their lines carry.
  static constexpr std::uint32_t records_of_many = 32;
  /// A peer that does not know all yet looks up no sooner than after so long
  /// for every peer that it is connected with, up to a bound: more come, and
  /// call at us.
  static constexpr auto meeting_pause_per_peer = std::chrono::milliseconds{50};
  static constexpr auto longest_meeting_pause = std::chrono::seconds{15};

  /// @param own What this peer is.
  run_lookup(const peer_id& self, role own, const std::string& run,
             time_point began)
      : self_(self), own_(own), key_(key_of("run/" + run)),
        next_publication_(began) {
  }

  // What is known of this peer.
  struct situation {
    const progress_report& mine;
    bool decided = false; ///< Its cell has said whom it wants,
    bool few = false;     ///< and that is not everybody.
    const guest_book& guests;
  };

  /// Whether it is time to publish and to look up.
  bool due(time_point now) const {
    return now >= next_publication_;
  }
  void due_at(time_point when) {
    next_publication_ = when;
  }
  /// Whether others should find this peer in the DHT: not when it contributes,
  /// and not when it only joins a run that is there, unless it may have to
  /// found it.
  bool publishes(const situation& x, time_point now) const;
  struct question {
    record_key key;
    std::vector<std::string> known; ///< Sub-keys that need not be named.
    std::uint32_t most = 0;         ///< Records of each node; 0: all.
    /// Without an answer this peer might found a run that there is, or go on
    /// without those that it does not know of.
    bool matters = false;
  };
  struct turn {
    std::optional<dht_record> publish;
    std::optional<question> look_up;
  };
  /// What to do now; it counts as done, and the next time is set.
  turn take_turn(const situation& x, time_point now);

  /// Somebody reports; with a charter, the run is there.
  void heard(const progress_report& x, time_point now) {
    if (!x.charter.empty())
      charter_heard_at_ = now;
  }
  /// From here on all have to be known.
  void start_over();
  /// One that all should know of is unknown here.
  void is_missing() {
    acquainted_ = false;
  }

  struct hearsay {
    progress_report report; ///< As its peer wrote it.
    duration age{0};
  };
  struct finding {
    std::vector<hearsay> reports; ///< Of others, each by its own word.
    bool whole = false;           ///< All records were named.
    bool first = false;           ///< Somebody has answered for the first time.
  };
  /// The look-up's end.
  /// @param stored Records that there are, if not all were told.
  /// @param answers Nodes that answered.
  finding found(const std::vector<dht_record>& records, std::uint32_t stored,
                std::uint32_t answers, bool heard_anybody, time_point now);
  /// Somebody has answered a look-up.
  bool looked_up() const {
    return looked_up_;
  }
  /// The run's records that the last look-up told of; 0: it told all.
  std::uint32_t records_stored() const {
    return stored_;
  }

private:
  std::uint32_t records_wanted(const situation& x) const;
  duration pause(const situation& x) const;

  peer_id self_;
  role own_;
  record_key key_; ///< Of the run.
  time_point next_publication_;
  time_point last_{};           ///< Look-up.
  bool looked_up_ = false;      ///< Once at least.
  bool looking_up_ = false;     ///< The last one has not been answered.
  bool acquainted_ = false;     ///< With all that the last one found.
  std::uint32_t asked_for_ = 0; ///< Records of each node; 0: all.
  std::uint32_t stored_ = 0;
  std::optional<time_point> charter_heard_at_;
};

} // namespace potluck
