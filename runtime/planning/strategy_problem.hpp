/// The averaging strategy problem as DeDLOC publishes it (section 3.2): who
/// computes, and how fast gradients and means travel between which peers. And
/// what becomes of figures that cannot be true.
///
/// Figures come from strangers and from files, so a bad one gets a verdict and
/// never an exception.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace potluck {

struct strategy_peer {
  std::string id;
  double samples_per_second = 0;
  double upload = 0;   ///< Bytes per second.
  double download = 0; ///< Bytes per second.
  /// Whether it computes; none: the planner decides.
  std::optional<bool> computes;
  /// Needs the means; false: an auxiliary peer.
  bool holds_model = true;
  /// Others can connect to it; false: a client, which averages for nobody.
  bool listens = true;
  /// The most that was ever observed of it; none: nothing was.
  std::optional<double> seen_samples_per_second = std::nullopt;
  std::optional<double> seen_upload = std::nullopt;
  std::optional<double> seen_download = std::nullopt;
};

/// What one peer can send another at most; 0: it cannot.
struct strategy_link {
  std::string from;
  std::string to;
  double limit = 0; ///< Bytes per second.
};

struct strategy_problem {
  double target_batch = 0;   ///< Samples behind one step.
  double gradient_bytes = 0; ///< On the wire.
  std::vector<strategy_peer> peers;
  std::vector<strategy_link> links; ///< One that is not named has no limit.
};

/// What became of an input.
enum class input_verdict {
  refused,  ///< Nothing can be planned.
  excluded, ///< The peer is left out of the plan.
  clamped,  ///< Another figure was planned with.
  noted,    ///< Planned with as it is, but a person should know.
};

std::string to_string(input_verdict x);

struct input_finding {
  input_verdict verdict = input_verdict::noted;
  std::string peer;     ///< Empty: not about one peer.
  std::string field;    ///< As in the JSON format; empty: the whole peer.
  std::string sentence; ///< For a person, with the mend.
};

struct reviewed_problem {
  strategy_problem problem; ///< Every figure finite and not negative.
  std::vector<input_finding> findings;

  /// The first finding that forbids planning, if there is one.
  const input_finding* refusal() const;
};

/// What can be planned with, and what was wrong with the rest:
///
/// - no peers, too many, an empty or a repeated id, a batch or gradient that is
///   not a positive number; a link of a peer that does not exist, to itself,
///   named twice, negative or no number: refused;
/// - a peer's figure that is negative, infinite or no number: clamped to what
///   was observed of it, or the peer is excluded when nothing was;
/// - above what was ever observed, or above `limits::planned_figure`: clamped;
/// - zero is a figure like any other: who uploads nothing cannot compute, who
///   downloads nothing gets no mean. Noted, as are a single peer, nobody who
///   computes, nobody who holds the model, and islands.
reviewed_problem review(const strategy_problem& problem);

} // namespace potluck
