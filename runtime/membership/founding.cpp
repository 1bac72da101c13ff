#include "runtime/membership/founding.hpp"

#include <algorithm>
#include <utility>

#include "runtime/membership/limits.hpp"
#include "runtime/state/run_manifest.hpp"

namespace potluck {

namespace {

/// Whether the charter's value meets the wish. A vocabulary is a wish for that
/// many tokens at most: a short text yields fewer, the founder's own included.
bool meets(const setting& offer, const setting& wish) {
  return wish.name == "vocabulary"
         && (offer.value.size() < wish.value.size()
             || (offer.value.size() == wish.value.size()
                 && offer.value <= wish.value));
}

/// What the user demanded and the charter does not give, for a person.
std::string unmet(const std::vector<setting>& demanded, const charter& c) {
  std::vector<setting> offered;
  for (auto& line : c.table())
    for (auto& wish : demanded)
      if (wish.name == line.name)
        offered.push_back(meets(line, wish) ? wish : line);
  return differences(demanded, offered);
}

} // namespace

founding::founding(settings how, std::optional<charter> known, time_point now)
    : how_(std::move(how)), created_(!id_in(how_.run).empty()),
      agreed_(std::move(known)), began_(now), offered_at_(now) {
  if (created_ && !how_.manifest.empty())
    if (auto ours = read_charter(how_.run, how_.manifest))
      offer_ = std::move(*ours);
}

// ---- who is there -----------------------------------------------------------

founding::other* founding::find(const peer_id& who, bool connected,
                                time_point now) {
  auto at = others_.find(who);
  if (at == others_.end()) {
    if (who == how_.self || who.empty())
      return nullptr;
    if (others_.size() >= most_others)
      forget_silent(now);
    if (others_.size() >= most_others && !connected)
      return nullptr;
    at = others_.emplace(who, other{}).first;
    at->second.since = now;
  }
  at->second.heard_at = now;
  return &at->second;
}

void founding::joined(const contact& who, role what, const digest& has,
                      bool is_hub, time_point now) {
  auto x = find(who.id, true, now);
  if (!x)
    return;
  if (!std::exchange(connected_once_, true)) {
    published_at_ = offered_at_ = now;
    lookups_ = 0;
  }
  if (!x->connected) { // What was asked on another line is lost.
    ++lines_;
    x->asked = x->answered = false;
  }
  x->connected = true;
  x->role = what;
  x->is_hub = is_hub;
  x->has_none = false;
  if (!x->asked)
    x->ask_at = {};
  if (!has.empty())
    x->charter = has;
}

void founding::left(const peer_id& who, bool orderly) {
  auto at = others_.find(who);
  if (at == others_.end())
    return;
  auto& x = at->second;
  if (x.connected)
    x.since = x.heard_at;
  lines_ -= x.connected;
  x.connected = false;
  if (std::exchange(x.asked, false))
    ask_the_next();
  // That nobody gets to it says nothing of whether it is there; and what is
  // founded stays founded.
  if (orderly && x.charter.empty())
    others_.erase(at);
}

void founding::heard(const progress_report& said, time_point now) {
  if (said.role != role::trainer && said.role != role::auxiliary)
    return;
  auto x = find(said.id, false, now);
  if (!x)
    return;
  x->role = said.role;
  const auto has = x->lied ? digest{} : said.charter;
  if (x->charter != has && !has.empty())
    for (auto& [id, keeper] : others_) // By now it may have it.
      if (keeper.has_none) {
        keeper.has_none = false;
        keeper.ask_at = {};
      }
  x->charter = has;
  x->phase = said.phase;
  x->where = said.where;
  x->hubs = said.hubs;
  note_end(*x);
}

void founding::note_end(const other& x) {
  // One record of a stranger ends no run.
  const bool known
      = x.connected || (!created_ && offer_ && offer_->digest() == x.charter);
  finished_ = finished_
              || (x.phase == phase::finished && !x.charter.empty() && known);
}

void founding::looked_up() {
  if (connected_once_)
    ++lookups_;
}

void founding::forget_silent(time_point now) {
  for (auto i = others_.begin(); i != others_.end();)
    if (!i->second.connected && now - i->second.heard_at > limits::report_life)
      i = others_.erase(i);
    else
      ++i;
}

// ---- the charter ------------------------------------------------------------

founding::actions founding::begin(time_point now) {
  actions out;
  if (announced_)
    return out;
  if (agreed_)
    agree(out, *agreed_, false);
  else
    show(out, founding_ ? phase::founding : phase::joining, now);
  return out;
}

std::string founding::answer(const std::string& run) const {
  if (!agreed_ || !(run.empty() || run == how_.run))
    return "";
  return created_ ? how_.manifest : agreed_->to_bytes();
}

void founding::ask(actions& out, time_point now) {
  if (created_ && offer_)
    return; // There is no other one.
  for (auto& [id, x] : others_) {
    const bool may_have = x.role == role::bootstrap || !x.charter.empty();
    if (!x.connected || !may_have || x.lied || now < x.ask_at
        || (!x.asked && now < next_asked_))
      continue;
    const bool late = std::exchange(x.asked, true);
    if (!late) {
      next_asked_ = now + hedge_;
      hedge_ = std::min(2 * hedge_, longest_hedge);
    }
    x.wait = late ? std::min(2 * x.wait, longest_patience) : patience;
    x.ask_at = now + x.wait;
    ++x.in_vain;
    out.emplace_back(ask_for_charter{id});
  }
}

void founding::ask_the_next() {
  if (std::any_of(others_.begin(), others_.end(),
                  [](auto& x) { return x.second.asked; }))
    return; // Somebody else's may be on its way.
  hedge_ = hedge;
  next_asked_ = {};
}

founding::actions founding::answered(const peer_id& from,
                                     const std::string& bytes, time_point now) {
  actions out;
  auto at = others_.find(from);
  if (over() || at == others_.end() || !at->second.asked)
    return out;
  auto& x = at->second;
  const bool keeps = x.role == role::bootstrap; // For others.
  x.asked = false;
  x.answered = true;
  x.in_vain = 0;
  if (bytes.empty()) {
    x.wait = x.has_none ? std::min(2 * x.wait, longest_again) : again;
    x.has_none = true;
    x.ask_at = now + x.wait;
    ask_the_next();
    ask(out, now);
    return out;
  }
  auto c = read_charter(how_.run, bytes);
  if (!c
      || (!created_ && !keeps && !x.charter.empty()
          && c->digest() != x.charter)) {
    x.lied = true; // Not asked again.
    x.charter = {};
    ask_the_next();
    out.emplace_back(say_of_founding{
        "wrong charter", "peer " + short_name(from)
                             + " sent a charter that is not the one of run '"
                             + run() + "'; another one is asked"});
    ask(out, now);
  } else if (created_) {
    how_.manifest = bytes;
    offer_ = std::move(*c);
    offered_at_ = now;
    take_manifest(out, now);
  } else if (keeps) {
    x.wait = longest_again;
    x.ask_at = now + x.wait;
    ask_the_next(); // Whose word counts at once.
    if (!offer_)
      offered_at_ = now;
    offer_ = std::move(*c);
    for (auto& [id, y] : others_)
      note_end(y);
    take_offer(out, now);
  } else {
    agree(out, std::move(*c), false);
  }
  return out;
}

void founding::take_offer(actions& out, time_point now) {
  if (created_)
    return take_manifest(out, now);
  if (!offer_ || over() || finished_)
    return;
  bool named = false;
  bool denied = false;
  for (auto& [id, x] : others_) {
    const bool here = x.charter == offer_->digest();
    named = named || here;
    denied = denied || (!x.charter.empty() && !here && counts(x, now));
  }
  if ((named || (!denied && settled(now))) && now - offered_at_ >= offer_rest)
    return agree(out, *std::exchange(offer_, std::nullopt), false);
  if (denied && !std::exchange(said_of_offer_, true))
    out.emplace_back(say_of_founding{
        "wrong charter", "a bootstrap offers another charter of run '" + run()
                             + "' than the run's peers have; theirs counts"});
}

void founding::take_manifest(actions& out, time_point now) {
  if (!offer_ || over())
    return;
  bool met = false;
  bool missed = false; // Also one that is about to begin.
  for (auto& [id, x] : others_) {
    const bool began = x.charter == offer_->digest();
    met = met || (began && x.connected);
    missed = missed
             || ((began || x.charter.empty()) && x.role != role::bootstrap
                 && !x.connected && counts(x, now));
  }
  // Who begins apart from the others computes for nothing.
  const bool may_begin
      = met || (settled(now) && (!missed || now - offered_at_ >= offer_rest));
  if (may_begin && finished_ && !met)
    give_up_finished(out);
  else if (may_begin)
    agree(out, *std::exchange(offer_, std::nullopt), false);
}

void founding::agree(actions& out, charter c, bool founded) {
  auto missing = unmet(how_.demanded, c);
  if (!missing.empty()) {
    agreed_.reset();
    give_up(out, "The settings of run '" + run()
                     + "' differ (here: yours, there: the run's): " + missing
                     + "; leave them out to take the run's settings, or give "
                       "another run another name.");
    return;
  }
  agreed_ = std::move(c);
  announced_ = true;
  waiting_.clear();
  out.emplace_back(take_charter{*agreed_, founded});
}

void founding::give_up_finished(actions& out) {
  give_up(out, "Run '" + run()
                   + "' has been finished, and those who trained it have left; "
                     "start one with another name, or go on from one of its "
                     "checkpoints.");
}

void founding::give_up(actions& out, std::string sentence) {
  gave_up_ = true;
  waiting_.clear();
  out.emplace_back(give_up_run{std::move(sentence)});
}

// ---- founding ---------------------------------------------------------------

void founding::show(actions& out, potluck::phase what, time_point now) {
  published_at_ = now;
  lookups_ = 0;
  out.emplace_back(show_phase{what});
}

bool founding::settled(time_point now) const {
  if (!how_.names_others && !how_.met_others)
    return true;
  if (lines_ == 0) // Who has lost all of them hears of nobody.
    return !how_.names_others && now - began_ >= reunion;
  return lookups_ >= (founding_ ? 2 : 3) && now - published_at_ >= settle;
}

founding::others::const_iterator founding::before_us(time_point now) const {
  auto best = others_.end();
  for (auto i = others_.begin(); i != others_.end(); ++i) {
    const auto& [id, x] = *i;
    if (!counts(x, now))
      continue;
    if (!x.charter.empty())
      return i;
    if (x.role != role::trainer)
      continue;
    const bool first = id < how_.self;
    const bool before = x.phase == phase::founding ? !founding_ || first
                                                   : !founding_ && first;
    if (before
        && (best == others_.end()
            || (best->second.phase != phase::founding
                && x.phase == phase::founding)))
      best = i;
  }
  return best;
}

void founding::found_when_sure(actions& out, time_point now) {
  if (!how_.can_found || over() || !settled(now)
      || before_us(now) != others_.end() || (offer_ && !finished_))
    return;
  // A bootstrap may know of a run of which no record is left: each has
  // `patience` for its first answer.
  for (auto& [id, x] : others_)
    if (!founding_ && x.connected && x.role == role::bootstrap && !x.lied
        && !x.answered
        && (x.in_vain == 0 || (x.in_vain == 1 && now < x.ask_at)))
      return;
  if (finished_) {
    give_up_finished(out);
  } else if (!founding_) {
    founding_ = true;
    show(out, phase::founding, now);
    out.emplace_back(begin_proposal{});
  } else if (proposal_) {
    agree(out, *proposal_, true);
  }
}

founding::actions founding::proposed(charter x, time_point now) {
  actions out;
  proposal_ = std::move(x);
  take_offer(out, now);
  found_when_sure(out, now);
  return out;
}

founding::actions founding::proposal_failed(const std::string& sentence) {
  actions out;
  if (!over())
    give_up(out, sentence);
  return out;
}

founding::actions founding::look(time_point now) {
  actions out;
  if (over())
    return out;
  ask(out, now);
  forget_silent(now);
  take_offer(out, now);
  found_when_sure(out, now);
  if (!over())
    tell_waiting(out, now);
  return out;
}

} // namespace potluck
