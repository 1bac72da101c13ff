#include "runtime/strangers/letter_cost.hpp"

#include <variant>

namespace potluck {

namespace {

constexpr double cost_of_most = 0.2;

struct cost {
  // An answer of up to 80 kB,
  double operator()(const find_records&) const {
    return 4;
  }
  double operator()(const find_nodes&) const {
    return 2;
  }
  // signatures to be checked,
  double operator()(const store_records& x) const {
    return 1 + 3 * static_cast<double>(x.records.size());
  }
  double operator()(const amendments_reply& x) const {
    return 1 + 2 * static_cast<double>(x.amendments.size());
  }
  double operator()(const admission_request&) const {
    return 4;
  }
  double operator()(const admission_shown&) const {
    return 2;
  }
  // what is long to write,
  double operator()(const history_request&) const {
    return 8;
  }
  double operator()(const history_reply&) const {
    return 4; // Checked only where it was asked for.
  }
  // a list of all pieces,
  double operator()(const state_request&) const {
    return 8;
  }
  double operator()(const charter_request&) const {
    return 32; // Some hundred kilobytes are read and encrypted.
  }
  double operator()(const charter_reply&) const {
    return 32;
  }
  double operator()(const amendments_request&) const {
    return 8;
  }
  // a dial,
  double operator()(const reach_request&) const {
    return 8;
  }
  double operator()(const reach_errand&) const {
    return 8;
  }
  // what a hub passes on,
  double operator()(const circuit_data&) const {
    return 0.5;
  }
  double operator()(const circuit_open&) const {
    return 2;
  }
  // a look at what all others say,
  double operator()(const progress_report&) const {
    return 1;
  }
  // what comes often where a batch has many calls,
  double operator()(const expert_request&) const {
    return 0.1;
  }
  double operator()(const expert_answer&) const {
    return 0.1;
  }
  // the last words, and all others.
  double operator()(const goodbye&) const {
    return 0;
  }
  template <class Other>
  double operator()(const Other&) const {
    return cost_of_most;
  }
};

template <class... Kinds>
bool is_any_of(const message& x) {
  return (std::holds_alternative<Kinds>(x) || ...);
}

/// It waits elsewhere until there is room for it.
bool is_bulk(const message& x) {
  return is_any_of<chunk_part, chunk_mean, contribution_part, state_piece,
                   artifact_piece, expert_request, expert_answer,
                   replica_chunk>(x);
}

} // namespace

double cost_of(const message& x, bool trusted) {
  if (trusted && is_bulk(x))
    return 0;
  // One that works with this peer says how every batch went.
  if (trusted && is_any_of<progress_report>(x))
    return cost_of_most;
  return std::visit(cost{}, x);
}

} // namespace potluck
