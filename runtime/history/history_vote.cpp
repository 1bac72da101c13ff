#include "runtime/history/history_vote.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace potluck {

namespace {

/// Weights that differ by less than this part of their sum are a tie: the two
/// parts of a run may have seen another last step that they made together.
constexpr double tie = 0.05;

/// One in more than so many is few: it may lie, or have trained alone.
constexpr double few_of = 4;

struct vote {
  const progress_report* report;
  double weight;
};
using pool = std::vector<vote>;

double weight_of(const pool& x) {
  double result = 0;
  for (auto& v : x)
    result += v.weight;
  return result;
}

/// The longest history that half of them have reached, so that few do not lead
/// astray; at that step the state that most hold.
/// @param more It has to be more than half.
const progress_report* middle(pool all, bool more) {
  if (all.empty())
    return nullptr;
  std::sort(all.begin(), all.end(), [](auto& a, auto& b) {
    return better_history(*a.report, *b.report);
  });
  const auto sum = weight_of(all);
  double reached = 0;
  const auto* at = all.back().report;
  for (auto& x : all)
    if (reached += x.weight; more ? 2 * reached > sum : 2 * reached >= sum) {
      at = x.report;
      break;
    }
  std::map<digest, double> states;
  for (auto& x : all)
    if (x.report->step == at->step
        && x.report->history_samples == at->history_samples)
      states[x.report->state] += x.weight;
  const auto most
      = std::max_element(states.begin(), states.end(),
                         [](auto& a, auto& b) { return a.second < b.second; });
  for (auto& x : all)
    if (x.report->step == at->step && x.report->state == most->first)
      return x.report;
  return at;
}

/// Those that are ahead may be one history, of which they are at different
/// steps; those that are aside are one only where they hold the same.
std::vector<pool> pools_of(const std::vector<ballot>& all) {
  pool ahead;
  std::map<std::tuple<std::uint64_t, digest>, pool> aside;
  for (auto& x : all)
    if (x.where == stance::ahead)
      ahead.push_back({x.report, 1});
    else if (x.where == stance::aside)
      aside[{x.report->step, x.report->state}].push_back({x.report, 1});
  std::vector<pool> result;
  for (auto& x : aside)
    result.push_back(std::move(x.second));
  std::stable_sort(result.begin(), result.end(),
                   [](auto& a, auto& b) { return a.size() > b.size(); });
  if (!ahead.empty())
    result.insert(result.begin(), std::move(ahead));
  return result;
}

std::vector<progress_report> holders_of(const progress_report& goal,
                                        const pool& voters) {
  std::vector<progress_report> result;
  for (auto& x : voters)
    if (x.report->step == goal.step && x.report->state == goal.state)
      result.push_back(*x.report);
  return result;
}

/// Those of one side that have a say.
struct side {
  double weight = 0;
  std::size_t size = 0;
  peer_id first; ///< By id. Of one at least.

  void add(const peer_id& id, double of_it) {
    if (size++ == 0 || id < first)
      first = id;
    weight += of_it;
  }
};

/// What both sides have. Those that joined since they parted are known to their
/// own side alone: they count against each other.
struct sides {
  side them, us;
  double away = 0; ///< May be back.
  std::size_t their_newcomers = 0;
  std::size_t our_newcomers = 0;

  /// Of two halves which wins. Both see the same members, and no claim of
  /// samples moves these: several win against one, whatever that weighs. Of two
  /// peers that lost each other one may have been stopped: there the one wins
  /// that has gone on.
  bool theirs_wins_tie(bool is_better) const {
    if (away > 0)
      return false;
    if (their_newcomers != our_newcomers)
      return their_newcomers > our_newcomers;
    if (them.size > 1 && us.size > 1)
      return them.first < us.first;
    return them.size == us.size ? is_better : them.size > us.size;
  }

  bool theirs_wins(bool is_better) const {
    const auto theirs = them.weight;
    const auto ours = us.weight + away;
    const auto sum = theirs + ours;
    const auto difference = theirs - ours;
    if (theirs <= 0 || difference < -tie * sum)
      return false;
    if (difference <= tie * sum)
      return theirs_wins_tie(is_better);
    const auto uneven
        = our_newcomers - std::min(our_newcomers, their_newcomers);
    return difference >= static_cast<double>(uneven);
  }
};

} // namespace

