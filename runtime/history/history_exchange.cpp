#include "runtime/history/history_exchange.hpp"

#include <algorithm>
#include <utility>

namespace potluck {

namespace {

bool makes(const signed_step& x, const peer_id& who) {
  return std::any_of(x.makers.begin(), x.makers.end(),
                     [&](const auto& maker) { return maker.id == who; });
}

} // namespace

void history_exchange::ask(const peer_id& whom, outcome& out) {
  guests_.at(whom).asked = ++questions_;
  out.questions[whom] = {questions_, how_.run};
}

bool history_exchange::has_made_newest(const peer_id& who) const {
  return makes(held_.newest(), who);
}

bool history_exchange::is_alive() const {
  return !held_.empty()
         && std::any_of(guests_.begin(), guests_.end(), [this](const auto& x) {
              return x.second.has_shown && has_made_newest(x.first);
            });
}

void history_exchange::keep(signed_history x, outcome& out, time_point now) {
  held_ = std::move(x);
  out.changed = true;
  alive_at_ = now;
}

history_exchange::outcome history_exchange::joined(const peer_id& who,
                                                   bool trains) {
  outcome result;
  guests_[who].trains = trains;
  if (!how_.how)
    return result;
  if (how_.keeps) {
    if (held_.empty() ? trains && !std::exchange(asked_who_came_, true)
                      : has_made_newest(who))
      ask(who, result);
    return result;
  }
  const bool trusted = how_.trusted.count(who) != 0;
  if (held_.empty() && !how_.trusted.empty()
      && (trusted || strangers_asked_ < most_strangers)) {
    strangers_asked_ += !trusted;
    ask(who, result);
  }
  return result;
}

history_exchange::outcome history_exchange::told(const peer_id& from,
                                                 const history_reply& x,
                                                 time_point now) {
  outcome result;
  const auto guest = guests_.find(from);
  if (guest == guests_.end() || guest->second.asked != x.token)
    return result; // Nothing is checked that was not asked for.
  guest->second.asked.reset();
  const bool trusted = how_.trusted.count(from) != 0;
  auto steps = x.steps;
  const auto& charter = how_.charter.empty() && !steps.empty()
                            ? steps.back().charter
                            : how_.charter;
  steps.erase(
      std::remove_if(steps.begin(), steps.end(),
                     [&](const auto& y) { return y.charter != charter; }),
      steps.end());
  signed_history shown{std::move(steps), *how_.how};
  guest->second.has_shown = !shown.empty();
  if (how_.keeps) {
    if (shown.empty())
      return result;
    if (!held_.empty()) {
      result.changed = held_.extend_with(shown);
      return result;
    }
    // One alone could sign anything before the run has made its first step.
    std::size_t trainers = 0;
    std::size_t makers = 0;
    for (const auto& [id, x] : guests_) {
      trainers += x.trains;
      makers += x.trains && makes(shown.newest(), id);
    }
    if (2 * makers > trainers)
      keep(std::move(shown), result, now);
    return result;
  }
  if (!held_.empty())
    return result;
  if (shown.empty()) {
    if (trusted)
      result.roots.emplace();
  } else if (trusted || shown.is_signed_by_any(how_.trusted)) {
    keep(std::move(shown), result, now);
    result.roots = weights_of(held_.newest());
  }
  return result;
}

history_exchange::outcome history_exchange::look(time_point now) {
  outcome result;
  asked_who_came_ = false;
  if (!how_.keeps || !how_.how)
    return result;
  if (is_alive())
    alive_at_ = now;
  else if (!held_.empty() && now - alive_at_ > memory)
    keep({}, result, now);
  if (now < next_)
    return result;
  if (!held_.empty())
    next_ = now + pause;
  // The next one by id, so that all have their turn.
  const auto knows = [this](const auto& x) {
    return held_.empty() ? x.second.trains : has_made_newest(x.first);
  };
  auto who
      = std::find_if(guests_.upper_bound(last_asked_), guests_.end(), knows);
  if (who == guests_.end())
    who = std::find_if(guests_.begin(), guests_.end(), knows);
  if (who == guests_.end())
    return result;
  last_asked_ = who->first;
  ask(who->first, result);
  return result;
}

void history_exchange::made(signed_step x, time_point now) {
  if (!how_.how)
    return;
  drop_forgeries(x, *how_.how);
  if (!most_have_signed(x, weights_of(x)))
    return;
  if (held_.empty())
    held_ = how_.resumed;
  held_.add(std::move(x));
  alive_at_ = now;
}

history_reply history_exchange::answer(const peer_id& from,
                                       const history_request& x) const {
  history_reply result{x.token, x.run, {}};
  // What nobody goes on with is no news.
  if (guests_.count(from) != 0 && (!how_.keeps || is_alive()))
    result.steps = shown().steps();
  return result;
}

} // namespace potluck
