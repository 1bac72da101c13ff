/// Who ends a round, or takes its lead, before its time and for no reason that
/// this member sees.
///
/// It may have had one, as where a member stepped back and told nobody else: so
/// it is obeyed, but where it could have made means in others' stead, and
/// doubted only when it does so again and again (`call_offs`). Pure.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "messages/message.hpp"
#include "runtime/averaging/call_offs.hpp"
#include "runtime/averaging/robust_mean.hpp"
#include "runtime/averaging/round/member_watch.hpp"
#include "runtime/averaging/round/round_agreement.hpp"

namespace potluck {

class hasty_rulings {
public:
  /// @param patience The contract's. @param how Means are made.
  /// @param before Of the rounds so far.
  hasty_rulings(duration patience, averaging_rule how,
                std::shared_ptr<call_offs> before);

  /// Whether it heals or commits a round in which nobody is lost, with means
  /// that are not here, or tells the leader that others have committed it: it
  /// could have made them in others' stead. Notes who does so, or ends the
  /// round for no reason.
  bool is_unfounded(std::size_t by, const message& content,
                    const round_agreement& agreement,
                    const member_watch& watch);
  /// The round is over. @param harmless It counts, and nobody waited in vain.
  /// @return Who has done so too often by now.
  std::optional<std::size_t> over(bool harmless, const member_roll& members);
  /// Members have said which means they hold.
  /// @param explained By somebody's lie about them.
  /// @return As `over`, if that depended on it.
  std::optional<std::size_t> compared(bool explained,
                                      const member_roll& members);

private:
  /// Nobody is lost, as this member sees it, and that member cannot have lost
  /// patience yet.
  bool is_early(std::size_t by, const member_roll& all,
                const member_watch& watch) const;
  /// Nobody is lost by it, or so much depends on its sums that this member has
  /// to see who is.
  bool is_needless(const round_heal& x, const member_roll& all) const;
  std::optional<std::size_t> note(const member_roll& members);

  duration patience_;
  averaging_rule how_;
  std::shared_ptr<call_offs> before_;
  std::optional<std::size_t> who_;
  bool means_may_differ_ = false; ///< Which would be a reason.
};

} // namespace potluck
