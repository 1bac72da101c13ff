#include "tools/potluck/amendment_words.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/numbers.hpp"

namespace potluck::tools {

namespace {

using words = std::vector<std::string>;

/// An amendment that steps depend on holds so far ahead of where the run is
/// that all have heard of it by then: some steps, and as many as are made in
/// that time.
constexpr std::uint64_t steps_ahead = 3;
constexpr double seconds_ahead = 5;

expected<std::uint64_t> number_in(const words& what, const char* name) {
  std::uint64_t x = 0;
  if (what.size() == 2 && read_number(what[1], x))
    return x;
  return failure{"Write `potluck amend ... " + what[0] + " " + name
                 + "`, with one whole number."};
}

expected<run_change> bans_in(const words& what) {
  new_bans x;
  x.lifted = what[0] == "unban";
  for (std::size_t i = 1; i < what.size(); ++i) {
    auto id = parse_id<peer_id>(what[i]);
    if (!id)
      return failure{"'" + what[i]
                     + "' is no peer's id: these are 64 hex digits, as the "
                       "`listening` and `join` lines of logs have them."};
    x.who.push_back(*id);
  }
  if (x.who.empty())
    return failure{"Say whom: `potluck amend ... " + what[0] + " ID...`."};
  return run_change{std::move(x)};
}

} // namespace

expected<run_change> change_in(const words& what, const std::string& state) {
  const auto& verb = what[0];
  const bool alone = what.size() == 1;
  if (verb == "steps" || verb == "rate-tail" || verb == "rollback") {
    auto number = number_in(what, verb == "rollback" ? "STEP" : "STEPS");
    if (!number)
      return failure{number.error()};
    if (verb == "steps")
      return run_change{new_steps{*number}};
    if (verb == "rate-tail")
      return run_change{new_rate_tail{*number}};
    if (state.empty())
      return run_change{roll_back{*number, {}}};
    auto id = parse_id<digest>(state);
    if (!id || id->empty())
      return failure{"--digest: '" + state
                     + "' is no state's digest: these are 32 hex digits, as "
                       "the `step` line of a member's --log-json has them."};
    return run_change{roll_back{*number, *id}};
  }
  if (verb == "pause" && alone)
    return run_change{pause_run{}};
  if (verb == "resume" && alone)
    return run_change{resume_run{}};
  if (verb == "finish" && alone)
    return run_change{finish_run{}};
  if (verb == "ban" || verb == "unban")
    return bans_in(what);
  if (verb == "admission" && what.size() == 2)
    for (auto mode :
         {admission_mode::open, admission_mode::token, admission_mode::list})
      if (to_string(mode) == what[1])
        return run_change{new_admission{mode}};
  if (verb == "admission")
    return failure{"Write admission open, admission token or admission list."};
  return failure{"'" + verb
                 + "' is nothing that can be amended: write steps "
                   "STEPS, rate-tail STEPS, pause, resume, finish, ban ID..., "
                   "unban ID..., rollback STEP, admission MODE or list."};
}

bool needs_a_step(const run_change& x) {
  return std::holds_alternative<new_steps>(x)
         || std::holds_alternative<new_rate_tail>(x)
         || std::holds_alternative<pause_run>(x)
         || std::holds_alternative<finish_run>(x);
}

expected<std::uint64_t> step_for(const run_change& x, std::uint64_t wished,
                                 const run_terms& terms,
                                 const std::optional<run_progress>& run) {
  if (!needs_a_step(x))
    return wished;
  // A run is extended also when it is over: that holds behind its end.
  const auto end = terms.steps(run ? run->step : 0);
  const auto steps = std::get_if<new_steps>(&x);
  const bool extends = steps != nullptr && steps->steps > end;
  if (!run && wished == 0 && extends)
    return end + 1;
  if (!run && wished == 0)
    return failure{"No trainer says how far the run is; wait for one, or say "
                   "from which step on it holds with --at STEP."};
  const auto present = run ? run->step : 0;
  auto from = wished;
  if (from == 0) {
    from = present + steps_ahead
           + static_cast<std::uint64_t>(
               std::ceil(run->steps_per_second * seconds_ahead));
    if (extends)
      from = std::min(from, end + 1);
  }
  if (from <= present)
    return failure{"The run has made step " + std::to_string(present)
                   + " already, so nothing can hold from step "
                   + std::to_string(from)
                   + " on; leave --at out, or name a "
                     "later step."};
  if (from > end + (extends ? 1 : 0))
    return failure{"The run ends with step " + std::to_string(end)
                   + ", before this would hold, from step "
                   + std::to_string(from) + " on."};
  if (steps != nullptr && steps->steps < from)
    return failure{
        "The run cannot end after step " + std::to_string(steps->steps)
        + ": all will have heard of "
          "it by step "
        + std::to_string(from) + "; name a later one, or write finish."};
  return from;
}

} // namespace potluck::tools
