/// An amendment: one thing that a run's organiser changes, signed, so that it
/// may come from anybody.
///
/// Amendments of a run are numbered from 1 without gaps. README.md has the
/// bytes. No kind of them makes a volunteer run another model, more memory or
/// other code. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "messages/expected.hpp"
#include "messages/ids.hpp"
#include "runtime/identity/key_pair.hpp"
#include "runtime/manifest/organisers.hpp"
#include "runtime/manifest/run_key.hpp"

namespace potluck {

// ---- what may change --------------------------------------------------------

/// The run ends after this many steps; the rate falls to zero there.
struct new_steps {
  std::uint64_t steps = 1;
};
/// The learning rate stays what it is, and falls to zero over the last `length`
/// steps of the run.
struct new_rate_tail {
  std::uint64_t length = 1; ///< Steps.
};
/// No step is made until the run is resumed.
struct pause_run {};
struct resume_run {};
/// The run ends with the step from which this holds.
struct finish_run {};
/// These peers are refused by all, or, if lifted, no longer.
struct new_bans {
  static constexpr std::size_t most = 100;
  bool lifted = false;
  std::vector<peer_id> who;
};
/// All go back to the state that they held after this step.
struct roll_back {
  std::uint64_t step = 0;
  /// Of then: nothing else is loaded. Empty: where groups are redrawn, each has
  /// its own.
  digest state;
};
/// Whom the run admits. The values are in signed bytes: append only.
enum class admission_mode : std::uint8_t {
  open = 0,
  token = 1, ///< Who shows a token of the run's authority.
  list = 2,  ///< Whom the authority has on its list.
};
struct new_admission {
  admission_mode mode = admission_mode::open;
};

/// In the order of their numbers in the bytes, which begin with 1: append only.
using run_change = std::variant<new_steps, new_rate_tail, pause_run, resume_run,
                                finish_run, new_bans, roll_back, new_admission>;

/// For people: "The run ends after step 60."
std::string to_sentence(const run_change& x, std::uint64_t from);

std::string to_string(admission_mode x);

// ---- the amendment ----------------------------------------------------------

struct amendment {
  /// Of the words beside it, for people.
  static constexpr std::size_t longest_reason = 200;

  run_id run;
  std::uint64_t number = 1;
  /// It holds for this step and those behind it; 0: at once.
  std::uint64_t from = 0;
  std::uint64_t signed_ms = 0; ///< Since 1970, by the organiser's clock.
  run_change change;
  std::string reason; ///< Why, for people; printable ASCII, may be empty.
};

/// Why nobody would believe this amendment, as a sentence; empty: it is one.
std::string problem_with(const amendment& x);

/// The bytes that travel, where one signature is needed. Precondition:
/// `problem_with` finds none.
std::string sign_amendment(const amendment& x, const key_pair& organiser);

/// Adds a signature to what lacks some. Fails with the end of a sentence that
/// begins with what `bytes` are.
expected<std::string> sign_as_well(const run_id& run, const organisers& who,
                                   const std::string& bytes,
                                   const key_pair& key);
/// How many organisers have signed these bytes, of those that are needed; 0:
/// they are no amendment of the run.
std::size_t signatures_on(const run_id& run, const organisers& who,
                          std::string_view bytes);
/// Without the signatures: what two that say the same have in common.
std::string_view unsigned_part(const organisers& who, std::string_view bytes);

/// What somebody gave as an amendment of a run.
struct read_amendment {
  enum class verdict {
    sound,
    wrong, ///< Too few organisers of the run have signed these bytes.
    newer, ///< An organiser has, and this version does not understand them.
  };
  verdict is = verdict::wrong;
  amendment what;       ///< Where it is sound.
  std::string sentence; ///< Why it is not, as the end of one.
};

/// The signatures are verified before anything else of the bytes is looked at.
read_amendment read_amendment_of(const run_id& run, const organisers& who,
                                 std::string_view bytes);

} // namespace potluck