bool better_history(const progress_report& a, const progress_report& b) {
  return a.history_samples != b.history_samples
             ? a.history_samples > b.history_samples
             : a.state < b.state;
}

std::vector<progress_report>
outvoted(const std::vector<ballot>& all, const progress_report& own,
         const electorates& electors, bool redrawn,
         const electorates::condition& may_be_back) {
  std::set<peer_id> here{own.id};
  for (auto& x : all)
    here.insert(x.report->id);
  for (auto& rivals : pools_of(all)) {
    // Strangers may announce thousands of states, and none has a say.
    if (std::none_of(rivals.begin(), rivals.end(),
                     [&](auto& x) { return electors.has(x.report->id); }))
      continue;
    const auto is_rival = [&](const peer_id& id) {
      return std::any_of(rivals.begin(), rivals.end(),
                         [&](auto& x) { return x.report->id == id; });
    };
    const auto asked
        = redrawn ? electors.of_all() : electors.last_with(is_rival);
    sides x;
    pool voters;
    for (auto& [id, weight] : asked.members)
      if (id == own.id)
        x.us.add(id, weight);
      else if (!redrawn && here.count(id) == 0 && may_be_back(id))
        x.away += weight;
    for (auto& y : all) {
      const auto member = asked.members.find(y.report->id);
      if (y.where == stance::ours && member != asked.members.end())
        x.us.add(y.report->id, member->second);
      else if (y.where == stance::ours)
        x.our_newcomers += asked.later.count(y.report->id);
    }
    for (auto& y : rivals) {
      const auto member = asked.members.find(y.report->id);
      if (member == asked.members.end()) {
        x.their_newcomers += asked.later.count(y.report->id) == 0;
        continue;
      }
      x.them.add(y.report->id, member->second);
      voters.push_back({y.report, member->second});
    }
    const auto* goal = middle(voters, true);
    if (goal && x.theirs_wins(better_history(*goal, own)))
      return holders_of(*goal, voters);
  }
  return {};
}

std::vector<progress_report> extended(const std::vector<ballot>& all,
                                      const progress_report& own,
                                      const electorates& electors) {
  if (electors.empty())
    return {};
  const auto& members = electors.newest();
  double here = 0;
  std::size_t others_here = 0;
  std::map<digest, pool> next;
  for (auto& [id, weight] : members)
    here += id == own.id ? weight : 0;
  for (auto& x : all) {
    const auto member = members.find(x.report->id);
    if (member == members.end())
      continue;
    here += member->second;
    ++others_here;
    if (x.where == stance::ahead && x.report->step == own.step + 1)
      next[x.report->state].push_back({x.report, member->second});
  }
  const auto most
      = std::max_element(next.begin(), next.end(), [](auto& a, auto& b) {
          return weight_of(a.second) < weight_of(b.second);
        });
  if (most == next.end() || few_of * weight_of(most->second) < here
      || (most->second.size() == 1 && others_here > 1))
    return {};
  return holders_of(*most->second.front().report, most->second);
}

std::vector<progress_report> outnumbered(const std::vector<ballot>& all,
                                         const progress_report& own,
                                         std::size_t least, bool resumed) {
  const auto weight = [&](const progress_report& x) {
    return own.contributes && x.id == own.sponsor ? 2.0 : 1.0;
  };
  // Who has made no step has nothing to lose.
  double ours = own.role == role::trainer && own.history_samples > 0
                && !own.contributes;
  for (auto& x : all)
    if (x.where == stance::ours && x.report->history_samples > 0)
      ours += weight(*x.report);
  for (auto& rivals : pools_of(all)) {
    for (auto& x : rivals)
      x.weight = weight(*x.report);
    const auto* goal = middle(rivals, false);
    const auto theirs = weight_of(rivals);
    const auto newer
        = resumed && goal->step > own.step && few_of * theirs >= ours;
    if (rivals.size() >= least
        && (newer || theirs > ours
            || (theirs == ours && better_history(*goal, own))))
      return holders_of(*goal, rivals);
  }
  return {};
}

} // namespace potluck
