#include "runtime/history/step_signing.hpp"

#include <algorithm>

#include "runtime/history/signed_steps.hpp"

namespace potluck {

step_signature step_signing::made(signed_step x) {
  newest_ = std::move(x);
  for (auto& maker : newest_.makers)
    if (how_ && maker.id == self_)
      return maker.by = sign(newest_, *how_);
  newest_ = {}; // It has no part in it, and no say.
  return {};
}

void step_signing::heard(const progress_report& x) {
  if (x.step != newest_.step || x.state != newest_.after
      || x.step_proof.empty())
    return;
  for (auto& maker : newest_.makers)
    if (maker.id == x.id && maker.by.empty())
      maker.by = x.step_proof;
}

bool step_signing::is_due(time_point now) const {
  const auto same = std::equal(newest_.makers.begin(), newest_.makers.end(),
                               kept_.makers.begin(), kept_.makers.end(),
                               [](auto& a, auto& b) { return a.id == b.id; });
  return newest_.step != kept_.step && (!same || now - kept_at_ >= pause);
}

std::optional<signed_step> step_signing::worth_keeping(bool whole,
                                                       time_point now) {
  const auto& all = newest_.makers;
  if (all.empty() || !is_due(now)
      || (whole
          && std::any_of(all.begin(), all.end(),
                         [](auto& x) { return x.by.empty(); }))
      || !most_have_signed(newest_, weights_of(newest_)))
    return std::nullopt;
  kept_ = newest_;
  kept_at_ = now;
  return kept_;
}

} // namespace potluck
