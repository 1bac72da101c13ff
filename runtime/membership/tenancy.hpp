/// For which runs a bootstrap peer averages, by a *tenant* for each: an
/// auxiliary peer of that run in the same process.
///
/// Pure: it says when one is to begin and to end; names of runs are strangers'.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "messages/ids.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class tenancy {
public:
  struct rules {
    std::set<std::string> runs; ///< That the operator names.
    bool any = false;           ///< And all others that peers come with,
    std::size_t most = 16;      ///< so many of them at a time, of each network
                                ///< one.
  };
  /// A tenant ends when nobody of its run was here for so long. So does one of
  /// a run that the operator does not name when it had no round: others get its
  /// place and its memory, and it comes back if they leave any.
  static constexpr std::chrono::minutes idle{10};
  /// One that has to move stays so long first: an address may come and go.
  static constexpr std::chrono::minutes settled{5};
  /// One that failed is not begun again before.
  static constexpr std::chrono::seconds rest{30};

  explicit tenancy(rules x) : rules_(std::move(x)) {
  }

  /// A trainer of `run` is connected.
  /// @param network Of which one run at a time gets a tenant, unless the
  ///     operator names more; empty: of this one all do.
  void joined(const peer_id& who, const std::string& run,
              const std::string& network = "");
  /// Its tenant has completed a round.
  void worked(const std::string& run, time_point now);
  void left(const peer_id& who, time_point now);
  /// While paused there are no tenants.
  void pause(bool yes) {
    paused_ = yes;
  }
  /// Others reach this machine elsewhere: tenants make place for such that say
  /// so.
  void move();
  /// A tenant is over. @param finished The run is, too: it gets no other one
  /// before all its peers have gone.
  void ended(const std::string& run, bool finished, time_point now);

  struct work {
    std::vector<std::string> begin; ///< These have a tenant from here on.
    /// These are to leave, and why; `ended` follows.
    std::vector<std::pair<std::string, std::string>> end;
  };
  work due(time_point now);

private:
  struct run {
    std::map<peer_id, std::string> there; ///< And their networks.
    std::string network;                  ///< That its tenant counts for.
    time_point emptied{};
    bool has_tenant = false;
    bool leaving = false;
    bool moves = false;
    bool finished = false;
    time_point begun{};
    time_point worked{};
    time_point not_before{};
  };

  bool named(const std::string& name) const {
    return rules_.runs.count(name) != 0;
  }
  /// The network that its tenant would count for; nothing: there is no room.
  std::optional<std::string> place_for(const std::string& name,
                                       const run& x) const;
  bool may_begin(const run& x, time_point now) const;
  bool idles(const std::string& name, const run& x, time_point now) const {
    return !named(name) && now - x.worked >= idle;
  }
  /// Why; empty if it does not have to.
  std::string must_end(const std::string& name, const run& x,
                       time_point now) const;

  const rules rules_;
  bool paused_ = false;
  std::map<std::string, run> runs_; ///< With peers or a tenant.
  std::map<peer_id, std::string> peers_;
};

} // namespace potluck
