/// This peer's own report: which connected peers hear it, and when.
///
/// All hear it in rounds, which are rarer the more there are. Those that work
/// with this peer have rounds of their own, so that a crowd of strangers does
/// not hold them up; those that lead hear at once what they may wait for. A
/// contributor and its sponsor tell each other what matters between them
/// (`headline`) when it changes, and else rarely. Guests that only hubs lead
/// to, and those that do not train, have rounds of their own: they spare the
/// hubs. Pure.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "runtime/lines/token_bucket.hpp"
#include "runtime/membership/guest_book.hpp"
#include "runtime/membership/limits.hpp"
#include "runtime/ways/cells/contributor_pace.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Guests that only hubs lead to, or that do not train, hear that a peer is at
/// another step, or has nothing to compute, at once, and the rest in such
/// rounds; who leads more often, since a step waits for what it hears. A report
/// takes a hub 0.9 kB: so two peers that train take it less than 2 kB/s.
constexpr auto relayed_report_pause = 3s;
constexpr auto relayed_leader_pause = 500ms;

} // namespace potluck::limits

namespace potluck {

class report_news {
public:
  /// What the report says now.
  const progress_report& mine() const {
    return mine_;
  }
  /// Who says it, where it is, how others get there, and which hubs lead to it.
  void sign(const peer_id& self, role own, const address& where,
            const address& also, reach how, std::vector<contact> hubs);
  /// A contributor tells its report no sooner than after this, without news.
  void pace(duration pause) {
    pace_ = pause;
  }

  enum class change {
    usual,
    person, ///< It has another charter, or contributes, or does no longer.
    ended,  ///< The run is over here.
  };
  /// It says this from here on. @returns What is new in it.
  change take(const progress_report& x, time_point now);
  /// What it says by `now`: a contributor's samples are those that it has by
  /// then, for its conductor says them only now and then.
  progress_report by(time_point now) const;
  /// Whether not all have heard it yet, or not lately.
  bool due(time_point now) {
    say_again(now);
    return due_ || relayed_due_;
  }

  /// Whether a guest is one to tell at all.
  bool hears(const guest_book::guest& g) const;
  /// Contributors and sponsors hear it with the next call.
  void tell_cells_soon() {
    own_cell_.at = other_cells_.at = {};
  }

  using keeps = std::function<bool(const guest_book::guest&)>;
  /// It is that one's turn to lead.
  void leads(const peer_id& who) {
    leader_ = who;
  }
  /// Those to tell now, as if all were to hear it.
  /// @param kept Whether this peer stays connected with a guest.
  std::vector<peer_id> all(const guest_book& guests, const keeps& kept,
                           time_point now);
  /// Likewise, or those that lead where all heard it a moment ago.
  std::vector<peer_id> round(const guest_book& guests, const keeps& kept,
                             time_point now);
  /// Contributors and sponsors whose time has come.
  std::vector<peer_id> cells(const guest_book& guests, const keeps& kept,
                             time_point now);

private:
  /// What was said long ago is due again.
  void say_again(time_point now);
  /// As `all` and `round`, as if no guest took a hub.
  std::vector<peer_id> usual_all(const guest_book& guests, const keeps& kept,
                                 time_point now);
  std::vector<peer_id> usual_round(const guest_book& guests, const keeps& kept,
                                   time_point now);
  /// Guests that only hubs lead to, whose time has come.
  std::vector<peer_id> relayed_round(const guest_book& guests, time_point now);
  /// Those that work with this peer, when it is their time, and now and then
  /// with them a few that hold a state by their own word: a newcomer that does
  /// not hear of each step does not catch up.
  std::vector<peer_id> company(const guest_book& guests, bool strangers,
                               time_point now);
  /// Between two rounds among so many.
  duration pause_among(std::size_t peers) const;
  /// What contributors and their sponsors hear of each other at once.
  struct headline {
    std::uint64_t step = 0;
    digest state;
    bool contributes = false;
    peer_id sponsor;
    bool takes_part = false;
    bool has_samples = false;
    bool waits = false; ///< Has nothing to compute.

    friend bool operator==(const headline& a, const headline& b) {
      return a.step == b.step && a.state == b.state
             && a.contributes == b.contributes && a.sponsor == b.sponsor
             && a.takes_part == b.takes_part && a.has_samples == b.has_samples
             && a.waits == b.waits;
    }
  };
  headline headline_now() const;
  /// What they were told last, and when.
  struct cell_news {
    headline what;
    time_point at{};

    /// Whether it is time for these; then they count as told.
    bool due(const headline& now_true, duration pause, time_point now);
  };

  progress_report mine_;
  peer_id leader_;
  time_point since_{};        ///< It says this then.
  bool due_ = false;          ///< Not everybody knows it yet.
  bool leaders_due_ = false;  ///< Nor those that lead.
  bool partners_due_ = false; ///< Nor those that work with this peer.
  /// When everybody was told last; none: that is due.
  std::optional<time_point> last_round_;
  std::optional<time_point> last_partners_round_;
  std::optional<time_point> last_company_round_; ///< With who enters.
  token_bucket to_strangers_{limits::reports_to_strangers,
                             limits::reports_to_strangers_at_once};
  duration pace_ = limits::shortest_report_pause;
  cell_news own_cell_;       ///< To the sponsor, or to whom this peer is that.
  cell_news other_cells_;    ///< To contributors and sponsors of others.
  bool relayed_due_ = false; ///< Not all that hubs lead to know it yet.
  cell_news relayed_;        ///< To them,
  time_point relayed_leader_{}; ///< and to the one that leads, when.
};

} // namespace potluck
