/// A run of real processes, as it is known when it is over, and the judge's
/// word on it. Pure: no process, file or clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/lab/display/loss_curve.hpp"
#include "tools/lab/judge/run_judge.hpp"

namespace potluck::tools {

/// What a checkpoint turned out to hold.
struct saved_state {
  std::uint64_t step = 0;
  std::string digest; ///< Computed anew from its values, as hex.
};

/// One process, from its start to its end.
struct life_record {
  enum class how { by_itself, killed, left };
  std::string name; ///< Of its log; a peer's later lives end in ".2" and so on.
  std::string role; ///< trainer, auxiliary or bootstrap.
  how end = how::by_itself; ///< Killed by us, or asked by us to leave.
  bool late = false; ///< Started when the others had trained for a while.
  std::vector<logged_event> events;
  std::string trouble;          ///< How it ended, unless that was well.
  std::uint64_t peak_bytes = 0; ///< Of its memory; 0: nobody looked.
  /// Its disk was full for a while, so its log lacks what it wrote then.
  bool log_has_gaps = false;
  std::optional<saved_state> checkpoint; ///< That it left.
};

struct run_record {
  terms run;                      ///< What logs can show of it.
  std::vector<life_record> lives; ///< Bootstraps among them.
  /// Seconds without a step, while no fault that ends was under way; none where
  /// nobody looked.
  std::optional<double> longest_pause;
  std::string trouble; ///< Why the run was ended early, if it was.
  std::vector<std::string> left_behind; ///< Processes and files.
};

/// Resident bytes of a process at most: LibTorch takes a quarter of it, and a
/// model for tests next to nothing.
constexpr std::uint64_t most_memory = std::uint64_t{1} << 30;

/// What became of each promise.
std::vector<finding> judge(const run_record& record);

/// The loss at every step that was logged, by step.
std::vector<curve_point> losses_of(const run_record& record);

} // namespace potluck::tools
