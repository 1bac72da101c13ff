#include "runtime/planning/linear_program.hpp"

#include <cmath>
#include <glpk.h>
#include <memory>
#include <stdexcept>

namespace potluck {

namespace {

/// Far above what hundreds of peers need; a cycle would end here.
constexpr int most_iterations = 100000;

struct problem_deleter {
  void operator()(glp_prob* x) const {
    glp_delete_prob(x);
  }
};

/// GLPK makes an environment for each thread that calls it, and frees none by
/// itself. Freed with the thread, not with the problem: a program around us may
/// use GLPK in the same thread.
struct thread_environment {
  ~thread_environment() {
    glp_free_env();
  }
};

} // namespace

linear_program::linear_program(std::size_t variables)
    : costs_(variables, 0), limits_(variables) {
}

void linear_program::cost(std::size_t variable, double amount) {
  costs_.at(variable) = amount;
}

void linear_program::limit(std::size_t variable, double limit) {
  limits_.at(variable) = limit;
}

void linear_program::require(std::vector<std::pair<std::size_t, double>> terms,
                             relation relation, double right) {
  rows_.push_back({std::move(terms), relation, right});
}

std::optional<linear_program::solution> linear_program::solve() const {
  // GLPK ends the process on misuse, so everything is checked before.
  auto check = [](bool good) {
    if (!good)
      throw std::invalid_argument{"A linear program needs finite figures and "
                                  "variables that exist."};
  };
  check(!costs_.empty() && !rows_.empty());
  std::vector<int> row_of{0};
  std::vector<int> column_of{0};
  std::vector<double> coefficient{0};
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    check(std::isfinite(rows_[r].right));
    std::vector<double> dense(costs_.size(), 0);
    for (const auto& [variable, value] : rows_[r].terms) {
      check(variable < costs_.size() && std::isfinite(value));
      dense[variable] += value;
    }
    for (std::size_t c = 0; c < dense.size(); ++c) {
      if (dense[c] == 0)
        continue;
      row_of.push_back(static_cast<int>(r + 1));
      column_of.push_back(static_cast<int>(c + 1));
      coefficient.push_back(dense[c]);
    }
  }
  for (std::size_t c = 0; c < costs_.size(); ++c)
    check(std::isfinite(costs_[c])
          && (!limits_[c] || (std::isfinite(*limits_[c]) && *limits_[c] >= 0)));

  thread_local thread_environment freed_later;
  glp_term_out(GLP_OFF);
  std::unique_ptr<glp_prob, problem_deleter> problem{glp_create_prob()};
  auto* p = problem.get();
  glp_set_obj_dir(p, GLP_MIN);
  glp_add_rows(p, static_cast<int>(rows_.size()));
  glp_add_cols(p, static_cast<int>(costs_.size()));
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    int kind = rows_[r].is == relation::at_most    ? GLP_UP
               : rows_[r].is == relation::at_least ? GLP_LO
                                                   : GLP_FX;
    glp_set_row_bnds(p, static_cast<int>(r + 1), kind, rows_[r].right,
                     rows_[r].right);
  }
  for (std::size_t c = 0; c < costs_.size(); ++c) {
    int column = static_cast<int>(c + 1);
    glp_set_obj_coef(p, column, costs_[c]);
    if (!limits_[c])
      glp_set_col_bnds(p, column, GLP_LO, 0, 0);
    else
      glp_set_col_bnds(p, column, *limits_[c] > 0 ? GLP_DB : GLP_FX, 0,
                       *limits_[c]);
  }
  glp_load_matrix(p, static_cast<int>(coefficient.size() - 1), row_of.data(),
                  column_of.data(), coefficient.data());
  glp_smcp options;
  glp_init_smcp(&options);
  options.msg_lev = GLP_MSG_OFF;
  options.presolve = GLP_ON;
  options.it_lim = most_iterations;
  if (glp_simplex(p, &options) != 0 || glp_get_status(p) != GLP_OPT)
    return std::nullopt;
  solution result;
  result.objective = glp_get_obj_val(p);
  for (std::size_t c = 0; c < costs_.size(); ++c)
    result.values.push_back(glp_get_col_prim(p, static_cast<int>(c + 1)));
  return result;
}

} // namespace potluck
