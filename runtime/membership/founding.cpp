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
      agreed_(std::move(known)), others_(how_.self), wait_(run(), created_),
      began_(now), offered_at_(now) {
  if (created_ && !how_.manifest.empty())
    if (auto ours = read_charter(how_.run, how_.manifest))
      offer_ = std::move(*ours);
}

// ---- who is there -----------------------------------------------------------

void founding::joined(const contact& who, role what, const digest& has,
                      bool is_hub, time_point now) {
  if (!others_.joined(who, what, has, is_hub, now)
      || std::exchange(connected_once_, true))
    return;
  published_at_ = offered_at_ = now;
  lookups_ = 0;
}

void founding::heard(const progress_report& said, time_point now) {
  if (const auto* x = others_.heard(said, now))
    note_end(*x);
}

void founding::note_end(const witness& x) {
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
  if (!answers(run))
    return "";
  return created_ ? how_.manifest : agreed_->to_bytes();
}

void founding::ask(actions& out, time_point now) {
  if (created_ && offer_)
    return; // There is no other one.
  for (const auto& whom : others_.ask(now))
    out.emplace_back(ask_for_charter{whom});
}

founding::actions founding::answered(const peer_id& from,
                                     const std::string& bytes, time_point now) {
  actions out;
  const auto* x = over() ? nullptr : others_.answered(from);
  if (!x)
    return out;
  const bool keeps = x->role == role::bootstrap; // For others.
  if (bytes.empty()) {
    others_.has_none(from, now);
    ask(out, now);
    return out;
  }
  auto c = read_charter(how_.run, bytes);
  if (!c
      || (!created_ && !keeps && !x->charter.empty()
          && c->digest() != x->charter)) {
    others_.lied(from);
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
    others_.keeps(from, now);
    if (!offer_)
      offered_at_ = now;
    offer_ = std::move(*c);
    for (const auto& [id, other] : others_.all())
      note_end(other);
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
  for (const auto& [id, x] : others_.all()) {
    const bool here = x.charter == offer_->digest();
    named = named || here;
    denied = denied
             || (!x.charter.empty() && !here && run_witnesses::counts(x, now));
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
  for (const auto& [id, x] : others_.all()) {
    const bool began = x.charter == offer_->digest();
    met = met || (began && x.connected);
    missed = missed
             || ((began || x.charter.empty()) && x.role != role::bootstrap
                 && !x.connected && run_witnesses::counts(x, now));
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
  wait_.end();
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
  wait_.end();
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
  if (others_.lines() == 0) // Who has lost all of them hears of nobody.
    return !how_.names_others && now - began_ >= reunion;
  return lookups_ >= (founding_ ? 2 : 3) && now - published_at_ >= settle;
}

void founding::found_when_sure(actions& out, time_point now) {
  if (!how_.can_found || over() || !settled(now)
      || others_.before_us(founding_, now) || (offer_ && !finished_))
    return;
  // A bootstrap may know of a run of which no record is left: each has
  // `patience` for its first answer.
  if (!founding_ && others_.may_answer(now))
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
  others_.forget_silent(now);
  take_offer(out, now);
  found_when_sure(out, now);
  if (over())
    return out;
  const auto* first = others_.before_us(founding_, now);
  if (auto sentence
      = wait_.look({first, connected_once_, offer_.has_value(), how_.can_found},
                   others_, now))
    out.emplace_back(
        say_of_founding{"waiting for the run", std::move(*sentence)});
  return out;
}

} // namespace potluck
