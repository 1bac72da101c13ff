/// The averager's members that come, go, stay out or are out of touch, and the
/// rounds that this peer takes no part in.
#include "actors/averager.hpp"

#include <algorithm>

#include "runtime/config.hpp"

namespace potluck {

namespace {

template <class T>
constexpr bool of_a_round = std::disjunction_v<
    std::is_same<T, chunk_part>, std::is_same<T, chunk_mean>,
    std::is_same<T, mean_request>, std::is_same<T, round_findings>,
    std::is_same<T, part_request>, std::is_same<T, part_digests>,
    std::is_same<T, mean_challenge>, std::is_constructible<round_message, T>>;

} // namespace

const group_id* averager_state::group_of(const message& x) {
  return std::visit(
      [](const auto& y) -> const group_id* {
        if constexpr (of_a_round<std::decay_t<decltype(y)>>)
          return &y.group;
        else
          return nullptr;
      },
      x);
}

void averager_state::on(const peer_joined& x) {
  connected_.insert(x.who.id);
  catch_up();
  if (!round_ || round_->over)
    return;
  carry_out(round_->agreement.member_returned(x.who.id));
  // Waiting would cost everybody the patience: the others heal without us.
  if (round_ && round_->agreement.yields_to(x.who.id))
    abandon("the line to " + short_name(x.who.id) + " broke in this round");
}

void averager_state::on(const peer_left& x) {
  connected_.erase(x.id);
  early_.erase(std::remove_if(early_.begin(), early_.end(),
                              [&](auto& l) { return l.from == x.id; }),
               early_.end());
  if (!round_)
    return;
  auto& last = round_->last_in_touch;
  if (last && *last == x.id)
    return;
  if (x.orderly || last || !cut_off_without(x.id)) {
    lose(x.id);
    return;
  }
  last = x.id;
  self_->delayed_send(self_, limits::out_of_touch_patience,
                      out_of_touch{round_->contract().group});
}

bool averager_state::cut_off_without(const peer_id& member) const {
  const auto& r = *round_;
  if (r.over || !r.trains)
    return false;
  std::size_t others = 0;
  auto was_member = false;
  for (std::size_t i = 0; i < r.contract().members.size(); ++i) {
    const auto& x = r.contract().members[i];
    if (i == r.self || x.role != role::trainer)
      continue;
    ++others;
    was_member = was_member || x.who.id == member;
    if (connected_.count(x.who.id))
      return false;
  }
  return was_member && others > 1;
}

void averager_state::on(const out_of_touch& x) {
  if (!round_ || round_->contract().group != x.group || !round_->last_in_touch)
    return;
  auto last = *std::exchange(round_->last_in_touch, std::nullopt);
  if (connected_.count(last) && !round_->over)
    carry_out(round_->agreement.member_out_of_touch(last));
  else
    lose(last);
}

void averager_state::on(const member_withdrew& x) {
  if (x.member == config_.self) {
    if (round_ && round_->contract().group == x.group)
      return; // It runs, and its end will be told.
    round_over never;
    never.contract.group = x.group;
    self_->send(wired_.matchmaking, never);
    stay_out(x.group);
    return;
  }
  if (round_ && round_->contract().group == x.group)
    lose(x.member);
}

void averager_state::on(const outcome_known& x) {
  if (!round_ || round_->over || round_->contract().group != x.group)
    return;
  close_intake();
  // Nobody in particular: most of the others have gone on.
  if (!x.member.empty()) {
    carry_out(round_->agreement.ask(x.member));
    return;
  }
  if (!x.asked) {
    round_->agreement.overtaken();
    auto again = x;
    again.asked = true;
    self_->delayed_send(self_, 2 * x.patience, again);
    return;
  }
  // The means that somebody committed may take their time on the way.
  auto quiet = self_->clock().now() - round_->last_news;
  if (quiet < x.patience || round_->agreement.fetching())
    self_->delayed_send(self_, x.patience, x);
  else
    abandon("most others have completed the step without this peer");
}

void averager_state::lose(const peer_id& member) {
  if (round_->agreement.members().index_of(member)
      < round_->contract().members.size())
    close_intake();
  auto actions = round_->agreement.member_lost(member);
  // Who is asked because of it has the whole patience to answer.
  if (!actions.empty())
    round_->last_news = self_->clock().now();
  carry_out(actions);
}

void averager_state::stay_out(const group_id& group) {
  left_.push_back({group, {}});
  if (left_.size() > limits::groups_left)
    left_.pop_front();
  auto letters = std::move(early_);
  early_.clear();
  for (auto& l : letters)
    if (!stayed_out(l, *group_of(l.content)))
      early_.push_back(std::move(l));
}

bool averager_state::stayed_out(const letter& x, const group_id& group) {
  for (auto& [left, told] : left_) {
    if (left != group)
      continue;
    // Its leader was lost before it could start us, but had started others:
    // they would wait for us, with our session up, until they lose patience.
    if (told.insert(x.from).second) {
      group_answer no;
      no.group = group;
      no.reason = "never started this round";
      self_->send(wired_.gateway, parcel{x.from, no, {}});
    }
    return true;
  }
  return false;
}

bool averager_state::was_aborted(const letter& x, const group_id& group) {
  if (std::find(aborted_.begin(), aborted_.end(), group) == aborted_.end())
    return false;
  // A leader whose lines broke knows of no ruling but its own. Without an
  // answer it would heal what it has, and commit alone what all others gave up.
  if (auto question = std::get_if<round_settle>(&x.content)) {
    round_standing given_up;
    given_up.group = group;
    given_up.epoch = question->epoch;
    given_up.standing = standing::aborted;
    self_->send(wired_.gateway, parcel{x.from, given_up, {}});
  }
  return true;
}

} // namespace potluck
