/// The kind of model that a run brings along as a file of TorchScript.

#include <stdexcept>

#include "models/device.hpp"
#include "models/model_kinds.hpp"
#include "models/script/founding_script.hpp"
#include "models/script/script_source.hpp"
#include "models/script/script_trainer.hpp"
#include "runtime/state/layout_text.hpp"

namespace potluck {

namespace {

std::string problem(const kind_settings& settings) {
  const auto which
      = samples_for(split_inputs(settings.text(script_inputs_setting)));
  return which ? "" : which.error() + ".";
}

std::unique_ptr<trainer> make_trainer(const kind_settings& settings,
                                      const charter& agreed,
                                      std::unique_ptr<sample_source> samples,
                                      const trainer_options& options) {
  if (const auto problem
      = problem_with_computing(options.device, options.precision);
      !problem.empty())
    throw std::runtime_error(problem);
  script_computing how;
  how.terms.threads = choose_threads(options.threads);
  how.micro_batch = options.micro_batch;
  how.notice = options.notice;
  return std::make_unique<script_trainer>(
      script_of(agreed, options.artifacts),
      split_inputs(settings.text(script_inputs_setting)),
      unwrap(read_layout_text(agreed.file(layout_file))), std::move(samples),
      std::move(how));
}

} // namespace

model_kind torchscript_kind() {
  model_kind result;
  result.name = script_model;
  result.suffix = script_suffix;
  result.meaning
      = "a file of TorchScript, of which the run's others get a copy";
  result.source = script_samples_source();
  result.settings = {{script_inputs_setting, "model",
                      "What its forward takes, as the file says",
                      declared_setting::text_limits{200}, "tokens,labels"}};
  result.has_buffers = true;
  result.problem = problem;
  result.make_trainer = make_trainer;
  return result;
}

} // namespace potluck
