#include "tools/lab/bench/moshpit_trials.hpp"

#include <algorithm>
#include <map>

#include "runtime/random.hpp"
#include "runtime/ways/moshpit/moshpit_groups.hpp"

namespace potluck::bench {

namespace {

/// Everybody's value, one number each: what averaging does to one, it does to
/// every parameter.
class crowd {
public:
  crowd(std::size_t peers, random_stream& chance) : chance_(chance) {
    for (std::size_t i = 0; i < peers; ++i)
      values_[chance.draw<peer_id>()] = 2 * chance.uniform01() - 1;
    for (auto& [id, value] : values_)
      peers_.push_back(id);
    began_at_ = spread();
  }

  void average(const moshpit_options& how, std::uint64_t seed,
               std::uint64_t round) {
    for (auto& group : moshpit_groups(peers_, how.group_size, seed, round)) {
      std::vector<double*> there;
      double sum = 0;
      for (auto& id : group)
        if (chance_.uniform01() >= how.failures) {
          there.push_back(&values_.at(id));
          sum += *there.back();
        }
      for (auto* value : there)
        *value = sum / static_cast<double>(there.size());
    }
  }

  /// The part of the first distance that is left.
  double left() const {
    return began_at_ > 0 ? spread() / began_at_ : 0;
  }

private:
  /// The mean squared distance of the values to their mean.
  double spread() const {
    double mean = 0;
    for (auto& [id, value] : values_)
      mean += value / static_cast<double>(values_.size());
    double result = 0;
    for (auto& [id, value] : values_)
      result += (value - mean) * (value - mean)
                / static_cast<double>(values_.size());
    return result;
  }

  random_stream& chance_;
  std::vector<peer_id> peers_;
  std::map<peer_id, double> values_;
  double began_at_ = 0;
};

/// Rounds until one in which nobody of all fails.
std::size_t restarted_rounds(const moshpit_options& how,
                             random_stream& chance) {
  auto whole = [&] {
    for (std::size_t i = 0; i < how.peers; ++i)
      if (chance.uniform01() < how.failures)
        return false;
    return true;
  };
  std::size_t rounds = 1;
  while (!whole() && rounds <= most_restarts)
    ++rounds;
  return rounds;
}

} // namespace

moshpit_figures average_in_moshpit(const moshpit_options& how) {
  moshpit_figures result;
  result.grid = moshpit_grid{how.peers, how.group_size}.sides();
  const auto trials = static_cast<double>(how.trials);
  std::vector<std::vector<double>> ways;
  for (std::size_t trial = 0; trial < how.trials; ++trial) {
    const auto seed = mix(how.seed, trial);
    random_stream chance{seed};
    crowd all{how.peers, chance};
    auto& way = ways.emplace_back();
    while ((way.empty() || way.back() > moshpit_precision)
           && way.size() < most_moshpit_rounds) {
      all.average(how, seed, way.size());
      way.push_back(all.left());
    }
    result.reached = result.reached && way.back() <= moshpit_precision;
    result.rounds += static_cast<double>(way.size()) / trials;
    result.most = std::max(result.most, way.size());
    const auto restarted = restarted_rounds(how, chance);
    result.succeeded = result.succeeded && restarted <= most_restarts;
    result.restarted += static_cast<double>(restarted) / trials;
  }
  // Who is done counts on with the little that was left.
  result.left.assign(result.most, 0);
  for (auto& way : ways)
    for (std::size_t i = 0; i < result.most; ++i)
      result.left[i] += way[std::min(i, way.size() - 1)] / trials;
  return result;
}

} // namespace potluck::bench
