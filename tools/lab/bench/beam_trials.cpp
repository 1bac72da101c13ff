#include "tools/lab/bench/beam_trials.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>

#include "runtime/experts/beam_search.hpp"
#include "runtime/experts/expert_memory.hpp"
#include "runtime/experts/expert_records.hpp"
#include "tools/lab/bench/beam_world.hpp"

namespace potluck::bench {

namespace {

constexpr auto run_name = "bench";
constexpr auto layer = "ffn";

/// Every expert of the grid, and its prefixes, each key by a node of its own.
void announce(beam_world& world, const std::vector<std::uint32_t>& grid) {
  auto any = [&] { return world.chance().below(world.size()); };
  std::vector<std::vector<std::uint32_t>> places{{}};
  for (std::size_t depth = 0; depth < grid.size(); ++depth) {
    std::set<std::uint32_t> next;
    for (std::uint32_t i = 0; i < grid[depth]; ++i)
      next.insert(i);
    std::vector<std::vector<std::uint32_t>> longer;
    for (auto& place : places) {
      const auto from = any();
      world.publish(from,
                    {prefix_record(run_name, world.who(from).id,
                                   to_string(expert_uid{layer, place}), next)});
      for (auto i : next) {
        longer.push_back(place);
        longer.back().push_back(i);
      }
    }
    places = std::move(longer);
  }
  for (auto& place : places) {
    const auto host = any();
    expert_announcement x;
    x.host = world.who(host);
    x.inputs = x.outputs = 1024;
    world.publish(
        host, {host_record(run_name, to_string(expert_uid{layer, place}), x)});
  }
}

/// What one search took.
struct price {
  std::size_t look_ups = 0;
  std::size_t messages = 0;
  std::size_t hops = 0;
  duration found{0};
  duration with_hosts{0};
};

/// One node's searches: a cold one, then a warm one.
class searcher {
public:
  searcher(beam_world& world, beam_world::node self, const beam_options& how,
           std::uint64_t seed)
      : world_(world), self_(self), how_(how), chance_(seed) {
  }

  void begin() {
    prices.emplace_back();
    began_ = world_.now();
    std::vector<float> scores(product_key{how_.grid}.scores());
    for (auto& x : scores)
      x = static_cast<float>(chance_.uniform01());
    best_ = best_of(scores);
    search_.emplace(beam_search::settings{layer, how_.grid, how_.k, 0}, 1,
                    std::move(scores));
    go_down();
  }

  std::vector<price> prices;
  std::size_t exact = 0;
  std::size_t experts = 0;
  std::size_t hosts = 0;

private:
  /// The same by looking at every place.
  std::vector<std::vector<std::uint32_t>>
  best_of(const std::vector<float>& scores) const {
    product_key grid{how_.grid};
    std::vector<std::pair<float, std::vector<std::uint32_t>>> all{{0, {}}};
    for (std::size_t d = 0; d < grid.dimensions(); ++d) {
      decltype(all) longer;
      for (auto& [score, place] : all)
        for (std::uint32_t i = 0; i < grid.size(d); ++i) {
          auto next = place;
          next.push_back(i);
          longer.push_back({score + scores[grid.offset(d) + i], next});
        }
      all = std::move(longer);
    }
    std::sort(all.begin(), all.end(),
              [](auto& a, auto& b) { return a.first > b.first; });
    std::vector<std::vector<std::uint32_t>> result;
    for (std::size_t i = 0; i < how_.k; ++i)
      result.push_back(all[i].second);
    return result;
  }

  /// One round: all prefixes that are wanted now, at a time.
  void go_down() {
    if (search_->done()) {
      find_hosts();
      return;
    }
    open_ = 1;
    for (auto& prefix : search_->next()) {
      if (auto known = memory_.find(prefix, world_.now())) {
        search_->answered(prefix, *known);
        continue;
      }
      look_up(prefix, [this, prefix](const auto& records) {
        search_->answered(prefix, memory_.keep(prefix, coordinates_in(records),
                                               world_.now()));
        close([this] { go_down(); });
      });
    }
    close([this] { go_down(); });
  }

