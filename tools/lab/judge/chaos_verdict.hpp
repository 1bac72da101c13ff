/// Whether a collaboration kept its promises under a scenario's faults, judged
/// by what its processes logged. Pure: no process, file or clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/lab/judge/demo_log.hpp"
#include "tools/lab/scenario/scenario.hpp"

namespace potluck::tools {

/// One process, from its start to its end.
struct life_record {
  enum class how { by_itself, killed, left };
  std::string name; ///< Of its log; a peer's later lives end in ".2" and so on.
  std::string peer;
  std::string role;
  how end = how::by_itself; ///< Killed by us, or asked by us to leave.
  std::vector<logged_event> events;
  std::string trouble; ///< How it ended, unless that was well.
  std::uint64_t peak_bytes = 0;
  /// Its disk was full for a while, so its log lacks what it wrote then.
  bool log_has_gaps = false;
};

struct chaos_record {
  std::uint64_t steps = 0; ///< That the run was to take.
  std::uint64_t target_batch = 0;
  /// Groups are redrawn for every step: peers at one step differ, and each
  /// group counts a part of the target batch.
  bool redrawn = false;
  expectation expects;
  /// Faults of the scenario may part peers for a while, each side of which then
  /// has a history of its own.
  bool may_part = false;
  std::vector<life_record> lives; ///< Bootstraps among them.
  double longest_pause = 0;       ///< Seconds without a step, while no fault
                                  ///< that ends was under way.
  std::string trouble;            ///< Why the run was ended early, if it was.
  std::vector<std::string> left_behind; ///< Processes and files.
};

/// One promise.
struct chaos_finding {
  std::string invariant; ///< A sentence that should be true.
  std::string problem;   ///< Empty: it is.
  std::string detail;    ///< What was seen, for a person.
};

/// Resident bytes of a process at most: LibTorch takes a quarter of it, and a
/// model for tests next to nothing.
constexpr std::uint64_t most_memory = std::uint64_t{1} << 30;

/// A finding for each, in this order:
/// - the run got through, and every process ended as it should;
/// - equal digests at every step that two peers report, set aside steps that
///   were given up for a longer history, and those taken alone that a download
///   replaced; where groups are redrawn, that all members of a round begin the
///   step with the same parameters;
/// - all who were there to the end finished, with one digest (`finishes`);
/// - every step counts at least the target batch, or in redrawn groups
/// anything;
/// - no step counted twice by a peer;
/// - steps went on within `recovers_within` after the last fault;
/// - nobody was refused or blamed, for nobody is hostile;
/// - `first_try` and `final_loss`, when the scenario expects them;
/// - memory below `most_memory`;
/// - no process and no file left behind.
std::vector<chaos_finding> judge(const chaos_record& record);

} // namespace potluck::tools
