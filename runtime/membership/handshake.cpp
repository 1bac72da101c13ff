#include "runtime/membership/handshake.hpp"

#include "runtime/manifest/run_key.hpp"
#include "runtime/state/charter.hpp"

namespace potluck {

std::string objection(const hello& ours, const hello& theirs) {
  if (theirs.version != ours.version)
    return "Protocol version " + std::to_string(theirs.version)
           + " does not match version " + std::to_string(ours.version)
           + " of this peer; install the same release of potluck on both.";
  if (theirs.id == ours.id)
    return "This is the same identity (" + short_name(ours.id)
           + ") as the peer it dialled; leave out the address of this peer "
             "itself, or give each peer an identity-dir of its own.";
  if (ours.role == role::bootstrap || theirs.role == role::bootstrap)
    return "";
  if (theirs.run != ours.run)
    return "This peer trains run '" + shown_run(ours.run) + "', not '"
           + shown_run(theirs.run) + "'; "
           + (id_in(ours.run).empty() ? "set run to " + ours.run
                                      : "join with its invitation")
           + " or dial another peer.";
  if (ours.charter.empty() || theirs.charter.empty()
      || ours.charter == theirs.charter)
    return "";
  auto what = differences(theirs.settings, ours.settings);
  if (what.empty())
    what = "the tokenizer differs";
  return "The settings of run '" + shown_run(ours.run)
         + "' differ (here: yours, there: this peer's): " + what
         + "; leave them out to take the run's settings, or give another run "
           "another name.";
}

namespace {

const std::string banned = "has banned this peer";

} // namespace

std::string ban_from(const std::string& run) {
  return "The organiser of run '" + shown_run(run) + "' " + banned
         + "; ask the organiser to lift the ban.";
}

bool is_ban(const std::string& sentence) {
  return sentence.find(banned) != std::string::npos;
}

std::string false_claim(const peer_id& proven, const peer_id& claimed) {
  if (proven.empty() || proven == claimed)
    return "";
  return "This connection's key belongs to peer " + short_name(proven)
         + ", but its hello says that it is " + short_name(claimed)
         + "; a peer's id is the one of its own key.";
}

} // namespace potluck
