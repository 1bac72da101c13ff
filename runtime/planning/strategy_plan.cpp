#include "runtime/planning/strategy_plan.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "runtime/planning/explain.hpp"
#include "runtime/planning/planning_limits.hpp"
#include "runtime/planning/share_plan.hpp"
#include "runtime/planning/who_computes.hpp"

namespace potluck {

namespace {

bool any(const peer_flags& x) {
  return std::find(x.begin(), x.end(), true) != x.end();
}

class maker {
public:
  maker(const strategy_problem& problem, std::uint32_t chunks)
      : problem_(problem), chunks_(chunks), net_(problem) {
  }

  strategy_plan run() {
    auto chosen = choose_computing(net_);
    computing_ = chosen.computing;
    plan_.solver = chosen.solver;
    plan_.steps_per_second = chosen.rate;
    plan_.upper_bound = chosen.upper_bound;
    rates_ = std::move(chosen.best);
    averaging_ = rates_.rate;
    if (any(computing_))
      direct_ = fastest_shares(net_, computing_);
    if (plan_.steps_per_second == 0)
      reach_by_relays();
    else
      schedule();
    fill_in();
    return std::move(plan_);
  }

private:
  void take(const share_exchange& x, const relay_routes* routes) {
    auto counts = whole_chunks(x.shares, chunks_);
    std::vector<double> shares;
    for (auto many : counts)
      shares.push_back(static_cast<double>(many) / chunks_);
    schedule_rate_ = x.rate == peer_network::unlimited
                         ? x.rate
                         : rate_of(net_, computing_, shares, routes);
    shares_ = std::move(shares);
    counts_ = std::move(counts);
    if (!routes)
      return;
    for (std::size_t i = 0; i < net_.size(); ++i) {
      if (counts_[i] == 0)
        continue;
      for (std::size_t k = 0; k < net_.size(); ++k) {
        auto over = routes->to[i][k];
        if (k != i && computing_[k] && over != i)
          relay(k, i, over);
        // The last peer before k hands it the mean of i.
        over = routes->from[i][k];
        if (k != i && net_.holds(k) && over != i)
          relay(i, k, over);
      }
    }
  }

  void relay(std::size_t from, std::size_t to, std::size_t over) {
    planned_relay x{net_.id(from), net_.id(to), net_.id(over)};
    for (const auto& y : plan_.relays)
      if (y.from == x.from && y.to == x.to && y.over == x.over)
        return;
    plan_.relays.push_back(std::move(x));
  }

  void schedule() {
    if (!direct_.shares.empty()) {
      take(direct_, nullptr);
      // It is an exchange as published; a solver that stopped early may not
      // have found it.
      if (schedule_rate_ > averaging_) {
        averaging_ = schedule_rate_;
        if (net_.size() <= limits::listed_peers)
          rates_ = as_exchange(net_, computing_, {schedule_rate_, shares_});
      }
      return;
    }
    auto routes = shortest_routes(net_);
    auto relayed = fastest_shares(net_, computing_, &routes);
    if (!relayed.shares.empty())
      take(relayed, &routes);
  }

  /// The published problem has no answer. Where that is because pairs cannot
  /// talk, a third forwards.
  void reach_by_relays() {
    if (net_.links().empty())
      return;
    auto routes = shortest_routes(net_);
    std::vector<std::size_t> open;
    peer_flags given(net_.size(), false);
    for (std::size_t i = 0; i < net_.size(); ++i) {
      given[i] = net_.computes(i) == true;
      if (!net_.computes(i) && net_.compute(i) > 0)
        open.push_back(i);
    }
    std::stable_sort(
        open.begin(), open.end(),
        [&](std::size_t a, std::size_t b) { return net_.up(a) > net_.up(b); });
    share_exchange best;
    peer_flags best_set;
    double best_rate = 0;
    // All; then fewer and fewer of the slow uplinks.
    std::size_t stride = 1 + open.size() / 16;
    for (std::size_t dropped = 0; dropped <= open.size(); dropped += stride) {
      auto set = given;
      for (std::size_t k = 0; k + dropped < open.size(); ++k)
        set[open[k]] = true;
      if (!any(set))
        break;
      auto found = fastest_shares(net_, set, &routes);
      double rate = std::min(found.rate, net_.compute_rate(set));
      if (rate > best_rate) {
        best_rate = rate;
        best = std::move(found);
        best_set = std::move(set);
      }
    }
    if (best_rate == 0)
      return;
    computing_ = best_set;
    averaging_ = 0;
    rates_ = silent_exchange(net_, computing_, 0);
    take(best, &routes);
  }

