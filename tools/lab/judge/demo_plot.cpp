#include "tools/lab/judge/demo_plot.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "runtime/numbers.hpp"

namespace potluck::tools {

namespace {

using how = life_record::how;

bool killed(const life_record& x) {
  return x.end == how::killed;
}

const logged_event* first(const life_record& life, const std::string& name) {
  for (const auto& x : life.events)
    if (x.name == name)
      return &x;
  return nullptr;
}

/// How others call it in their events.
std::string short_name_of(const life_record& life) {
  auto x = first(life, "listening");
  return x ? x->text("peer") : "";
}

std::uint64_t last_step_of(const life_record& life) {
  std::uint64_t result = 0;
  for (const auto& x : life.events)
    if (x.name == "step")
      result = std::max(result, x.count("step"));
  return result;
}

/// One demand, and the first claim that does not hold.
class scene {
public:
  explicit scene(const std::string& demand) : result_{demand, "", ""} {
  }

  /// Notes the problem unless the claim holds, which is returned.
  bool demand(bool claim, const std::string& problem) {
    if (!claim && result_.problem.empty())
      result_.problem = problem;
    return claim;
  }

  /// The only life of which `is` is true; null, and a problem, without one.
  template <class Predicate>
  const life_record* only(const run_record& record, Predicate is,
                          const std::string& what) {
    auto n = std::count_if(record.lives.begin(), record.lives.end(), is);
    if (!demand(n == 1, "there were "
                            + counted(static_cast<std::size_t>(n), what)
                            + " instead of one"))
      return nullptr;
    return &*std::find_if(record.lives.begin(), record.lives.end(), is);
  }

  finding done(const std::string& seen) {
    result_.seen = seen;
    return std::move(result_);
  }

private:
  finding result_;
};

/// Lives that report to hold each step.
std::map<std::uint64_t, std::set<std::string>>
holders_of(const run_record& record) {
  std::map<std::uint64_t, std::set<std::string>> result;
  for (const auto& life : record.lives)
    for (const auto& x : life.events)
      if (x.name == "step" || x.name == "state_download"
          || x.name == "finished")
        result[x.count("step")].insert(life.name);
  return result;
}

finding judge_comparison(const run_record& record) {
  scene s{"half of the steps are seen by two peers at least"};
  std::size_t compared = 0;
  for (const auto& [step, names] : holders_of(record))
    compared += names.size() > 1;
  auto seen
      = std::to_string(compared) + " of " + counted(record.run.steps, "step");
  s.demand(record.run.steps > 0 && 2 * compared >= record.run.steps,
           "too few steps were seen by two peers or more (" + seen
               + "), so their parameters were not compared");
  return s.done(seen);
}

finding judge_checkpoints(const run_record& record) {
  scene s{"all who finish save the same final state"};
  std::string digest;
  for (const auto& life : record.lives) {
    if (killed(life) || life.role != "trainer")
      continue;
    const auto& saved = life.checkpoint;
    auto end = first(life, "finished");
    if (s.demand(saved && saved->step == record.run.steps,
                 life.name + " saved no checkpoint of the last step"))
      s.demand(end && saved->digest == end->text("digest"),
               "the checkpoint of " + life.name + " has "
                   + saved->digest.substr(0, 8) + ", not the final state");
    digest = saved ? saved->digest : digest;
  }
  s.demand(!digest.empty(), "nobody saved anything");
  return s.done("one final state in all peers and checkpoints, digest "
                + digest);
}

finding judge_loss(const run_record& record) {
  scene s{"the loss falls by " + readable(100 * least_fall) + " % at least"};
  auto losses = losses_of(record);
  const auto steps = record.run.steps;
  if (!s.demand(losses.size() == steps && steps > 0 && losses.front().x == 1
                    && losses.back().x == static_cast<double>(steps),
                "the loss is known at " + std::to_string(losses.size())
                    + " steps of " + std::to_string(steps)))
    return s.done("");
  auto begin = losses.front().y, end = losses.back().y;
  auto fall = begin > 0 ? 1 - end / begin : 0;
  auto percent = readable(100 * fall, 3) + " %";
  s.demand(fall >= least_fall, "the loss fell by " + percent + " and not by "
                                   + readable(100 * least_fall) + " %");
  return s.done("loss " + readable(begin) + " at the first step and "
                + readable(end) + " at the last: " + percent + " less");
}

finding judge_kill(const run_record& record) {
  scene s{"one peer is killed, and the others notice and train on"};
  auto victim = s.only(record, killed, "kill");
  if (!victim)
    return s.done("");
  auto step = last_step_of(*victim);
  s.demand(step > 0, victim->name + " was killed before its first step");
  std::size_t noticed = 0;
  bool trained_on = false;
  auto lost = short_name_of(*victim);
  for (const auto& life : record.lives) {
    bool knows = false;
    for (const auto& x : life.events) {
      knows = knows
              || (x.name == "departure" && x.text("peer") == lost
                  && !lost.empty());
      trained_on
          = trained_on || (knows && x.name == "step" && x.count("step") > step);
    }
    noticed += knows && &life != victim;
  }
  s.demand(noticed > 0, "nobody noticed that " + victim->name + " was killed");
  s.demand(noticed == 0 || trained_on,
           "no step was taken after " + victim->name + " was killed");
  return s.done("one kill: " + victim->name + " after step "
                + std::to_string(step) + "; " + counted(noticed, "other")
                + " noticed and went on");
}

finding judge_late_join(const run_record& record) {
  scene s{"one trainer comes late, downloads the state and takes part"};
  auto joiner = s.only(
      record, [](const auto& x) { return x.late; }, "late join");
  if (!joiner)
    return s.done("");
  auto download = first(*joiner, "state_download");
  auto step = first(*joiner, "step");
  if (!s.demand(download && step,
                "the late " + joiner->name
                    + " did not catch up before the run was over"))
    return s.done("");
  s.demand(download < step, "the late " + joiner->name
                                + " trained before it had the others' state");
  s.demand(holders_of(record)[download->count("step")].size() > 1,
           "nobody else had the state that the late " + joiner->name
               + " downloaded");
  auto took_part = std::any_of(
      joiner->events.begin(), joiner->events.end(),
      [](const auto& x) { return x.name == "step" && x.number("share") > 0; });
  s.demand(took_part, "the late " + joiner->name + " contributed to no step");
  return s.done("one late join: " + joiner->name + " downloaded step "
                + std::to_string(download->count("step"))
                + " and took part from step "
                + std::to_string(step->count("step")));
}

finding judge_auxiliary(const run_record& record) {
  scene s{"one auxiliary peer averages"};
  auto helper = s.only(
      record, [](const auto& x) { return x.role == "auxiliary"; },
      "auxiliary peer");
  if (!helper)
    return s.done("");
  auto rounds = std::count_if(
      helper->events.begin(), helper->events.end(), [](const auto& x) {
        return x.name == "round" && x.text("outcome") == "committed";
      });
  s.demand(rounds > 0, "the auxiliary " + helper->name + " averaged nothing");
  return s.done("one auxiliary: " + helper->name + " averaged in "
                + counted(static_cast<std::size_t>(rounds), "round"));
}

} // namespace

std::vector<finding> judge_plot(const run_record& record) {
  return {judge_comparison(record), judge_checkpoints(record),
          judge_loss(record),       judge_kill(record),
          judge_late_join(record),  judge_auxiliary(record)};
}

} // namespace potluck::tools
