#include "runtime/step/step_news.hpp"

#include "runtime/packing/packing.hpp"

namespace potluck {

namespace {

/// Whose values are rounded on the way in this round: "peer 1a2b3c4d int8".
std::string packed_lines(const group_formed& x) {
  std::string result;
  for (std::size_t i = 0; i < x.plan.packings.size(); ++i) {
    if (x.plan.packings[i] == packing::float32)
      continue;
    const auto& id = x.contract.members.at(i).who.id;
    result += (result.empty() ? "peer " : ", peer ") + short_name(id) + " "
              + to_string(x.plan.packings[i]);
  }
  return result;
}

} // namespace

event plan_news(const group_formed& x,
                const std::pair<std::string, std::string>& averaging,
                const std::string& why, const std::string& through,
                const std::string& resting) {
  return {"plan",
          {{"step", x.contract.step},
           {"group", short_name(x.contract.group)},
           {"members", std::uint64_t{x.contract.members.size()}},
           {"strategy", through.empty() ? x.plan.strategy : "relayed"},
           {"through", through},
           {"resting", resting},
           {"binding", x.plan.binding},
           {"predicted_seconds", x.plan.predicted_seconds},
           {"packed", packed_lines(x)},
           {"averaging", averaging.first},
           {"averaging_why", averaging.second},
           {"why", why},
           {"digest", to_string(x.contract.plan)}}};
}

std::string names_of(const std::set<peer_id>& peers) {
  std::string result;
  for (const auto& id : peers)
    result += (result.empty() ? "peer " : ", peer ") + short_name(id);
  return result;
}

event rest_news(std::uint64_t step, bool rests, const resting::verdict& x) {
  return {"rest",
          {{"step", step},
           {"rests", rests},
           {"resting", names_of(x.resting)},
           {"until", x.until},
           {"predicted_seconds", x.seconds},
           {"seconds_if_all_compute", x.seconds_all},
           {"detail",
            std::string{rests ? "the run is faster without this machine's "
                                "gradients; it averages on, and takes every "
                                "step with the others"
                              : "this machine computes again"}}}};
}

event round_news(const round_over& x, bool redrawn) {
  event news{"round",
             {{"group", short_name(x.contract.group)},
              {"step", x.contract.step},
              {"members", std::uint64_t{x.contract.members.size()}},
              {"outcome", std::string{x.committed ? "committed" : "aborted"}},
              {"healed", x.healed},
              {"left_out", std::uint64_t{x.left_out.size()}},
              {"seconds", x.seconds},
              {"bytes_sent", x.bytes_sent},
              {"bytes_received", x.bytes_received}}};
  if (redrawn)
    news.fields.push_back({"redrawn", true});
  return news;
}

event step_news(const state_changed& x, const round_over* round,
                const round_watch::result& what, double seconds, bool redrawn) {
  event news{"step",
             {{"step", x.step},
              {"loss", what.loss},
              {"samples", round ? round->samples : 0},
              {"peers", round ? what.peers : 0},
              {"left_out", std::uint64_t{round ? round->left_out.size() : 0}},
              {"healed", round && round->healed},
              {"digest", to_string(x.state)},
              {"history_samples", x.history_samples},
              {"seconds", seconds},
              {"share", what.share},
              {"samples_per_second",
               round && seconds > 0 ? what.samples / seconds : 0}}};
  if (redrawn)
    news.fields.push_back({"averaged", to_string(x.averaged)});
  return news;
}

event split_news(const split_watch::split& x, std::uint64_t step) {
  return {"split",
          {{"step", step},
           {"lost", std::uint64_t{x.lost}},
           {"left", std::uint64_t{x.left}},
           {"detail", std::string{"trainers were lost at once; those who are "
                                  "left go on, and one history counts "
                                  "when they meet again"}}}};
}

event reunion_news(std::uint64_t step) {
  return {"reunion",
          {{"step", step},
           {"detail", std::string{"half of those who were lost are back; the "
                                  "history of most of them counts"}}}};
}

event island_news(const fetch_result& x, std::uint64_t step) {
  return {"island",
          {{"donor", short_name(x.donor)},
           {"step", step},
           {"detail",
            std::string{
                x.own_history_lost
                    ? "own steps were not part of the history that counts "
                      "and are lost"
                    : "own steps were not found in the history that counts"}}}};
}

} // namespace potluck
