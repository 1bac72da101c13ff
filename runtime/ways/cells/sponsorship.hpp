/// A sponsor's side: whom of its contributors it asks for a gradient and when,
/// how long it waits for each, and what each hears of what it brought.
///
/// `gathering` keeps what has come of one gathering; this class adds the time,
/// and what is remembered from one gathering to the next. Pure: its owner says
/// what happened and when, and carries out what each call returns, in that
/// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "messages/cells.hpp"
#include "runtime/clock.hpp"
#include "runtime/membership/deadline_estimator.hpp"
#include "runtime/step/credit.hpp"
#include "runtime/ways/cells/gathering.hpp"
#include "runtime/ways/contributions.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Between two looks while contributions are being gathered: their deadlines.
constexpr auto gathering_interval = 250ms;
/// For a contribution, before any of its sender was observed; then from those.
/// A batch under way and a gradient over a household's uplink.
constexpr auto contribution_patience = 10s;
constexpr auto contribution_floor = 2s;
constexpr auto contribution_cap = 20s;
/// Keys cost nothing, so all contributors that brought nothing when they were
/// asked last may keep a sponsor waiting for so long at once, and a tenth of
/// the time. Then it asks none of them until there is time for one.
constexpr auto vain_gathering = 20s;
constexpr int vain_gathering_share = 10;

} // namespace potluck::limits

namespace potluck {

class sponsorship {
public:
  /// Send this to a contributor.
  struct letter {
    peer_id to;
    std::variant<contribution_request, contribution_answer> content;
  };
  /// A contribution is whole: the step is to say whether it counts (`taken`).
  struct whole {
    std::shared_ptr<const contribution> what;
  };
  /// A contribution is no good, which people should be able to see.
  struct refused {
    peer_id from;
    std::string why;
  };
  /// Nobody is left to ask or to wait for.
  struct done {
    std::uint64_t step = 0;
  };
  using action = std::variant<letter, whole, refused, done>;
  using actions = std::vector<action>;

  /// @param part_values Of each part but the last (`contribution_values`).
  explicit sponsorship(std::uint32_t part_values) : part_values_{part_values} {
  }

  /// Asks these contributors. Replaces an earlier gathering.
  actions gather(gather_contributions order, time_point now);
  /// Whether a gathering is going on: then `look` has to be called every
  /// `limits::gathering_interval`.
  bool gathers() const {
    return gathering_.has_value();
  }
  /// Gives up those that were waited for long enough.
  actions look(time_point now);

  /// @param body, size The values, packed as the part says.
  actions offer(const peer_id& from, const contribution_part& part,
                const std::uint8_t* body, std::size_t size, time_point now);
  /// Whether its part is awaited, under this number.
  bool awaits(const peer_id& from, std::uint64_t number) const;
  /// One that was asked has nothing.
  actions declined(const peer_id& from, time_point now);
  /// Whether the step counts what this one brought.
  actions taken(const peer_id& from, bool accepted);
  /// The peer is gone.
  actions left(const peer_id& who, time_point now);

private:
  /// Asks whom it is time to ask; ends the gathering when nobody is left.
  void go_on(actions& out, time_point now);
  contribution_request request_to(const peer_id& who) const;

  const std::uint32_t part_values_;
  std::uint64_t requests_ = 0;
  gather_contributions order_; ///< The last one.
  std::optional<gathering> gathering_;
  time_point began_; ///< The gathering.
  std::map<peer_id, time_point> asked_at_;
  std::map<peer_id, packing> packings_; ///< Of their contributions.
  std::set<peer_id> gave_;              ///< When they were asked last.
  /// Passed to the step, which has not said yet; with their requests.
  std::map<peer_id, std::uint64_t> passed_on_;
  /// Time for which all others together may be waited for in vain.
  credit in_vain_{limits::vain_gathering, limits::vain_gathering_share};
  time_point charged_until_; ///< What it has cost of this gathering.
  /// From a request to the last chunk.
  deadline_estimator contributions_{{limits::contribution_floor,
                                     limits::contribution_cap,
                                     limits::contribution_patience}};
};

} // namespace potluck