  void fill_in() {
    std::size_t n = net_.size();
    double compute = net_.compute_rate(computing_);
    plan_.compute_steps_per_second = compute;
    plan_.averaging_steps_per_second
        = averaging_ == peer_network::unlimited ? compute : averaging_;
    if (plan_.steps_per_second > 0)
      plan_.steps_per_second = std::min(compute, averaging_);
    plan_.upper_bound = std::max(plan_.upper_bound, plan_.steps_per_second);
    plan_.gap
        = plan_.upper_bound > 0
              ? (plan_.upper_bound - plan_.steps_per_second) / plan_.upper_bound
              : 0;
    plan_.chunks = chunks_;
    if (shares_.empty()) {
      shares_.assign(n, 0);
      counts_.assign(n, 0);
    }
    plan_.scheduled_steps_per_second = std::min(compute, schedule_rate_);
    plan_.compute_seconds = compute > 0 ? 1 / compute : 0;
    plan_.averaging_seconds = schedule_rate_ > 0 ? 1 / schedule_rate_ : 0;
    for (std::size_t i = 0; i < n; ++i) {
      peer_part part;
      part.id = net_.id(i);
      part.computes = computing_[i];
      part.share = shares_[i];
      part.chunks = counts_[i];
      plan_.peers.push_back(std::move(part));
    }
    list_rates();
    explained_network what{problem_, net_,       computing_,    rates_,
                           direct_,  averaging_, schedule_rate_};
    explain(what, plan_);
    plan_.fingerprint = fingerprint();
  }

  void list_rates() {
    std::size_t n = net_.size();
    plan_.listed = n <= limits::listed_peers;
    if (!plan_.listed || rates_.reduce.empty())
      return;
    double bytes = problem_.gradient_bytes;
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t i = 0; i < n; ++i)
        if (computing_[k] && rates_.reduce[i] > 0)
          plan_.gradients.push_back(
              {net_.id(k), net_.id(i), rates_.reduce[i] * bytes});
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (rates_.means[i][j] > 0)
          plan_.means.push_back(
              {net_.id(i), net_.id(j), rates_.means[i][j] * bytes});
  }

  digest fingerprint() const {
    std::vector<std::uint8_t> bytes;
    auto whole = [&](std::uint64_t x) {
      for (int shift = 0; shift < 64; shift += 8)
        bytes.push_back(static_cast<std::uint8_t>(x >> shift));
    };
    auto real = [&](double x) {
      std::uint64_t bits = 0;
      x += 0.0; // One zero only.
      std::memcpy(&bits, &x, sizeof bits);
      whole(bits);
    };
    auto text = [&](const std::string& x) {
      whole(x.size());
      bytes.insert(bytes.end(), x.begin(), x.end());
    };
    real(problem_.target_batch);
    real(problem_.gradient_bytes);
    whole(chunks_);
    for (const auto& x : problem_.peers) {
      text(x.id);
      real(x.samples_per_second);
      real(x.upload);
      real(x.download);
      whole(static_cast<std::uint64_t>(x.computes ? 1 + *x.computes : 0));
      whole(x.holds_model);
      whole(x.listens);
    }
    for (const auto& x : problem_.links) {
      text(x.from);
      text(x.to);
      real(x.limit);
    }
    for (const auto& x : plan_.peers) {
      whole(x.computes);
      whole(x.chunks);
    }
    for (const auto& x : plan_.relays) {
      text(x.from);
      text(x.to);
      text(x.over);
    }
    return digest_of(bytes.data(), bytes.size());
  }

  const strategy_problem& problem_;
  std::uint32_t chunks_;
  peer_network net_;
  peer_flags computing_;
  exchange rates_;
  share_exchange direct_;
  double averaging_ = 0;     ///< Gradients per second, published.
  double schedule_rate_ = 0; ///< The same of the schedule.
  std::vector<double> shares_;
  std::vector<std::uint32_t> counts_;
  strategy_plan plan_;
};

} // namespace

strategy_plan plan_strategy(const strategy_problem& problem,
                            std::uint32_t chunks) {
  if (chunks == 0 || review(problem).refusal())
    throw std::invalid_argument{"A strategy is planned from a reviewed problem "
                                "and at least one chunk."};
  return maker{problem, chunks}.run();
}

} // namespace potluck
