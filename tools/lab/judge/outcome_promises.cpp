#include "tools/lab/judge/outcome_promises.hpp"

#include <algorithm>
#include <tuple>

#include "runtime/numbers.hpp"

namespace potluck {

namespace {

/// Real processes that split must find together again. Simulated peers may also
/// come back when the others have finished and gone.
bool ends_alike(const terms& run) {
  return !run.redraws && (run.may_give_up || !run.expects.may_split);
}

} // namespace

// ---- course -----------------------------------------------------------------

void course::told(duration at, const event& x) {
  const auto step = count_of(x, "step");
  if (x.name == "round") {
    const auto committed = text_of(x, "outcome") == "committed";
    auto& all = tries_[step];
    // Redrawn groups make a step side by side.
    all.groups.insert(committed && number_of(x, "redrawn") > 0
                          ? "committed"
                          : text_of(x, "group"));
    all.committed = all.committed || committed;
  } else if (x.name == "step") {
    const auto history = count_of(x, "history_samples");
    longest_ = std::max(longest_, history);
    highest_step_ = std::max(highest_step_, step);
    if (history > reached_) {
      reached_ = history;
      last_progress_ = at;
      last_loss_ = number_of(x, "loss");
    }
  }
}

std::pair<std::size_t, std::size_t> course::counts() const {
  auto committed = committed_before_;
  auto at_once = at_once_before_;
  for (const auto& [step, x] : tries_) {
    committed += x.committed;
    at_once += x.committed && x.groups.size() == 1;
  }
  return {committed, at_once};
}

void course::history_gone() {
  std::tie(committed_before_, at_once_before_) = counts();
  tries_.clear();
  reached_ = 0;
}

double course::first_try() const {
  const auto [committed, at_once] = counts();
  return committed == 0
             ? 1
             : static_cast<double>(at_once) / static_cast<double>(committed);
}

// ---- the end ----------------------------------------------------------------

all_finish::all_finish(ledger& all, const terms& run)
    : outer_promise(all, "all who are there finish step "
                             + std::to_string(run.steps)
                             + (ends_alike(run) ? " with one digest" : "")),
      steps_(run.steps), demanded_(run.expects.finishes),
      one_digest_(ends_alike(run)) {
}

void all_finish::told(const teller& who, duration at, const event& x) {
  if (x.name != "finished" || !who.survived || !who.trains || !demanded_)
    return;
  finished_.insert(who.peer);
  const auto step = count_of(x, "step");
  check(step == steps_, at, [&] {
    return who.called() + " finished at step " + std::to_string(step);
  });
  const auto digest = text_of(x, "digest");
  if (!one_digest_)
    return;
  if (digest_.empty()) {
    digest_ = digest;
    whose_ = who.called();
  }
  check(digest == digest_, at, [&] {
    return "2 digests at the end: " + whose_ + " has " + digest_.substr(0, 8)
           + " and " + who.called() + " " + digest.substr(0, 8);
  });
}

std::string goes_on::demand(const terms& run) {
  return "steps go on within "
         + readable_seconds(to_seconds(run.expects.recovers_within))
         + " after the last fault";
}

std::string commits_at_once::demand(const terms& run) {
  return "the first round tried commits "
         + readable(100 * run.expects.first_try, 3)
         + " % of the steps at least";
}

std::string learns::demand(const terms& run) {
  return run.expects.final_loss
             ? "the last loss is " + readable(*run.expects.final_loss)
                   + " at most"
             : "the loss is known";
}

std::string stays_inside::demand(const terms&) {
  return "nobody without an admission ever gets parameters";
}

std::string ends_well::demand(const terms&) {
  return "the run gets through, and every process ends as it should";
}

std::string stays_in_bounds::demand(const terms&) {
  return "memory, actors, timers and queues stay within their bounds";
}

std::string leaves_nothing::demand(const terms&) {
  return "no process, actor, connection or file is left behind";
}

} // namespace potluck
