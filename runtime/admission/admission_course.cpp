#include "runtime/admission/admission_course.hpp"

#include <algorithm>
#include <utility>

#include "runtime/dialable.hpp"

namespace potluck {

using namespace std::chrono_literals;

void admission_course::authority_is(const contact& x) {
  // An invitation may know better than the manifest where it is by now.
  if (x.id == authority_.id && dialable(authority_.where))
    return;
  if (x.id != authority_.id) {
    asked_.clear();
    ask_at_ = dial_at_ = {};
  }
  authority_ = x;
}

void admission_course::joined(const peer_id& who, guest what) {
  connected_.insert(who);
  if (who == authority_.id) {
    dial_pause_ = limits::first_authority_dial;
    ask_at_ = {};
  }
  if (what == guest::member)
    members_.insert(who);
  else if (what == guest::outsider)
    outsiders_.insert(who);
}

void admission_course::left(const peer_id& who) {
  connected_.erase(who);
  members_.erase(who);
  outsiders_.erase(who);
  asked_.erase(who);
}

void admission_course::granted() {
  since_.reset();
  said_ = false;
  ask_at_ = {};
}

bool admission_course::awaited(const peer_id& from) {
  return asked_.erase(from) > 0;
}

void admission_course::ask_authority(std::vector<action>& out, time_point now) {
  if (authority_.id.empty())
    return;
  if (authority_is_here() && now >= ask_at_) {
    ask_at_ = now + limits::authority_patience;
    asked_.insert(authority_.id);
    out.emplace_back(ask{authority_.id});
  } else if (!authority_is_here() && now >= dial_at_) {
    const bool again = dial_pause_ > limits::first_authority_dial;
    dial_at_ = now + dial_pause_;
    dial_pause_
        = std::min<duration>(2 * dial_pause_, limits::last_authority_dial);
    if (dialable(authority_))
      out.emplace_back(dial{authority_});
    if (again || !dialable(authority_))
      out.emplace_back(look_up{authority_.id});
  }
}

void admission_course::found(const contact& x) {
  if (x.id != authority_.id || x.where == authority_.where
      || authority_is_here())
    return;
  authority_.where = x.where;
  dial_pause_ = limits::first_authority_dial;
  dial_at_ = {};
}

std::vector<admission_course::action>
admission_course::look(const standing& own, time_point now) {
  std::vector<action> out;
  const auto margin = std::min<duration>(limits::renewal_margin, own.life / 4);
  if (!own.needed || own.left > margin) {
    since_.reset();
    return out;
  }
  if (!std::exchange(since_, since_.value_or(now)))
    dial_at_ = now + limits::first_authority_dial; // The roster may do so.
  const auto lacking = now - *since_;
  ask_authority(out, now);
  if (lacking >= limits::before_complaint && !std::exchange(said_, true))
    out.emplace_back(
        say{"the run's authority " + short_name(authority_.id)
            + (authority_is_here() ? " does not answer"
               : dialable(authority_)
                   ? " cannot be reached at " + to_string(authority_.where)
                   : " is nowhere to be found")
            + "; it is asked again and again"});
  if (!own.may_be_vouched_for || own.left > margin / 2
      || lacking < std::min<duration>(limits::before_vouchers, margin / 2 + 1ms)
      || now < voucher_at_)
    return out;
  voucher_at_ = now + limits::voucher_interval;
  if (!members_.empty()) {
    ask_to_vouch(out, members_);
    return out;
  }
  const auto most
      = std::min<std::size_t>(outsiders_.size(), limits::outsiders_at_once);
  for (std::size_t i = 0; i < most; ++i)
    ask_to_vouch(out, outsiders_);
  return out;
}

void admission_course::ask_to_vouch(std::vector<action>& out,
                                    const std::set<peer_id>& whom) {
  auto next = whom.upper_bound(last_member_);
  if (next == whom.end())
    next = whom.begin();
  last_member_ = *next;
  if (*next == authority_.id)
    return;
  asked_.insert(*next);
  out.emplace_back(ask{*next, true});
}

} // namespace potluck
