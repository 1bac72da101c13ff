#include "runtime/averaging/round/member_watch.hpp"

namespace potluck {

namespace {

/// Questions of one round for which all have the whole patience.
constexpr unsigned most_questions = 8;

} // namespace

member_watch::member_watch(std::size_t members, time_point now)
    : present_(members, false), heard_(members, false),
      told_(members), now_{now}, began_{now}, last_news_{now} {
}

void member_watch::heard(std::size_t member, const message& what,
                         bool leading) {
  const bool standing = std::holds_alternative<round_standing>(what);
  const auto* verdict = std::get_if<round_verdict>(&what);
  if (standing || std::holds_alternative<round_prepared>(what)
      || (verdict && verdict->commit))
    heard_[member] = true;
  const bool ruling = verdict || std::holds_alternative<round_settle>(what)
                      || std::holds_alternative<round_heal>(what)
                      || std::holds_alternative<round_prepared>(what);
  if ((ruling || (leading && standing))
      && told_[member].insert(what.index()).second)
    news();
}

void member_watch::asks() {
  if (++questions_ > most_questions)
    return;
  forget_told();
  news();
}

void member_watch::forget_told() {
  for (auto& kinds : told_)
    kinds.clear();
}

void member_watch::lose_patience(bool asked) {
  forget_told();
  news();
  asked_in_vain_ = asked_in_vain_ || asked;
  lost_patience_ = true;
}

std::vector<bool> member_watch::waited_for() const {
  std::vector<bool> result;
  for (const bool here : present_)
    result.push_back(lost_patience_ || !here);
  return result;
}

bool member_watch::cut_off_without(std::size_t member,
                                   const member_roll& roll) const {
  std::size_t others = 0;
  for (std::size_t i = 0; i < roll.size(); ++i) {
    if (i == roll.self() || !roll[i].trains)
      continue;
    ++others;
    if (present_[i])
      return false;
  }
  return others > 1 && member != roll.self() && roll[member].trains;
}

void member_watch::report(round_outcome& news, const member_roll& roll,
                          const bulk_watch& bulk, duration patience) const {
  news.taken = age();
  // A leader, or one that averages; the others need not have heard of
  // everybody. The leader loses patience first, and may end the round.
  news.watched = (roll.self() == 0 || bulk.averages())
                 && (lost_patience_ || age() >= patience);
  for (std::size_t i = 0; i < roll.size(); ++i) {
    const bool idle
        = bulk.owed(i)
              ? bulk.brought_nothing(i) || (lost_patience_ && bulk.owes(i))
              : !heard_[i] && (roll[i].samples != 0 || asked_in_vain_);
    const bool silent = news.watched && i != roll.self() && roll[i].trains
                        && present_[i] && (idle || bulk.is_late(i));
    if (silent || roll[i].gave_up)
      news.silent.push_back(i);
  }
}

} // namespace potluck
