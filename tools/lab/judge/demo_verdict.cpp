#include "tools/lab/judge/demo_verdict.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "runtime/numbers.hpp"

namespace potluck::tools {

namespace {

/// "1 peer", "3 peers".
std::string counted(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

const logged_event* first(const peer_record& peer, const std::string& name) {
  for (const auto& x : peer.events)
    if (x.name == name)
      return &x;
  return nullptr;
}

/// Who it is in the events of others.
std::string short_name_of(const peer_record& peer) {
  auto x = first(peer, "listening");
  return x ? x->text("peer") : "";
}

std::uint64_t last_step_of(const peer_record& peer) {
  std::uint64_t result = 0;
  for (const auto& x : peer.events)
    if (x.name == "step")
      result = std::max(result, x.count("step"));
  return result;
}

class judgement {
public:
  explicit judgement(const demo_record& record) : record_(record) {
  }

  demo_verdict all() {
    check_ends();
    compare_digests();
    check_loss();
    check_kill();
    check_late_join();
    check_auxiliary();
    return std::move(result_);
  }

private:
  /// Notes the problem unless the claim holds, which is returned.
  bool demand(bool claim, const std::string& problem) {
    if (!claim)
      result_.problems.push_back(problem);
    return claim;
  }

  void fact(const std::string& line) {
    result_.facts.push_back(line);
  }

  /// Every peer but the killed one ends well; trainers at the last step.
  void check_ends() {
    std::size_t trainers = 0, others = 0;
    for (const auto& peer : record_.peers) {
      if (peer.killed)
        continue;
      auto well = demand(peer.trouble.empty(), peer.name + " " + peer.trouble);
      auto end = first(peer, "finished");
      if (well && peer.trainer)
        well = demand(end && end->count("step") == record_.steps,
                      peer.name + " did not reach the last step");
      ++(peer.trainer ? trainers : others);
    }
    fact(counted(record_.steps, "step"));
    fact(counted(trainers + others, "peer")
         + " at the end: " + counted(trainers, "trainer") + " and "
         + (others == 1 ? "1 auxiliary"
                        : std::to_string(others) + " auxiliaries"));
  }

  // ---- digests --------------------------------------------------------------

  struct held_state {
    std::string digest;
    std::set<std::string> holders; ///< By name.
  };

  void hold(const peer_record& peer, std::uint64_t step,
            const std::string& digest, const std::string& where) {
    demand(!digest.empty(),
           peer.name + " logged no digest at step " + std::to_string(step));
    auto& x = states_[step];
    if (x.holders.empty())
      x.digest = digest;
    else
      demand(x.digest == digest,
             "the parameters differ at step " + std::to_string(step) + ": "
                 + *x.holders.begin() + " has " + x.digest.substr(0, 8) + ", "
                 + where + peer.name + " has " + digest.substr(0, 8));
    x.holders.insert(peer.name);
  }

  void compare_digests() {
    for (const auto& peer : record_.peers) {
      for (const auto& x : peer.events)
        if (x.name == "step" || x.name == "state_download"
            || x.name == "finished")
          hold(peer, x.count("step"), x.text("digest"), "");
    }
    std::size_t compared = 0;
    for (const auto& [step, state] : states_)
      compared += state.holders.size() > 1;
    auto comparable = demand(2 * compared >= record_.steps,
                             "too few steps were seen by two peers or more ("
                                 + std::to_string(compared) + " of "
                                 + std::to_string(record_.steps)
                                 + "), so their parameters were not compared");
    if (comparable && result_.problems.empty())
      fact("digests equal at every step (two peers or more had "
           + std::to_string(compared) + " of " + std::to_string(record_.steps)
           + ")");
    for (const auto& peer : record_.peers) {
      if (peer.killed || !peer.trainer)
        continue;
      if (!demand(peer.checkpoint && peer.checkpoint->step == record_.steps,
                  peer.name + " saved no checkpoint of the last step"))
        continue;
      hold(peer, record_.steps, peer.checkpoint->digest, "the checkpoint of ");
    }
    auto end = states_.find(record_.steps);
    if (end != states_.end() && result_.problems.empty())
      fact("one final state in all peers and checkpoints, digest "
           + end->second.digest);
  }

  // ---- loss -----------------------------------------------------------------

  void check_loss() {
    auto losses = losses_of(record_);
    if (!demand(losses.size() == record_.steps && record_.steps > 0
                    && losses.front().x == 1
                    && losses.back().x == static_cast<double>(record_.steps),
                "the loss is known at " + std::to_string(losses.size())
                    + " steps of " + std::to_string(record_.steps)))
      return;
    auto begin = losses.front().y, end = losses.back().y;
    auto fall = begin > 0 ? 1 - end / begin : 0;
    auto percent = readable(100 * fall, 3) + " %";
    fact("loss " + readable(begin) + " at the first step and " + readable(end)
         + " at the last: " + percent + " less");
    demand(fall >= least_fall, "the loss fell by " + percent + " and not by "
                                   + readable(100 * least_fall) + " %");
  }

  // ---- coming and going -----------------------------------------------------

  /// The only peer of which `is` is true; null, and a problem, without one.
  template <class Predicate>
  const peer_record* only(Predicate is, const std::string& what) {
    auto n = std::count_if(record_.peers.begin(), record_.peers.end(), is);
    if (!demand(n == 1, "there were "
                            + counted(static_cast<std::size_t>(n), what)
                            + " instead of one"))
      return nullptr;
    return &*std::find_if(record_.peers.begin(), record_.peers.end(), is);
  }

  void check_kill() {
    auto victim = only([](const auto& x) { return x.killed; }, "kill");
    if (!victim)
      return;
    auto step = last_step_of(*victim);
    demand(step > 0, victim->name + " was killed before its first step");
    std::size_t noticed = 0;
    bool trained_on = false;
    auto lost = short_name_of(*victim);
    for (const auto& peer : record_.peers) {
      bool knows = false;
      for (const auto& x : peer.events) {
        knows = knows
                || (x.name == "departure" && x.text("peer") == lost
                    && !lost.empty());
        trained_on = trained_on
                     || (knows && x.name == "step" && x.count("step") > step);
      }
      noticed += knows && &peer != victim;
    }
    demand(noticed > 0, "nobody noticed that " + victim->name + " was killed");
    demand(noticed == 0 || trained_on,
           "no step was taken after " + victim->name + " was killed");
    fact("one kill: " + victim->name + " after step " + std::to_string(step)
         + "; " + counted(noticed, "other") + " noticed and went on");
  }

  void check_late_join() {
    auto joiner = only([](const auto& x) { return x.late; }, "late join");
    if (!joiner)
      return;
    auto download = first(*joiner, "state_download");
    auto step = first(*joiner, "step");
    if (!demand(download && step,
                "the late " + joiner->name
                    + " did not catch up before the run was over"))
      return;
    demand(download < step, "the late " + joiner->name
                                + " trained before it had the others' state");
    demand(states_[download->count("step")].holders.size() > 1,
           "nobody else had the state that the late " + joiner->name
               + " downloaded");
    auto took_part = std::any_of(
        joiner->events.begin(), joiner->events.end(), [](const auto& x) {
          return x.name == "step" && x.number("share") > 0;
        });
    demand(took_part, "the late " + joiner->name + " contributed to no step");
    fact("one late join: " + joiner->name + " downloaded step "
         + std::to_string(download->count("step")) + " and took part from step "
         + std::to_string(step->count("step")));
  }

  void check_auxiliary() {
    auto helper
        = only([](const auto& x) { return !x.trainer; }, "auxiliary peer");
    if (!helper)
      return;
    auto rounds = std::count_if(
        helper->events.begin(), helper->events.end(), [](const auto& x) {
          return x.name == "round" && x.text("outcome") == "committed";
        });
    demand(rounds > 0, "the auxiliary " + helper->name + " averaged nothing");
    fact("one auxiliary: " + helper->name + " averaged in "
         + counted(static_cast<std::size_t>(rounds), "round"));
  }

  const demo_record& record_;
  std::map<std::uint64_t, held_state> states_; ///< By step.
  demo_verdict result_;
};

} // namespace

demo_verdict judge(const demo_record& record) {
  return judgement{record}.all();
}

std::vector<curve_point> losses_of(const demo_record& record) {
  std::map<std::uint64_t, double> losses;
  for (const auto& peer : record.peers)
    for (const auto& x : peer.events)
      if (x.name == "step" && x.numbers.count("loss"))
        losses.emplace(x.count("step"), x.number("loss"));
  std::vector<curve_point> result;
  for (const auto& [step, loss] : losses)
    result.push_back({static_cast<double>(step), loss});
  return result;
}

} // namespace potluck::tools
