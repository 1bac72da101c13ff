#include "tools/lab/sim/safeguard_names.hpp"

namespace potluck::simulation {

const std::array<safeguard_trait, safeguard_count>& safeguards() {
  using s = safeguard;
  static const std::array<safeguard_trait, safeguard_count> all{{
      {s::repeated_part, "repeated-part",
       "a part that comes twice is summed once"},
      {s::equal_digests, "equal-digests",
       "a round commits only when all trainers hold the same mean"},
      {s::target_batch, "target-batch",
       "a step has the samples of the target batch behind it"},
      {s::frozen_gradient, "frozen-gradient",
       "the gradient is announced when the running batch is in it"},
      {s::batch_number, "batch-number",
       "a batch that a predecessor of the conductor asked for is not counted"},
      {s::restart_gradient, "restart-gradient",
       "a new conductor drops the gradient whose samples it does not know"},
      {s::group_ids, "group-ids",
       "matchmaking that was started again gives no old ids to new groups"},
      {s::longer_history, "longer-history",
       "who trains on a shorter history fetches the longer one"},
      {s::piece_digest, "piece-digest",
       "a piece of a state or a mean is the one that was listed"},
      {s::naming, "naming",
       "whose means differed is found out, and groups form without it"},
      {s::audit, "audit", "means are averaged once more, now and then"},
      {s::checkpoint_sum, "checkpoint-sum",
       "a checkpoint that was torn is not continued from"},
      {s::finite_part, "finite-part",
       "a part with a NaN or an infinity is not summed"},
      {s::mean_parameters, "mean-parameters",
       "a step in a redrawn group begins with the group's mean parameters"},
      {s::group_majority, "group-majority",
       "of a redrawn group that falls apart at most one part makes the step"},
  }};
  return all;
}

std::optional<safeguard> safeguard_named(const std::string& name) {
  for (auto& x : safeguards())
    if (x.name == name)
      return x.which;
  return std::nullopt;
}

} // namespace potluck::simulation
