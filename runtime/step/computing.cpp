#include "runtime/step/computing.hpp"

#include <algorithm>
#include <limits>

#include "messages/limits.hpp"

namespace potluck {

namespace {

/// A batch beside a group that is overdue is such a part of what there is: an
/// invitation is answered when it ends.
constexpr std::uint64_t overdue_parts = 8;

} // namespace

computing::computing(sample_account::settings how, bool trains, bool delayed,
                     time_point now, safeguard_set guards)
    : trains_(trains), delayed_(trains && delayed), guards_(guards),
      account_(how), pace_(now) {
}

bool computing::goes_ahead(stage in) const {
  return account_.aside()
         && (in == stage::frozen || in == stage::averaging
             || in == stage::applying);
}

computing::actions computing::pump(const standing& s) {
  actions out;
  const auto& tracker = s.at.others.tracker();
  if (account_.aside() && s.in == stage::accumulating
      && (!tracker.target_reached(s.at.now) || s.overdue))
    out = reopen(); // Samples are missing that were counted on.
  if (account_.running() || !trains_ || s.how.question() || s.rests
      || s.how.rests(s.at)
      || !(s.in == stage::accumulating || goes_ahead(s.in)))
    return out;
  for (auto& x : close_if_complete(s))
    out.push_back(std::move(x));
  // A group is about to form: more would overshoot. But if one has come to
  // nothing, the others have fewer samples than their speed had us expect, and
  // somebody must go on. So must all, a little at a time, while none forms.
  constexpr auto any = std::numeric_limits<std::uint64_t>::max();
  auto quota = !s.how.due(s.at) ? tracker.my_quota(s.at.now)
               : s.in_vain      ? any
               : s.overdue      ? account_.counted().samples / overdue_parts + 1
                                : 0;
  if (auto batch = account_.next(s.at.own.step, quota, longest_batch(s)))
    out.emplace_back(*batch);
  return out;
}

computing::actions computing::ended(const batch_done& x, const standing& s) {
  // A step may have been made beside the batch.
  const auto step = s.at.own.step;
  const auto ours = x.step == step || (delayed_ && x.step + 1 == step);
  account_.ended(x, ours && s.in != stage::fetching && s.in != stage::starting);
  return {};
}

computing::actions computing::close(const standing& s) {
  auto closed = account_.close(s.at.others.tracker().total_samples(s.at.now),
                               longest_batch(s));
  if (!closed)
    return {};
  return {*closed};
}

computing::actions computing::close_if_complete(const standing& s) {
  // After a group that came to nothing the others may have fewer samples than
  // they reported: then this step's are computed until the next group.
  if (!delayed_ || s.in != stage::accumulating || !s.averages
      || account_.running() || s.in_vain || s.overdue
      || !s.at.others.tracker().target_reached(s.at.now))
    return {};
  return close(s);
}

computing::actions computing::reopen() {
  auto taken = account_.reopen();
  if (!taken)
    return {};
  return {*taken};
}

computing::actions computing::changed(const state_changed& x, stage in) {
  account_.usual(x.usual_request);
  if (account_.aside() && in == stage::applying)
    return {account_.stepped_beside()};
  // Of a predecessor's round nobody knows which samples were in it.
  const auto unknown
      = delayed_ && in != stage::fetching && in != stage::starting;
  account_.clear(unknown);
  actions out;
  if (unknown
      || (in == stage::starting && guards_.has(safeguard::restart_gradient)))
    out.emplace_back(drop_gradient{});
  if (in == stage::starting)
    account_.reorder(x.step); // Not the first samples once more.
  return out;
}

computing::actions computing::drop() {
  account_.give_away();
  return {drop_gradient{}};
}

// ---- contributions ----------------------------------------------------------

computing::actions computing::add(const contribution_ready& x,
                                  const standing& s, bool told) {
  const auto& what = *x.what;
  // Behind the report the figures are fixed.
  const auto open
      = s.in == stage::accumulating || (s.in == stage::frozen && !told);
  const auto accepted
      = open
        && what.step == s.at.own.step
        // All together, too: it is this peer that has to answer for them.
        && account_.counted().samples + what.samples <= std::min(
               s.at.others.tracker().believable_samples(s.at.now), max_samples);
  actions out{contribution_taken{what.from, accepted}};
  if (accepted) {
    out.emplace_back(add_gradient{x.what, account_.aside()});
    account_.take_in({what.samples, what.loss_sum});
    s.how.took(what.from);
  }
  return out;
}

computing::actions computing::asked(const contribution_wanted& x,
                                    const standing& s) {
  auto something = account_.counted().samples > 0 || account_.running();
  auto reason = s.in == stage::accumulating ? s.how.asked(s.at, x, something)
                                            : "not accumulating";
  if (!reason.empty())
    return {hand_over{x.by, x.request.number, 0, 0, nullptr, reason}};
  pace_.asked(s.at.now);
  return answer(s);
}

computing::actions computing::answer(const standing& s) {
  const auto* asked = s.how.question();
  if (!asked || account_.running())
    return {};
  const auto number = asked->request.number;
  if (s.in == stage::accumulating && account_.counted().samples > 0)
    return {lend_gradient{false, account_.counted().samples, false}};
  actions out{
      hand_over{asked->by, number, 0, 0, nullptr, "nothing accumulated"}};
  s.how.answered(s.at, false);
  return out;
}

computing::actions computing::give(const gradient_lent& x, const standing& s) {
  const auto* asked = s.how.question();
  // From here on these samples are the sponsor's, or nobody's.
  const auto given = account_.give_away();
  actions out{hand_over{asked->by, asked->request.number, given.samples,
                        given.loss_sum, x.gradient, ""}};
  s.how.answered(s.at, true);
  out.emplace_back(drop_gradient{});
  return out;
}

} // namespace potluck
