#include "runtime/membership/founding_wait.hpp"

#include <algorithm>
#include <utility>

namespace potluck {

std::string founding_wait::no_line(const run_witnesses::witness& x,
                                   const run_witnesses& others) const {
  if (x.connected)
    return ", and has not sent it yet; it is asked again";
  if (x.where.port != 0 || x.where.host.empty())
    return ", but there is no line to it: nobody answers at "
           + to_string(x.where) + "; it is tried again";
  if (reachable_)
    return ", but it cannot be dialled, and has not dialled us yet";
  auto shared = std::any_of(x.hubs.begin(), x.hubs.end(), [&](const auto& hub) {
    auto at = others.all().find(hub.id);
    return at != others.all().end() && at->second.connected
           && at->second.is_hub;
  });
  return shared
             ? ", but neither of us can be dialled; a line through the hub "
               "that we share is being made"
             : ", but neither of us can be dialled, and we share no hub; "
               "name one as a peer (`potluck bootstrap` on a machine that both "
               "can reach), or open a port of one of us, and set announce "
               "to it";
}

std::string founding_wait::reason(const run_witnesses::each::value_type& one,
                                  const run_witnesses& others) const {
  const auto& [id, x] = one;
  const auto who = "peer " + short_name(id);
  if (x.phase == phase::finished && !x.connected)
    return "run '" + run_ + "' has been finished, says " + who
           + ", which cannot be reached; if nobody of it comes back, start "
             "one with another name, or go on from one of its checkpoints";
  if (!x.charter.empty())
    return "run '" + run_ + "' exists: " + who + " has its charter"
           + no_line(x, others);
  if (x.phase == phase::founding)
    return who + " founds run '" + run_
           + "': it prepares the charter, and we wait for it";
  return who + " was there before us, and is to found run '" + run_
         + "'; we wait for it";
}

founding_wait::words founding_wait::find(const standing& at,
                                         const run_witnesses& others) const {
  const auto* first = at.before_us;
  if (first && !(created_ && first->second.charter.empty()))
    return {
        first->second.charter.empty() ? cause::its_turn : cause::charter_there,
        reason(*first, others), "waits for peer " + short_name(first->first)};
  if (at.had_lines && others.lines() == 0)
    return {cause::no_connection,
            "all connections are lost, so nobody can say whether run '" + run_
                + "' exists; those that were named as peers are tried again",
            "waits for a connection"};
  if (created_ && !at.has_manifest)
    return {cause::no_founder,
            "nobody who is connected has the manifest of run " + run_
                + " yet; its organiser gives it, with `potluck bootstrap "
                  "--run` or `potluck join`",
            "waits for the manifest"};
  if (!created_ && !at.can_found)
    return {cause::no_founder,
            "nobody has founded run '" + run_
                + "' yet; a trainer does, with `potluck join --data PATH`",
            "waits for a trainer"};
  return {};
}

std::optional<std::string> founding_wait::look(const standing& at,
                                               const run_witnesses& others,
                                               time_point now) {
  auto found = find(at, others);
  if (std::exchange(why_, found.why) != found.why) {
    brief_.clear(); // It goes on.
    silence_ = first_word;
    next_word_ = now + silence_;
  }
  if (found.why == cause::nothing || now < next_word_)
    return std::nullopt;
  brief_ = std::move(found.brief);
  silence_ = std::min(2 * silence_, longest_silence);
  next_word_ = now + silence_;
  return std::move(found.sentence);
}

} // namespace potluck
