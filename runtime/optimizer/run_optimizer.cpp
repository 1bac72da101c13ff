#include "runtime/optimizer/run_optimizer.hpp"

#include "runtime/optimizer/rules.hpp"

namespace potluck {

expected<optimizer> make_optimizer(const run_settings& settings,
                                   const model_layout& layout,
                                   unsigned threads) {
  auto rule = make_rule("lamb", {{"beta1", settings.beta1},
                                 {"beta2", settings.beta2},
                                 {"epsilon", settings.epsilon},
                                 {"weight-decay", settings.weight_decay}});
  if (!rule)
    return failure{rule.error()};
  optimizer::options how;
  how.clip_norm = settings.clip_norm;
  how.threads = threads;
  return optimizer{std::move(*rule), layout, std::move(how)};
}

} // namespace potluck
