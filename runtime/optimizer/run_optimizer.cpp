#include "runtime/optimizer/run_optimizer.hpp"

#include "runtime/optimizer/optimizer_kinds.hpp"
#include "runtime/optimizer/tensor_groups.hpp"

namespace potluck {

expected<optimizer> make_optimizer(const run_settings& settings,
                                   const model_layout& layout,
                                   unsigned threads) {
  auto rule = make_rule(settings);
  if (!rule)
    return failure{rule.error()};
  const auto own = optimizer_settings(settings);
  const auto groups
      = tensor_groups::read(own.text("decay-except"), own.text("rates"));
  if (!groups)
    return failure{groups.error()};
  auto terms = groups->terms(layout);
  if (!terms)
    return failure{terms.error()};
  optimizer::options how;
  how.clip_norm = settings.clip_norm;
  how.threads = threads;
  how.tensors = std::move(*terms);
  return optimizer{std::move(*rule), layout, std::move(how)};
}

} // namespace potluck
