#include "runtime/planning/who_computes.hpp"

#include <algorithm>
#include <functional>

#include "runtime/planning/computing_program.hpp"
#include "runtime/planning/planning_limits.hpp"

namespace potluck {

namespace {

class computing_search {
public:
  explicit computing_search(const peer_network& net)
      : net_(net), n_(net.size()), best_set_(n_, false) {
    for (std::size_t i = 0; i < n_; ++i) {
      auto computes = net.computes(i);
      if (computes == true)
        best_set_[i] = true;
      // Who has no samples to add only makes the others wait.
      if (!computes && net.compute(i) > 0)
        open_.push_back(i);
    }
    given_ = best_set_;
    published_ = n_ <= limits::published_peers;
    thorough_ = published_ && open_.size() <= limits::searched_peers
                && n_ <= 2 * limits::searched_peers;
    quick_ = !thorough_ && !open_.empty();
  }

  chosen_computing run() {
    try_set(given_);
    if (!open_.empty())
      look_around();
    chosen_computing result;
    double bound = scanned_bound(net_);
    result.solver = published_             ? "simplex"
                    : net_.links().empty() ? "bisection"
                                           : "simplex, few averaging";
    if (!open_.empty())
      result.solver += ", sets in order";
    if (quick_)
      settle();
    bool proven = best_ >= bound * (1 - limits::planned_hair);
    if (!proven && open_.empty() && published_ && !gave_up_) {
      proven = true;
      bound = best_;
    }
    if (!proven && n_ <= limits::bounded_peers && !open_.empty()) {
      bound = branch_and_bound(bound);
      result.solver = "branch and bound";
    }
    if (best_ < bound * (1 - limits::planned_hair))
      bound = std::min(bound, summed_bound(net_, best_));
    result.computing = best_set_;
    result.best = best_ > 0 ? std::move(best_exchange_)
                            : silent_exchange(net_, best_set_, 0);
    result.rate = best_;
    result.upper_bound = std::max(bound, best_);
    return result;
  }

  /// The set whose exchange in one place is best, of those that are tried.
  peer_flags run_for_shares() {
    shares_only_ = true;
    try_set(given_);
    if (!open_.empty())
      look_around();
    return best_set_;
  }

private:
  /// Gradients per second of the set's best exchange.
  double averaging(const peer_flags& set) {
    if (shares_only_)
      return fastest_shares(net_, set).rate;
    if (quick_) {
      double rate = fastest_shares(net_, set).rate;
      // Thin links can make many places better than one.
      if (!net_.links().empty() && published_)
        if (auto found = fastest_exchange(net_, set, few_averaging()))
          rate = std::max(rate, found->rate);
      return rate;
    }
    last_ = best_known_exchange(net_, set);
    gave_up_ = gave_up_ || !last_.published;
    return last_.rate;
  }

  /// So few that their program is solved in milliseconds.
  std::size_t few_averaging() const {
    return std::max<std::size_t>(3, 160 / n_);
  }

  /// Steps per second of the set. Lower than the truth where it cannot be the
  /// best anyway.
  double try_set(const peer_flags& set) {
    if (std::find(set.begin(), set.end(), true) == set.end())
      return 0;
    double compute = net_.compute_rate(set);
    if (std::min(compute, line_bound(net_, set)) <= best_)
      return 0;
    return std::min(compute, averaging_of(set));
  }

  /// The best of the sets that take the given peers and then the first few of
  /// `order`: computing becomes faster with each, averaging slower, so the best
  /// is where they meet.
  void along(const std::vector<std::size_t>& order) {
    auto first = [&](std::size_t many) {
      auto set = given_;
      for (std::size_t k = 0; k < many; ++k)
        set[order[k]] = true;
      return set;
    };
    std::size_t low = 0; // Computing limits.
    std::size_t high = order.size();
    while (low < high) {
      auto middle = low + (high - low + 1) / 2;
      auto set = first(middle);
      double compute = net_.compute_rate(set);
      // Below the best so far on either side: the side is all that matters.
      bool slow_lines
          = line_bound(net_, set) < compute || averaging_of(set) < compute;
      if (slow_lines)
        high = middle - 1;
      else
        low = middle;
    }
    try_set(first(low));
    if (low < order.size())
      try_set(first(low + 1));
  }

  double averaging_of(const peer_flags& set) {
    auto known = rates_.find(set);
    if (known != rates_.end())
      return known->second;
    double rate = averaging(set);
    double value = std::min(rate, net_.compute_rate(set));
    if (value > best_) {
      best_ = value;
      best_set_ = set;
      best_exchange_ = quick_ ? exchange{} : last_;
      best_exchange_.rate = rate;
    }
    if (n_ <= 4 * limits::published_peers)
      rates_[set] = rate;
    ++evaluations_;
    return rate;
  }

  std::vector<std::size_t>
  sorted(const std::vector<std::size_t>& peers,
         const std::function<double(std::size_t)>& worth) const {
    auto result = peers;
    std::stable_sort(
        result.begin(), result.end(),
        [&](std::size_t a, std::size_t b) { return worth(a) > worth(b); });
    return result;
  }

