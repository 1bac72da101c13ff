/// A linear program, or a mixed-integer one, minimised by GLPK. A thin wrapper:
/// the only file that includes GLPK is linear_program.cpp.
///
/// GLPK keeps its environment per thread. Each call makes and frees its own
/// problem, so objects may move between threads; one object must not be used by
/// two threads at once.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace potluck {

class linear_program {
public:
  enum class relation { at_most, equal, at_least };

  struct solution {
    double objective = 0;
    std::vector<double> values; ///< One for each variable.
    /// One for each row, in the order of `require`: by how much the objective
    /// grows when the right side grows by one.
    std::vector<double> duals;
  };

  struct whole_solution {
    /// The best one found, if any; without duals.
    std::optional<solution> best;
    /// No solution's objective is below; minus infinity when nothing is known.
    double bound = 0;
    /// The search was not cut short: `best` is the least, or there is none.
    bool complete = false;
  };

  /// @param variables Each at least zero and without a cost at first.
  explicit linear_program(std::size_t variables);

  /// What one unit of the variable adds to the objective.
  void cost(std::size_t variable, double amount);

  /// The variable may not exceed `limit`, which is not negative.
  void limit(std::size_t variable, double limit);

  /// The variable is a whole number; `solve_whole` alone heeds this.
  void whole(std::size_t variable);

  /// Requires the sum of coefficient * variable to relate to `right`.
  void require(std::vector<std::pair<std::size_t, double>> terms,
               relation relation, double right);

  std::size_t variables() const {
    return costs_.size();
  }

  /// The least objective by the simplex method; none when there is no solution,
  /// no least one, or the solver gives up. It stops after a number of
  /// iterations, not of seconds, so that the same program ends alike on every
  /// machine. Throws std::invalid_argument when a figure is not finite or a
  /// variable is named that does not exist.
  std::optional<solution> solve() const;

  /// The least objective with whole numbers where asked, by branch and bound;
  /// after `most_nodes` parts of the search, the best until then. Throws like
  /// `solve`.
  whole_solution solve_whole(std::size_t most_nodes) const;

private:
  struct row {
    std::vector<std::pair<std::size_t, double>> terms;
    relation is;
    double right;
  };

  void check() const;
  /// Fills in a glp_prob.
  void load(void* problem) const;

  std::vector<double> costs_;
  std::vector<std::optional<double>> limits_;
  std::vector<bool> whole_;
  std::vector<row> rows_;
};

} // namespace potluck
