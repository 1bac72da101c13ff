#include "runtime/step/round_watch.hpp"

#include <algorithm>
#include <set>

#include "runtime/config.hpp"
#include "runtime/planning/contract_difference.hpp"
#include "runtime/progress/progress_tracker.hpp"

namespace potluck {

namespace {

using namespace std::chrono_literals;

/// From another member's report of the completed step to asking it for the
/// verdict, which usually is on its way; then from how far verdicts came behind
/// that member's reports. A question too many costs a hundred bytes, one too
/// late an idle peer: hence the small floor and cap.
constexpr auto verdict_grace = 700ms;
constexpr auto verdict_floor = 300ms;
constexpr auto verdict_cap = 5s;

std::chrono::milliseconds in_milliseconds(duration x) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(x);
}

} // namespace

round_watch::round_watch()
    : rounds_(
        {limits::round_floor, limits::round_cap, limits::first_round_patience}),
      verdicts_({verdict_floor, verdict_cap, verdict_grace}) {
}

void round_watch::form(group_formed x) {
  auto most = limits::leaders_patience * patience().count();
  auto& asked = x.contract.patience_ms;
  asked = static_cast<std::uint32_t>(std::min<std::int64_t>(asked, most));
  before_ = std::exchange(planned_, x.contract);
  formed_ = std::move(x);
}

std::string round_watch::why_planned() const {
  return before_.members.empty() ? "the first plan"
                                 : plan_change(before_, planned_);
}

std::vector<outcome_question> round_watch::hear(const progress_report& x,
                                                const acquaintances& others,
                                                bool one_history,
                                                time_point now) {
  std::vector<outcome_question> result;
  if (!formed_ || x.role != role::trainer || x.step < formed_->contract.step)
    return result;
  const auto& c = formed_->contract;
  auto member = std::any_of(c.members.begin(), c.members.end(),
                            [&](auto& m) { return m.who.id == x.id; });
  auto wait = in_milliseconds(verdicts_.patience(x.id));
  const auto known = one_history && others.has_averaged_with(x.id);
  if (!asked_ && x.step == c.step && (member || known)) {
    asked_.emplace(x.id, now);
    result.push_back({{c.group, x.id, wait}, wait});
  }
  if (!left_behind_ && most_are_ahead(others, one_history, now)) {
    left_behind_ = true;
    result.push_back({{c.group, {}, wait}, duration{0}});
  }
  return result;
}

bool round_watch::most_are_ahead(const acquaintances& others, bool one_history,
                                 time_point now) const {
  const auto& c = formed_->contract;
  auto ahead = [&](const progress_report& x) {
    return x.role == role::trainer && x.step >= c.step;
  };
  // A single peer that did the step alone is no reason to leave the round. Most
  // members are, and so are as many outside, when silent members held this
  // round up.
  std::set<peer_id> members;
  std::size_t members_ahead = 0;
  for (auto& member : c.members)
    if (member.role == role::trainer) {
      members.insert(member.who.id);
      auto known = others.report(member.who.id);
      members_ahead += known && ahead(*known);
    }
  std::size_t others_ahead = 0;
  for (auto& x : others.tracker().fresh(now))
    others_ahead += ahead(x) && members.count(x.id) == 0
                    && others.has_averaged_with(x.id)
                    && (one_history || x.step > c.step);
  return 2 * members_ahead > members.size() || others_ahead >= members.size();
}

bool round_watch::over(const round_over& x, std::uint64_t step,
                       time_point now) {
  auto taken = std::chrono::duration_cast<duration>(
      std::chrono::duration<double>(x.seconds));
  // A round that ended because somebody left says nothing about patience. Nor
  // does one that few held up: the next goes without them.
  bool few = !x.silent.empty()
             && limits::few_of * x.silent.size() < x.contract.members.size();
  bool in_vain = !x.committed
                 && taken >= std::chrono::milliseconds{x.contract.patience_ms};
  if (in_vain && !few)
    rounds_.expired(peer_id{});
  if (x.committed && !x.healed) // That one lasted as long as one was missed.
    rounds_.observed(peer_id{}, taken);
  if (x.committed && asked_)
    verdicts_.observed(asked_->first, now - asked_->second);
  return in_vain && x.contract.step == step + 1;
}

void round_watch::reset() {
  formed_.reset();
  applied_.reset();
  asked_.reset();
  told_.reset();
  left_behind_ = false;
}

std::chrono::milliseconds round_watch::patience() const {
  return in_milliseconds(rounds_.patience(peer_id{}));
}

void round_watch::note_outcome(const peer_id& self) {
  if (!applied_)
    return; // It was a predecessor's.
  result x;
  double own = 0;
  const auto& members = applied_->contract.members;
  const auto& out = applied_->left_out;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (std::binary_search(out.begin(), out.end(), i))
      continue;
    x.loss += members[i].loss_sum;
    x.samples += static_cast<double>(members[i].samples);
    if (members[i].who.id == self)
      own = static_cast<double>(members[i].samples);
  }
  x.loss = x.samples > 0 ? x.loss / x.samples : 0;
  x.share = x.samples > 0 ? own / x.samples : 0;
  x.peers = members.size() - out.size();
  last_ = x;
}

} // namespace potluck
