#include "runtime/planning/computing_program.hpp"

#include <algorithm>
#include <tuple>

#include "runtime/planning/linear_program.hpp"

namespace potluck {

namespace {

using relation = linear_program::relation;
using terms = std::vector<std::pair<std::size_t, double>>;

constexpr std::size_t no_column = 0;

class builder {
public:
  builder(const peer_network& net, const computing_question& question)
      : net_(net), question_(question), n_(net.size()) {
    columns();
    program_.emplace(columns_);
    program_->cost(0, -1);
    program_->limit(0, 1);
    rates();
    choices();
    lines();
    symmetry();
  }

  const linear_program& program() const {
    return *program_;
  }

  peer_flags read(const std::vector<double>& values) const {
    peer_flags result(n_, false);
    for (std::size_t k = 0; k < n_; ++k)
      result[k] = yes(k) || (open(k) && values[choice_[k]] > 0.5);
    return result;
  }

private:
  bool yes(std::size_t k) const {
    return question_.choices[k] == computing_choice::yes;
  }
  bool open(std::size_t k) const {
    return question_.choices[k] == computing_choice::open;
  }

  void columns() {
    reduce_.assign(n_, no_column);
    choice_.assign(n_, no_column);
    excused_.assign(n_, no_column);
    mean_.assign(n_, std::vector<std::size_t>(n_, no_column));
    part_ = mean_;
    for (std::size_t k = 0; k < n_; ++k)
      if (open(k)) {
        choice_[k] = columns_++;
        excused_[k] = columns_++;
      }
    for (std::size_t i = 0; i < n_; ++i) {
      bool may = net_.listens(i);
      for (std::size_t k = 0; k < n_; ++k)
        may = may && !(k != i && yes(k) && net_.link(k, i) == 0);
      if (!may)
        continue;
      reduce_[i] = columns_++;
      for (std::size_t j = 0; j < n_; ++j) {
        if (j == i)
          continue;
        if (net_.holds(j) && net_.link(i, j) > 0)
          mean_[i][j] = columns_++;
        if (open(j) && net_.link(j, i) > 0)
          part_[j][i] = columns_++;
      }
    }
  }

  void rates() {
    auto& p = *program_;
    for (std::size_t i = 0; i < n_; ++i) {
      if (reduce_[i] == no_column)
        continue;
      p.limit(reduce_[i], 1);
      p.require({{reduce_[i], 1.0}, {0, -1.0}}, relation::at_most, 0);
      for (std::size_t j = 0; j < n_; ++j)
        if (mean_[i][j] != no_column)
          p.require({{mean_[i][j], 1.0}, {reduce_[i], -1.0}}, relation::at_most,
                    0);
    }
    for (std::size_t j = 0; j < n_; ++j) {
      if (!net_.holds(j))
        continue;
      terms got{{0, -1.0}};
      if (reduce_[j] != no_column)
        got.emplace_back(reduce_[j], 1.0);
      for (std::size_t i = 0; i < n_; ++i)
        if (mean_[i][j] != no_column)
          got.emplace_back(mean_[i][j], 1.0);
      p.require(std::move(got), relation::at_least, 0);
    }
    p.require({{0, 1.0}}, relation::at_least,
              std::min(1.0, question_.least / question_.most));
  }

  void choices() {
    auto& p = *program_;
    double given = 0;
    double computing = 0;
    terms samples{{0, 1.0}};
    terms all;
    for (std::size_t k = 0; k < n_; ++k) {
      // No more than what is enough by itself.
      double speed = std::min(1.0, net_.compute(k) / question_.most);
      if (yes(k)) {
        given += speed;
        computing += 1;
      }
      if (!open(k))
        continue;
      p.whole(choice_[k]);
      p.limit(choice_[k], 1);
      samples.emplace_back(choice_[k], -speed);
      all.emplace_back(choice_[k], 1.0);
      p.require({{excused_[k], 1.0}, {choice_[k], 1.0}}, relation::at_most, 1);
      terms whole{{0, -1.0}, {excused_[k], 1.0}};
      if (reduce_[k] != no_column)
        whole.emplace_back(reduce_[k], 1.0);
      for (std::size_t i = 0; i < n_; ++i) {
        if (reduce_[i] == no_column || i == k)
          continue;
        terms part{{excused_[k], 1.0}, {reduce_[i], -1.0}};
        if (part_[k][i] != no_column) {
          part.emplace_back(part_[k][i], 1.0);
          whole.emplace_back(part_[k][i], 1.0);
        }
        p.require(std::move(part), relation::at_least, 0);
      }
      if (net_.holders() > 0)
        p.require(std::move(whole), relation::at_least, 0);
    }
    p.require(std::move(samples), relation::at_most, given);
    if (!all.empty())
      p.require(all, relation::at_least, 2 - computing);
    for (const auto& set : question_.except) {
      terms differs;
      double right = 1;
      for (std::size_t k = 0; k < n_; ++k) {
        if (!open(k))
          continue;
        differs.emplace_back(choice_[k], set[k] ? -1.0 : 1.0);
        right -= set[k];
      }
      if (!differs.empty())
        p.require(std::move(differs), relation::at_least, right);
    }
  }

