/// Healing: the acting leader's ruling that completes a round without those who
/// are lost, and what a member does about it.
#include <algorithm>

#include "runtime/averaging/round_agreement.hpp"

namespace potluck {

namespace {

/// Heals of one leader that may come to a halt without anybody being lost: two
/// members that cannot reach each other would keep the group for ever.
constexpr int stalls_before_abort = 2;

} // namespace

bool round_agreement::heal() {
  if (overtaken_ || !has_majority())
    return false;
  std::vector<round_healing::report> reports;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto& x = members_[i];
    if (i == self_)
      reports.emplace_back(ledger_.standings());
    else if (x.said && !x.lost())
      reports.emplace_back(x.said->chunks);
    else
      reports.emplace_back(std::nullopt);
  }
  auto healers = static_cast<std::size_t>(
      std::count_if(reports.begin(), reports.end(),
                    [](const auto& x) { return x.has_value(); }));
  if (healers < healers_)
    stalls_ = 0;
  healers_ = healers;
  if (stalls_ >= stalls_before_abort)
    return false;
  auto ruling
      = remedy_.rule(group_, static_cast<std::uint32_t>(answered_), reports);
  if (!ruling)
    return false;
  // Also to those that take no part: who is only slow can follow.
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (i != self_)
      send(members_[i].id, *ruling);
  obey(*ruling);
  return true;
}

void round_agreement::obey(const round_heal& x) {
  healing_ = true;
  fetching_ = false;
  own_ = {spectator_ ? standing::spectator : standing::incomplete, {}, {}};
  std::vector<bool> lost;
  for (const auto& y : members_)
    lost.push_back(y.down);
  carry(ledger_.heal(x, lost));
}

void round_agreement::on(std::size_t from, const round_heal& x) {
  if (x.epoch > highest_epoch || x.epoch % members_.size() != from
      || x.epoch < answered_ || x.chunks.size() != ledger_.chunks())
    return;
  if (decided()) {
    // Its leader did not hear us in time.
    send(members_[from].id, where_i_stand());
    return;
  }
  answered_ = x.epoch;
  leading_ = false;
  obey(x);
}

void round_agreement::rule_if_mended() {
  if (own_.is != standing::prepared)
    return;
  bool all = true;
  bool equal = true;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto& x = members_[i];
    if (i == self_ || !x.trains || !x.said || x.lost())
      continue;
    bool ready = x.said->is == standing::prepared;
    all = all && ready;
    equal = equal && (!ready || same(x.said->has, own_.has));
  }
  if (!equal)
    rule(false, {});
  else if (all && may_commit(own_.has))
    rule(true, vector_mark{own_.has});
  else if (all)
    rule(false, {});
}

bool round_agreement::lost_since_heal() const {
  return std::any_of(members_.begin(), members_.end(),
                     [](const member& x) { return x.said && x.lost(); });
}

} // namespace potluck
