/// What a message of another member does to round_agreement, except a heal.
#include <algorithm>

#include "runtime/averaging/round_agreement.hpp"

namespace potluck {

void round_agreement::on(std::size_t from, const round_prepared& x) {
  if (decided() || !members_[from].trains)
    return;
  known said{
      standing::prepared, {x.mean, x.least_samples, x.most_samples}, {}, 0};
  if (self_ == 0 && answered_ < 0 && x.epoch == 0) {
    members_[from].said = said;
    rule_if_prepared();
  } else if (leading_ && healing_ && x.epoch == answered_
             && members_[from].said) {
    members_[from].said = said;
    rule_if_mended();
  }
}

void round_agreement::on(std::size_t from, const round_settle& x) {
  if (x.epoch > highest_epoch || x.epoch % members_.size() != from
      || !members_[from].trains || x.epoch == answered_)
    return;
  if (x.epoch > answered_) {
    answered_ = x.epoch;
    leading_ = false;
    // What was being fetched no longer counts by itself: from here on, only a
    // ruling of this epoch or a later one makes this member prepared.
    fetching_ = false;
    healing_ = false;
  }
  // To a lower epoch this answers that it has been overtaken.
  send(members_[from].id, where_i_stand());
}

void round_agreement::on(std::size_t from, const round_standing& x) {
  if (x.epoch > highest_epoch)
    return;
  auto n = static_cast<std::int64_t>(members_.size());
  bool overtaken = leading_ && x.epoch > answered_;
  // Somebody has lost faith in its leader and turns to the next one. Undecided
  // members have deadlines of their own; this one would not notice.
  bool called = !leading_ && decided() && !spectator_ && !is_final(x.standing)
                && x.epoch % n != static_cast<std::int64_t>(self_);
  if (overtaken || called) {
    auto after = std::max<std::int64_t>(x.epoch, answered_);
    auto next = after - after % n + static_cast<std::int64_t>(self_);
    settle(next > after ? next : next + n);
    return;
  }
  if (!leading_ || x.epoch < answered_)
    return;
  if (healing_) {
    // Somebody whom the heal does without is back: the heal is to include it.
    if (!members_[from].said || is_final(x.standing))
      settle_again();
    return;
  }
  members_[from].said = known{
      x.standing, {x.mean, x.least_samples, x.most_samples}, x.chunks, x.ruled};
  if (!ruled_) {
    rule_if_all_stand();
  } else if (is_final(x.standing)) {
    members_[from].lacking = false;
    finish_ruling();
  }
}

void round_agreement::on(std::size_t from, const round_verdict& x) {
  if (x.epoch > highest_epoch || x.epoch % members_.size() != from
      || x.epoch < answered_ || decided())
    return;
  obey(from, x);
}

void round_agreement::obey(std::size_t leader, const round_verdict& x) {
  answered_ = x.epoch;
  leading_ = false;
  fetching_ = false;
  healing_ = false;
  vector_mark mean{x.mean, x.least_samples, x.most_samples};
  if (!x.commit) {
    decide(false, {});
  } else if (spectator_
             || (own_.is == standing::prepared && same(own_.has, mean))) {
    decide(true, mean);
  } else {
    bool everything = own_.is == standing::prepared;
    own_ = {};
    auto holder = index_of(x.holder);
    if (holder == members_.size() || holder == self_)
      holder = leader;
    fetch(holder, mean, everything);
  }
}

} // namespace potluck
