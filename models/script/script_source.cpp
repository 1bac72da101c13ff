#include "models/script/script_source.hpp"

#include <stdexcept>

#include "models/images/image_source.hpp"
#include "models/script/script_inputs.hpp"
#include "models/text/text_source.hpp"

namespace potluck {

namespace {

source_kind source_of(script_samples which) {
  switch (which) {
    case script_samples::running_text:
      return running_text();
    case script_samples::masked_text:
      return masked_text();
    case script_samples::images:
      break;
  }
  return digit_images();
}

/// Before a run is known its data may be either.
std::string problem_with_data(const std::string& path) {
  const auto as_text = running_text().problem_with_data(path);
  return as_text.empty() || digit_images().problem_with_data(path).empty()
             ? ""
             : as_text;
}

expected<charter> propose(run_settings settings, const std::string& path) {
  auto which
      = samples_for(split_inputs(settings.own["model"][script_inputs_setting]));
  if (!which)
    return failure{which.error()};
  return source_of(*which).propose(std::move(settings), path);
}

std::unique_ptr<sample_source> open(const kind_settings& settings,
                                    const charter& agreed,
                                    const std::string& path) {
  const auto which
      = samples_for(split_inputs(settings.text(script_inputs_setting)));
  if (!which)
    throw std::runtime_error(
        "The run's script cannot be computed: " + which.error() + ".");
  return source_of(*which).open(settings, agreed, path);
}

} // namespace

source_kind script_samples_source() {
  return {masked_text().settings, problem_with_data, propose, open};
}

} // namespace potluck