  /// What k sends to i to be averaged there.
  void add_part(std::size_t k, std::size_t i, terms& x) const {
    if (yes(k) && reduce_[i] != no_column)
      x.emplace_back(reduce_[i], 1.0);
    else if (part_[k][i] != no_column)
      x.emplace_back(part_[k][i], 1.0);
  }

  void capacity(terms x, double limit) {
    double most = 0;
    for (const auto& term : x)
      most += term.second;
    if (most > limit / question_.most)
      program_->require(std::move(x), relation::at_most,
                        limit / question_.most);
  }

  void lines() {
    for (std::size_t i = 0; i < n_; ++i) {
      terms up;
      terms down;
      for (std::size_t j = 0; j < n_; ++j) {
        if (j == i)
          continue;
        add_part(i, j, up);
        add_part(j, i, down);
        if (mean_[i][j] != no_column)
          up.emplace_back(mean_[i][j], 1.0);
        if (mean_[j][i] != no_column)
          down.emplace_back(mean_[j][i], 1.0);
      }
      capacity(std::move(up), net_.up(i));
      capacity(std::move(down), net_.down(i));
    }
    for (const auto& [ends, limit] : net_.links()) {
      terms both;
      add_part(ends.first, ends.second, both);
      if (mean_[ends.first][ends.second] != no_column)
        both.emplace_back(mean_[ends.first][ends.second], 1.0);
      capacity(std::move(both), limit);
    }
  }

  void symmetry() {
    // With an excluded set, its mirror images would be answers again.
    if (!question_.except.empty())
      return;
    std::vector<bool> linked(n_, false);
    for (const auto& link : net_.links()) {
      linked[link.first.first] = true;
      linked[link.first.second] = true;
    }
    using likeness = std::tuple<double, double, double, bool, bool>;
    std::map<likeness, std::size_t> last;
    for (std::size_t k = 0; k < n_; ++k) {
      if (!open(k) || linked[k])
        continue;
      likeness me{net_.compute(k), net_.up(k), net_.down(k), net_.holds(k),
                  net_.listens(k)};
      auto found = last.find(me);
      if (found != last.end())
        program_->require({{choice_[found->second], 1.0}, {choice_[k], -1.0}},
                          relation::at_least, 0);
      last[me] = k;
    }
  }

  const peer_network& net_;
  const computing_question& question_;
  std::size_t n_;
  std::size_t columns_ = 1; // 0: the rate.
  std::vector<std::size_t> reduce_;
  std::vector<std::size_t> choice_;
  std::vector<std::size_t> excused_;
  std::vector<std::vector<std::size_t>> mean_; // [from][to]
  std::vector<std::vector<std::size_t>> part_; // [from][to], open ones only
  std::optional<linear_program> program_;
};

} // namespace

computing_answer best_computing(const peer_network& net,
                                const computing_question& question,
                                std::size_t most_parts) {
  builder built{net, question};
  auto found = built.program().solve_whole(most_parts);
  computing_answer result;
  result.complete = found.complete;
  // An infinite bound means that there is no such plan at all.
  result.bound
      = std::min(question.most, std::max(0.0, -found.bound * question.most));
  if (found.best) {
    result.computing = built.read(found.best->values);
    result.rate = -found.best->objective * question.most;
  }
  return result;
}

} // namespace potluck
