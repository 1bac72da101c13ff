#include "runtime/averaging/round/hasty_rulings.hpp"

#include <algorithm>
#include <utility>

namespace potluck {

hasty_rulings::hasty_rulings(duration patience, averaging_rule how,
                             std::shared_ptr<call_offs> before)
    : patience_{patience}, how_{how}, before_{std::move(before)} {
}

bool hasty_rulings::is_early(std::size_t by, const member_roll& all,
                             const member_watch& watch) const {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].down || (all[i].trains && i != all.self() && !watch.present(i)))
      return false; // Somebody is lost.
  // A leader may lose patience a little earlier than it seems here. Others
  // suspect it at the second time.
  return watch.age() < (by == 0 ? patience_ * 3 / 4 : patience_ * 3 / 2);
}

bool hasty_rulings::is_needless(const round_heal& x,
                                const member_roll& all) const {
  const auto& alive = x.alive;
  // Whoever is healed without had not been heard in time.
  if (!std::binary_search(alive.begin(), alive.end(), all.self()))
    return false;
  // With the plain mean a member that is no good can do as much by its part.
  return alive.size() == all.size() || how_.how != aggregator::mean
         || how_.part_norm > 0;
}

bool hasty_rulings::is_unfounded(std::size_t by, const message& content,
                                 const round_agreement& agreement,
                                 const member_watch& watch) {
  if (const auto* said = std::get_if<round_standing>(&content)) {
    // Whoever rules tells this member as well, unless their line is broken.
    const auto& all = agreement.members();
    const bool made_up = said->standing == standing::committed
                         && agreement.leads_unruled()
                         && !all[all.leader_of(said->epoch)].lost();
    if (made_up && !who_)
      who_ = by;
    return made_up;
  }
  const auto* settle = std::get_if<round_settle>(&content);
  const auto* heal = std::get_if<round_heal>(&content);
  const auto* verdict = std::get_if<round_verdict>(&content);
  const bool ends = verdict && !verdict->commit;
  const bool makes_means
      = (heal && is_needless(*heal, agreement.members()))
        || (verdict && verdict->commit && !agreement.holds(*verdict));
  if (!settle && !ends && !makes_means)
    return false;
  const auto epoch = settle ? settle->epoch
                     : heal ? heal->epoch
                            : verdict->epoch;
  if (agreement.decided() || !agreement.heeds(by, epoch)
      || !is_early(by, agreement.members(), watch))
    return false;
  const bool prepared = agreement.standing() == standing::prepared;
  if (ends && prepared && !agreement.ready())
    return false; // Its samples are not enough.
  if (!who_) {
    who_ = by;
    means_may_differ_ = ends && prepared;
  }
  return makes_means;
}

std::optional<std::size_t> hasty_rulings::over(bool harmless,
                                               const member_roll& members) {
  if (harmless)
    who_.reset();
  return means_may_differ_ ? std::nullopt : note(members);
}

std::optional<std::size_t> hasty_rulings::compared(bool explained,
                                                   const member_roll& members) {
  if (!std::exchange(means_may_differ_, false))
    return std::nullopt;
  if (explained)
    who_.reset();
  return note(members);
}

std::optional<std::size_t> hasty_rulings::note(const member_roll& members) {
  const auto who = std::exchange(who_, std::nullopt);
  return before_->note(who ? members[*who].id : peer_id{}) ? who : std::nullopt;
}

} // namespace potluck