  void find_hosts() {
    prices.back().found = world_.now() - began_;
    auto found = search_->best(0);
    std::vector<std::vector<std::uint32_t>> places;
    for (auto& x : found)
      places.push_back(x.place);
    exact += places == best_;
    experts += places.size();
    open_ = 1;
    for (auto& place : places)
      look_up(to_string(expert_uid{layer, place}), [this](const auto& records) {
        hosts += !hosts_in(records).empty();
        close([this] { end(); });
      });
    close([this] { end(); });
  }

  void end() {
    prices.back().with_hosts = world_.now() - began_;
    if (prices.size() == 1)
      begin();
  }

  template <class Then>
  void look_up(const std::string& name, Then then) {
    ++open_;
    world_.look_up(self_, expert_key(run_name, name),
                   [this, then](beam_world::finding x) {
                     auto& sum = prices.back();
                     ++sum.look_ups;
                     sum.messages += x.requests + x.answers;
                     sum.hops += x.hops;
                     then(x.records);
                   });
  }

  template <class Then>
  void close(Then then) {
    if (--open_ == 0)
      then();
  }

  beam_world& world_;
  beam_world::node self_;
  const beam_options& how_;
  random_stream chance_;
  expert_memory memory_;
  std::optional<beam_search> search_;
  std::vector<std::vector<std::uint32_t>> best_;
  time_point began_{};
  std::size_t open_ = 0; ///< Look-ups of the round, and the round itself.
};

duration quantile(std::vector<duration> all, double share) {
  std::sort(all.begin(), all.end());
  return all[static_cast<std::size_t>(share
                                      * static_cast<double>(all.size() - 1))];
}

beam_costs costs_of(const std::vector<std::unique_ptr<searcher>>& all,
                    std::size_t which) {
  beam_costs result;
  std::vector<duration> found;
  std::vector<duration> with_hosts;
  double look_ups = 0;
  double hops = 0;
  for (auto& x : all) {
    const auto& y = x->prices.at(which);
    look_ups += static_cast<double>(y.look_ups);
    hops += static_cast<double>(y.hops);
    result.messages += static_cast<double>(y.messages);
    found.push_back(y.found);
    with_hosts.push_back(y.with_hosts);
  }
  const auto count = static_cast<double>(all.size());
  result.look_ups = look_ups / count;
  result.messages /= count;
  result.hops = look_ups > 0 ? hops / look_ups : 0;
  result.median = quantile(found, 0.5);
  result.p95 = quantile(found, 0.95);
  result.with_hosts = quantile(with_hosts, 0.5);
  return result;
}

} // namespace

beam_figures search_experts(const beam_options& how) {
  if (how.nodes <= bucket_size)
    throw std::invalid_argument("A search among so few nodes asks all of them: "
                                "take more than "
                                + std::to_string(bucket_size) + ".");
  beam_world world({how.nodes, how.mean_delay, how.dials, how.seed});
  announce(world, how.grid);
  std::vector<beam_world::node> order(how.nodes);
  std::iota(order.begin(), order.end(), beam_world::node{0});
  world.chance().shuffle(order);
  const auto gone
      = static_cast<std::size_t>(how.failed * static_cast<double>(how.nodes));
  for (std::size_t i = 0; i < gone; ++i)
    world.vanish(order[i]);
  std::vector<std::unique_ptr<searcher>> all;
  for (auto i = gone; i < how.nodes && all.size() < how.searches; ++i)
    all.push_back(std::make_unique<searcher>(world, order[i], how,
                                             mix(how.seed, order[i])));
  for (auto& x : all)
    x->begin();
  world.run();
  beam_figures result;
  result.searches = all.size();
  result.cold = costs_of(all, 0);
  result.warm = costs_of(all, 1);
  double experts = 0;
  double hosts = 0;
  double exact = 0;
  for (auto& x : all) {
    experts += static_cast<double>(x->experts);
    hosts += static_cast<double>(x->hosts);
    exact += static_cast<double>(x->exact);
  }
  result.exact = exact / static_cast<double>(2 * all.size());
  result.hosts = experts > 0 ? hosts / experts : 0;
  return result;
}

} // namespace potluck::bench
