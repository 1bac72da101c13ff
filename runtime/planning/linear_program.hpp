/// A small linear program, minimised by the simplex method. A thin wrapper: the
/// only file that includes GLPK is linear_program.cpp.
///
/// GLPK keeps its environment per thread. Each `solve` makes and frees its own
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
  };

  /// @param variables Each at least zero and without a cost at first.
  explicit linear_program(std::size_t variables);

  /// What one unit of the variable adds to the objective.
  void cost(std::size_t variable, double amount);

  /// The variable may not exceed `limit`, which is not negative.
  void limit(std::size_t variable, double limit);

  /// Requires the sum of coefficient * variable to relate to `right`.
  void require(std::vector<std::pair<std::size_t, double>> terms,
               relation relation, double right);

  /// The least objective; none when there is no solution, no least one, or the
  /// solver gives up. It stops after a number of iterations, not of seconds, so
  /// that the same program ends alike on every machine. Throws
  /// std::invalid_argument when a figure is not finite or a variable is named
  /// that does not exist.
  std::optional<solution> solve() const;

private:
  struct row {
    std::vector<std::pair<std::size_t, double>> terms;
    relation is;
    double right;
  };

  std::vector<double> costs_;
  std::vector<std::optional<double>> limits_;
  std::vector<row> rows_;
};

} // namespace potluck
