#include "runtime/optimizer/optimizer_kinds.hpp"

#include <stdexcept>

#include "runtime/optimizer/schedules/schedule.hpp"
#include "runtime/state/training_state.hpp"

/// One line an optimizer: NAME stands for `optimizer_kind NAME()`, in the
/// optimizer's own file.
// clang-format off
#define POTLUCK_OPTIMIZERS(add) \
  add(lamb) \
  add(dedloc_lamb) \
  add(adam) \
  add(adamw) \
  add(sgd) \
  add(lars) \
  add(larc) \
  add(lion)
// clang-format on

namespace potluck {

namespace optimizers {

#define POTLUCK_DECLARE(name) optimizer_kind name();
POTLUCK_OPTIMIZERS(POTLUCK_DECLARE)
#undef POTLUCK_DECLARE

} // namespace optimizers

namespace {

constexpr std::size_t longest_list = 255; // Characters.

/// What every optimizer has beside its own.
std::vector<declared_setting> shared_settings() {
  using text = declared_setting::text_limits;
  std::vector<std::string> names;
  std::string tails;
  for (auto x : schedules()) {
    names.push_back(x->name);
    tails += (tails.empty() ? "" : "; ") + names.back() + " " + x->meaning;
  }
  return {{"schedule", "optimizer",
           "What the learning rate does after the warm-up: " + tails,
           text{64, names}, "linear"},
          {"decay-except", "optimizer",
           "Tensors that do not decay, beside those of which the model says "
           "so: names with commas between them, where * is any text, as in "
           "*bias,*norm*; or none",
           text{longest_list}, "none"},
          {"rates", "optimizer",
           "Tensors whose learning rate is the run's times a factor, as in "
           "head.*:10,embedding*:0.1; the first that fits counts; or none",
           text{longest_list}, "none"}};
}

optimizer_kind with_shared(optimizer_kind x) {
  for (auto& more : shared_settings())
    x.declared.settings.push_back(std::move(more));
  return x;
}

} // namespace

const std::vector<optimizer_kind>& optimizer_kinds() {
  static const std::vector<optimizer_kind> kinds{
#define POTLUCK_ADD(name) with_shared(optimizers::name()),
      POTLUCK_OPTIMIZERS(POTLUCK_ADD)
#undef POTLUCK_ADD
  };
  return kinds;
}

const kind_family& optimizer_family() {
  static const auto all = [] {
    kind_family result{"optimizer", {"optimizer"}, {}};
    for (const auto& kind : optimizer_kinds())
      result.kinds.push_back(kind.declared);
    return result;
  }();
  return all;
}

kind_settings optimizer_settings(const run_settings& settings) {
  const auto kind = optimizer_family().chosen(settings);
  if (!kind)
    throw std::logic_error("there is no optimizer " + settings.optimizer);
  return {*kind, settings};
}

expected<std::unique_ptr<optimizer_rule>>
make_rule(const run_settings& settings) {
  auto whole = settings; // What is not said is as usual.
  complete(whole, {&optimizer_family()});
  if (auto problem = problem_with(whole, {&optimizer_family()});
      !problem.empty())
    return failure{problem};
  for (const auto& kind : optimizer_kinds())
    if (kind.declared.name == settings.optimizer)
      return kind.make({kind.declared, whole});
  return failure{"there is no optimizer " + settings.optimizer};
}

unsigned moments_kept(const run_settings& settings) {
  const auto rule = make_rule(settings);
  return rule ? (*rule)->moments() : most_moments;
}

expected<std::unique_ptr<optimizer_rule>>
make_rule(const std::string& name,
          const std::map<std::string, std::string>& numbers) {
  run_settings settings;
  settings.optimizer = name;
  for (const auto& [number, value] : numbers)
    if (auto done = assign(settings, number, value, {&optimizer_family()});
        !done)
      return failure{done.error()};
  return make_rule(settings);
}

declared_setting optimizer_setting(std::string name, std::string meaning,
                                   declared_setting::real_limits limits,
                                   double usual) {
  return {std::move(name), "optimizer", std::move(meaning), limits,
          print_real(usual)};
}

namespace {

/// A share of what was, from 0 on and below 1.
constexpr declared_setting::real_limits share{0, 1, true, false};

} // namespace

declared_setting beta1_setting(const std::string& meaning, double usual) {
  return optimizer_setting("beta1", meaning, share, usual);
}

declared_setting beta2_setting(const std::string& meaning, double usual) {
  return optimizer_setting("beta2", meaning, share, usual);
}

declared_setting epsilon_setting(double usual) {
  return optimizer_setting("epsilon", "Guard against division by zero",
                           {1e-30, 1, true, true}, usual);
}

declared_setting momentum_setting(const std::string& meaning) {
  return optimizer_setting("momentum", meaning, share, 0.9);
}

declared_setting decay_setting(const std::string& meaning, double usual) {
  return optimizer_setting("weight-decay", meaning, {0, 100, true, true},
                           usual);
}

} // namespace potluck
