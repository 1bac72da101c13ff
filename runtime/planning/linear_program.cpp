#include "runtime/planning/linear_program.hpp"

#include <cmath>
#include <glpk.h>
#include <limits>
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

using problem_ptr = std::unique_ptr<glp_prob, problem_deleter>;

/// GLPK makes an environment for each thread that calls it, and frees none by
/// itself. Freed with the thread, not with the problem: a program around us may
/// use GLPK in the same thread.
struct thread_environment {
  ~thread_environment() {
    glp_free_env();
  }
};

problem_ptr silent_problem() {
  thread_local thread_environment freed_later;
  glp_term_out(GLP_OFF);
  return problem_ptr{glp_create_prob()};
}

/// Solves the relaxation to optimality; false when there is no solution, no
/// least one, or the solver gives up.
///
/// Without GLPK's presolver: it takes bounds that are a thousandth apart for
/// equal, and the optimum is then off by as much.
bool simplex(glp_prob* p) {
  glp_smcp options;
  glp_init_smcp(&options);
  options.msg_lev = GLP_MSG_OFF;
  options.it_lim = most_iterations;
  glp_scale_prob(p, GLP_SF_AUTO);
  glp_adv_basis(p, 0);
  return glp_simplex(p, &options) == 0 && glp_get_status(p) == GLP_OPT;
}

/// Counts the parts of a branch and bound search, and ends it after so many.
struct search_watch {
  std::size_t most = 0;
  std::size_t seen = 0;
  bool stopped = false;
  double bound = 0;

  static void on_event(glp_tree* tree, void* self) {
    static_cast<search_watch*>(self)->step(tree);
  }

  void step(glp_tree* tree) {
    if (glp_ios_reason(tree) != GLP_ISELECT || stopped)
      return;
    if (int best = glp_ios_best_node(tree); best != 0)
      bound = glp_ios_node_bound(tree, best);
    if (seen++ < most)
      return;
    stopped = true;
    glp_ios_terminate(tree);
  }
};

} // namespace

linear_program::linear_program(std::size_t variables)
    : costs_(variables, 0), limits_(variables), whole_(variables, false) {
}

void linear_program::cost(std::size_t variable, double amount) {
  costs_.at(variable) = amount;
}

void linear_program::limit(std::size_t variable, double limit) {
  limits_.at(variable) = limit;
}

void linear_program::whole(std::size_t variable) {
  whole_.at(variable) = true;
}

void linear_program::require(std::vector<std::pair<std::size_t, double>> terms,
                             relation relation, double right) {
  rows_.push_back({std::move(terms), relation, right});
}

void linear_program::check() const {
  // GLPK ends the process on misuse, so everything is checked before.
  auto must = [](bool good) {
    if (!good)
      throw std::invalid_argument{"A linear program needs finite figures and "
                                  "variables that exist."};
  };
  must(!costs_.empty() && !rows_.empty());
  for (const auto& row : rows_) {
    must(std::isfinite(row.right));
    for (const auto& [variable, value] : row.terms)
      must(variable < costs_.size() && std::isfinite(value));
  }
  for (std::size_t c = 0; c < costs_.size(); ++c)
    must(std::isfinite(costs_[c])
         && (!limits_[c] || (std::isfinite(*limits_[c]) && *limits_[c] >= 0)));
}

void linear_program::load(void* problem) const {
  auto* p = static_cast<glp_prob*>(problem);
  std::vector<int> row_of{0};
  std::vector<int> column_of{0};
  std::vector<double> coefficient{0};
  std::vector<double> dense(costs_.size(), 0);
  std::vector<bool> seen(costs_.size(), false);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (const auto& [variable, value] : rows_[r].terms)
      dense[variable] += value;
    for (const auto& term : rows_[r].terms) {
      auto c = term.first;
      if (dense[c] != 0 && !seen[c]) {
        row_of.push_back(static_cast<int>(r + 1));
        column_of.push_back(static_cast<int>(c + 1));
        coefficient.push_back(dense[c]);
      }
      seen[c] = true;
    }
    for (const auto& term : rows_[r].terms) {
      dense[term.first] = 0;
      seen[term.first] = false;
    }
  }
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
    if (whole_[c])
      glp_set_col_kind(p, column, GLP_IV);
  }
  glp_load_matrix(p, static_cast<int>(coefficient.size() - 1), row_of.data(),
                  column_of.data(), coefficient.data());
}

std::optional<linear_program::solution> linear_program::solve() const {
  check();
  auto problem = silent_problem();
  auto* p = problem.get();
  load(p);
  if (!simplex(p))
    return std::nullopt;
  solution result;
  result.objective = glp_get_obj_val(p);
  for (std::size_t c = 0; c < costs_.size(); ++c)
    result.values.push_back(glp_get_col_prim(p, static_cast<int>(c + 1)));
  for (std::size_t r = 0; r < rows_.size(); ++r)
    result.duals.push_back(glp_get_row_dual(p, static_cast<int>(r + 1)));
  return result;
}

linear_program::whole_solution
linear_program::solve_whole(std::size_t most_nodes) const {
  check();
  auto problem = silent_problem();
  auto* p = problem.get();
  load(p);
  whole_solution result;
  result.bound = -std::numeric_limits<double>::infinity();
  search_watch watch;
  watch.most = most_nodes;
  watch.bound = result.bound;
  glp_iocp options;
  glp_init_iocp(&options);
  options.msg_lev = GLP_MSG_OFF;
  options.tol_int = 1e-7;
  options.cb_func = search_watch::on_event;
  options.cb_info = &watch;
  if (!simplex(p)) {
    result.complete = glp_get_status(p) == GLP_NOFEAS;
    if (result.complete)
      result.bound = std::numeric_limits<double>::infinity();
    return result;
  }
  int status = glp_intopt(p, &options);
  result.bound = watch.bound;
  result.complete
      = status == 0
        && (glp_mip_status(p) == GLP_OPT || glp_mip_status(p) == GLP_NOFEAS);
  if (glp_mip_status(p) == GLP_OPT || glp_mip_status(p) == GLP_FEAS) {
    result.best = solution{};
    result.best->objective = glp_mip_obj_val(p);
    for (std::size_t c = 0; c < costs_.size(); ++c)
      result.best->values.push_back(
          glp_mip_col_val(p, static_cast<int>(c + 1)));
    if (result.complete)
      result.bound = result.best->objective;
  } else if (result.complete) {
    result.bound = std::numeric_limits<double>::infinity();
  }
  return result;
}

} // namespace potluck