  void look_around() {
    auto speed = [&](std::size_t i) { return net_.compute(i); };
    auto up = [&](std::size_t i) { return net_.up(i); };
    along(sorted(open_, speed));
    along(sorted(open_, up));
    along(sorted(open_, [&](std::size_t i) {
      return std::min(net_.up(i), net_.down(i));
    }));
    // Only those with a fast enough uplink: it must carry the whole gradient.
    auto by_upload = sorted(open_, up);
    std::size_t stride
        = std::max<std::size_t>(1, by_upload.size() / limits::searched_peers);
    for (std::size_t many = 1; many <= by_upload.size(); many += stride) {
      std::vector<std::size_t> some{by_upload.begin(),
                                    by_upload.begin()
                                        + static_cast<std::ptrdiff_t>(many)};
      along(sorted(some, speed));
    }
    if (n_ > 4 * limits::published_peers)
      return;
    // One alone; and those who can reach one that averages.
    if (std::find(given_.begin(), given_.end(), true) == given_.end())
      for (auto i : open_) {
        auto set = given_;
        set[i] = true;
        try_set(set);
      }
    if (!net_.links().empty())
      for (std::size_t i = 0; i < n_;
           i += 1 + (n_ - 1) / (2 * limits::searched_peers)) {
        std::vector<std::size_t> some;
        for (auto k : open_)
          if (k == i || net_.link(k, i) > 0)
            some.push_back(k);
        along(sorted(some, speed));
      }
    improve();
  }

  /// Adds or removes one peer as long as that helps.
  void improve() {
    bool better = true;
    std::size_t most = thorough_ ? limits::tried_sets : limits::tried_sets / 4;
    while (better && evaluations_ < most) {
      better = false;
      for (auto i : open_) {
        auto set = best_set_;
        set[i] = !set[i];
        double before = best_;
        better = try_set(set) > before || better;
        if (evaluations_ >= most)
          break;
      }
    }
  }

  /// The sets were compared by exchanges in one place: the published one of the
  /// best is faster, if anything.
  void settle() {
    quick_ = false;
    rates_.clear();
    auto set = best_set_;
    if (best_ == 0)
      for (auto i : open_)
        set[i] = true;
    best_ = 0;
    averaging_of(set);
  }

  /// The proven bound; the best set may change.
  double branch_and_bound(double bound) {
    std::size_t parts
        = thorough_ ? limits::searched_parts : limits::searched_parts_beyond;
    computing_question question;
    for (int round = 0; round < 8; ++round) {
      question.choices.assign(n_, computing_choice::no);
      for (std::size_t i = 0; i < n_; ++i)
        if (given_[i])
          question.choices[i] = computing_choice::yes;
      for (auto i : open_) {
        // A better set has nobody whose upload is below its rate.
        bool uploads = net_.holders() > (net_.holds(i) ? 1u : 0u);
        if (!uploads || net_.up(i) > best_)
          question.choices[i] = computing_choice::open;
      }
      question.most = bound;
      question.least = best_ * (1 + limits::planned_hair);
      auto answer = best_computing(net_, question, parts);
      if (!answer.computing)
        return std::max(best_, answer.complete ? 0 : answer.bound);
      averaging_of(*answer.computing);
      if (!answer.complete)
        return std::max(best_, answer.bound);
      bound = std::max(best_, answer.rate);
      // What the search took for better than it is, is no answer.
      if (answer.rate <= best_ * (1 + 1e-7))
        return bound;
      question.except.push_back(*answer.computing);
    }
    return bound;
  }

  const peer_network& net_;
  std::size_t n_;
  std::vector<std::size_t> open_;
  peer_flags given_; ///< Who computes in any case.
  bool published_ = false;
  bool thorough_ = false;
  bool quick_ = false; ///< Compare sets by exchanges in one place.
  bool shares_only_ = false;
  bool gave_up_ = false;
  std::size_t evaluations_ = 0;
  std::map<peer_flags, double> rates_;
  double best_ = 0;
  exchange last_;
  exchange best_exchange_;
  peer_flags best_set_;
};

} // namespace

chosen_computing choose_computing(const peer_network& net) {
  auto result = computing_search{net}.run();
  // Of sets that are equally good, one whose chunks can be averaged in one
  // place without loss.
  auto in_one_place = [&](const peer_flags& set) {
    return std::min(net.compute_rate(set), fastest_shares(net, set).rate);
  };
  if (result.rate == 0 || net.size() > limits::published_peers
      || in_one_place(result.computing)
             >= result.rate * (1 - limits::planned_hair))
    return result;
  auto other = computing_search{net}.run_for_shares();
  if (in_one_place(other)
      <= in_one_place(result.computing) * (1 + limits::planned_hair))
    return result;
  auto found = best_known_exchange(net, other);
  double rate = std::min(net.compute_rate(other), found.rate);
  if (rate < result.rate * (1 - limits::planned_hair))
    return result;
  result.computing = std::move(other);
  result.best = std::move(found);
  result.rate = rate;
  result.upper_bound = std::max(result.upper_bound, rate);
  return result;
}

} // namespace potluck
