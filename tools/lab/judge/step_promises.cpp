#include "tools/lab/judge/step_promises.hpp"

namespace potluck {

namespace {

bool redrawn(const event& step) {
  return !text_of(step, "averaged").empty();
}

std::string where(const teller& who, std::uint64_t step) {
  return who.called() + ", step " + std::to_string(step);
}

} // namespace

full_batches::full_batches(ledger& all, const terms& run)
    : promise(all, "every step counts at least "
                       + counted(run.redraws ? 1 : run.target_batch, "sample")),
      target_batch_(run.target_batch), redraws_(run.redraws) {
}

void full_batches::told(const teller& who, duration at, const event& x) {
  if (x.name != "step")
    return;
  const auto samples = count_of(x, "samples");
  least_ = least_ == 0 ? samples : std::min(least_, samples);
  check(redraws_ || !redrawn(x), at, [&] {
    return where(who, count_of(x, "step"))
           + ": its group was redrawn, in a run that does not do that";
  });
  check(samples >= (redrawn(x) ? 1 : target_batch_), at, [&] {
    return where(who, count_of(x, "step")) + ": only " + std::to_string(samples)
           + " samples are behind it, of a target batch of "
           + std::to_string(target_batch_);
  });
}

steps_in_order::steps_in_order(ledger& all, const terms& run)
    : promise(all, "a peer takes each step once and in order, and its history "
                   "grows by the step's samples"),
      target_batch_(run.target_batch) {
}

void steps_in_order::told(const teller& who, duration at, const event& x) {
  if (x.name == "state_download") {
    peers_[who.peer] = {count_of(x, "step"), std::nullopt};
    return;
  }
  if (x.name != "step")
    return;
  ++steps_;
  auto& known = peers_[who.peer];
  const auto step = count_of(x, "step");
  const auto history = count_of(x, "history_samples");
  // Of the target batch a redrawn group has its part, a step all of it.
  const auto samples = redrawn(x) ? target_batch_ : count_of(x, "samples");
  check(!known.step || who.has_gaps || step == *known.step + 1, at, [&] {
    return where(who, step) + " follows step " + std::to_string(*known.step);
  });
  check(!known.history || who.has_gaps || history == *known.history + samples,
        at, [&] {
          return where(who, step) + ": its history grew by "
                 + std::to_string(history - *known.history)
                 + " samples instead of " + std::to_string(samples);
        });
  known = {step, history};
}

void steps_in_order::resumed(std::size_t peer, std::uint64_t step,
                             std::uint64_t history) {
  peers_[peer] = {step, history};
}

} // namespace potluck
