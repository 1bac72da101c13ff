#include "models/model_kind.hpp"

#include "models/expert_mixture.hpp"

namespace potluck {

namespace {

declared_setting buffers_setting() {
  return {"buffers", "model",
          "Running means and the like: local, each peer's own, or average, "
          "kept with the parameters",
          declared_setting::text_limits{64, {"local", "average"}}, "local"};
}

} // namespace

setting_kind declared_by(const model_kind& x) {
  setting_kind result{x.name, x.meaning, x.settings, x.suffix};
  const auto add = [&](const std::vector<declared_setting>& more) {
    result.settings.insert(result.settings.end(), more.begin(), more.end());
  };
  add(x.source.settings);
  if (x.calls_experts)
    add(expert_settings());
  if (x.has_buffers)
    add({buffers_setting()});
  return result;
}

std::unique_ptr<network> build_network(const model_kind& x,
                                       const kind_settings& settings,
                                       const network_surroundings& around) {
  auto result = x.build(settings, around);
  if (x.has_buffers && settings.text("buffers") == "average")
    result->average_buffers();
  return result;
}

std::string problem_with_heads(const kind_settings& settings) {
  const auto hidden = settings.whole("hidden-size");
  const auto heads = settings.whole("heads");
  if (hidden % heads == 0)
    return "";
  return "heads is " + std::to_string(heads)
         + ", but must divide hidden-size, which is " + std::to_string(hidden);
}

declared_setting model_setting(std::string name, std::string meaning,
                               declared_setting::whole_limits limits,
                               std::uint64_t usual) {
  return {std::move(name), "model", std::move(meaning), limits,
          std::to_string(usual)};
}

} // namespace potluck
