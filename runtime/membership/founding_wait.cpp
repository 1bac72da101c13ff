/// What a peer waits for before its run begins, in words.
#include "runtime/membership/founding.hpp"

#include <algorithm>
#include <utility>

namespace potluck {

std::string founding::no_line(const other& x) const {
  if (x.connected)
    return ", and has not sent it yet; it is asked again";
  if (x.where.port != 0 || x.where.host.empty())
    return ", but there is no line to it: nobody answers at "
           + to_string(x.where) + "; it is tried again";
  if (reachable_)
    return ", but it cannot be dialled, and has not dialled us yet";
  auto shared = std::any_of(x.hubs.begin(), x.hubs.end(), [&](const auto& hub) {
    auto at = others_.find(hub.id);
    return at != others_.end() && at->second.connected && at->second.is_hub;
  });
  return shared
             ? ", but neither of us can be dialled; a line through the hub "
               "that we share is being made"
             : ", but neither of us can be dialled, and we share no hub; "
               "name one as a peer (`potluck bootstrap` on a machine that both "
               "can reach), or open a port of one of us, and set announce "
               "to it";
}

std::string founding::reason(const peer_id& id, const other& x) const {
  const auto who = "peer " + short_name(id);
  if (x.phase == phase::finished && !x.connected)
    return "run '" + run() + "' has been finished, says " + who
           + ", which cannot be reached; if nobody of it comes back, start "
             "one with another name, or go on from one of its checkpoints";
  if (!x.charter.empty())
    return "run '" + run() + "' exists: " + who + " has its charter"
           + no_line(x);
  if (x.phase == phase::founding)
    return who + " founds run '" + run()
           + "': it prepares the charter, and we wait for it";
  return who + " was there before us, and is to found run '" + run()
         + "'; we wait for it";
}

void founding::tell_waiting(actions& out, time_point now) {
  enum { nothing, charter_there, its_turn, no_connection, no_founder };
  int cause = nothing;
  std::string sentence;
  std::string brief;
  const auto at = before_us(now);
  if (at != others_.end() && !(created_ && at->second.charter.empty())) {
    sentence = reason(at->first, at->second);
    brief = "waits for peer " + short_name(at->first);
    cause = at->second.charter.empty() ? its_turn : charter_there;
  } else if (connected_once_ && lines_ == 0) {
    sentence = "all connections are lost, so nobody can say whether run '"
               + run()
               + "' exists; those that were named as peers are tried again";
    brief = "waits for a connection";
    cause = no_connection;
  } else if (created_ && !offer_) {
    sentence = "nobody who is connected has the manifest of run " + run()
               + " yet; its organiser gives it, with `potluck bootstrap --run` "
                 "or `potluck join`";
    brief = "waits for the manifest";
    cause = no_founder;
  } else if (!created_ && !how_.can_found) {
    sentence = "nobody has founded run '" + run()
               + "' yet; a trainer does, with `potluck join --data PATH`";
    brief = "waits for a trainer";
    cause = no_founder;
  }
  if (std::exchange(waits_for_, cause) != cause) {
    waiting_.clear(); // It goes on.
    silence_ = first_word;
    next_word_ = now + silence_;
  }
  if (cause == nothing || now < next_word_)
    return;
  waiting_ = brief;
  silence_ = std::min(2 * silence_, longest_silence);
  next_word_ = now + silence_;
  out.emplace_back(say_of_founding{"waiting for the run", sentence});
}

} // namespace potluck
