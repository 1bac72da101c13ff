#include "models/catalogue.hpp"

#include <filesystem>
#include <map>
#include <stdexcept>

#include "models/device.hpp"
#include "models/expert_mixture.hpp"
#include "models/images/image_data.hpp"
#include "models/model_kinds.hpp"
#include "models/network_trainer.hpp"
#include "models/precision.hpp"
#include "models/tensor_memory.hpp"
#include "runtime/manifest/run_key.hpp"
#include "runtime/optimizer/optimizer_kinds.hpp"
#include "runtime/optimizer/run_optimizer.hpp"
#include "runtime/state/layout_text.hpp"
#include "runtime/state/training_state.hpp"

namespace potluck {

namespace {

struct known_model {
  model_kind what;
  setting_kind declared;
};

/// Of programs that bring models of their own, until `models` is called.
struct {
  std::vector<model_kind> kinds;
  bool taken = false;
} brought;

const std::map<std::string, known_model>& models() {
  static const auto all = [] {
    std::map<std::string, known_model> result;
    const auto add = [&](model_kind x) {
      auto declared = declared_by(x);
      auto name = x.name;
      if (!result.emplace(name, known_model{std::move(x), std::move(declared)})
               .second)
        throw std::logic_error("two kinds of model are called " + name);
    };
    brought.taken = true;
    for (auto& x : brought.kinds)
      add(std::move(x));
#define POTLUCK_ADD(name) add(name##_kind());
    POTLUCK_MODEL_KINDS(POTLUCK_ADD)
#undef POTLUCK_ADD
    return result;
  }();
  return all;
}

const kind_family& model_family() {
  static const auto all = [] {
    kind_family result{"model", {"model", "data", "experts"}, {}};
    for (const auto& [name, model] : models())
      result.kinds.push_back(model.declared);
    return result;
  }();
  return all;
}

/// Null when there is none of this name.
const known_model* find_model(const std::string& name) {
  const auto at = models().find(name);
  return at == models().end() ? nullptr : &at->second;
}

/// Empty when the settings describe a model of this build.
std::string obstacle(const run_settings& settings) {
  const auto model = find_model(settings.model);
  if (!model)
    return "This potluck knows no model '" + settings.model
           + "': choose one of " + model_family().names() + ".";
  for (const auto& problem :
       {problem_with(settings), problem_with(settings, known_families())})
    if (!problem.empty())
      return problem;
  const kind_settings own{model->declared, settings};
  if (model->what.calls_experts)
    if (auto problem = problem_with_mixtures(own); !problem.empty())
      return problem;
  return model->what.problem ? model->what.problem(own) : "";
}

/// Why a run with this charter has another model than `here`, which its
/// settings make in this build; empty when it has not.
std::string problem_with_layout(const charter& agreed,
                                const model_layout& here) {
  const auto& text = agreed.file(layout_file);
  const std::string mend = "; use the version of Potluck that the run was "
                           "made with.";
  if (text.empty())
    return "";
  const auto there = read_layout_text(text);
  if (!there)
    return "The run's model cannot be computed: " + there.error() + mend;
  const auto difference = layout_difference(here, *there);
  return difference.empty()
             ? ""
             : "The run has another model than this Potluck makes of its "
               "settings: "
                   + difference + mend;
}

std::unique_ptr<trainer> make_trainer(const trainer_options& options,
                                      const charter& agreed) {
  const auto& settings = agreed.settings();
  auto problem = obstacle(settings);
  if (problem.empty())
    problem = problem_with_size(agreed, options.max_model);
  if (!problem.empty())
    throw std::runtime_error(problem);
  const auto& model = models().at(settings.model);
  const kind_settings own{model.declared, settings};
  if (model.what.make_trainer)
    return model.what.make_trainer(
        own, agreed, model.what.source.open(own, agreed, options.data_path),
        options);
  computing_options how;
  how.device = choose_device(options.device);
  how.bits = choose_precision(options.precision, how.device);
  how.threads = options.threads;
  how.micro_batch = options.micro_batch;
  how.notice = options.notice;
  network_surroundings around;
  if (model.what.calls_experts) {
    if (!options.experts)
      throw std::runtime_error("The model " + settings.model
                               + " calls experts of other peers: it cannot be "
                                 "computed by one that has joined no run.");
    around.experts = options.experts;
    how.in_flight = std::max(1u, options.in_flight);
  }
  auto built = build_network(model.what, own, around);
  if (problem = problem_with_layout(agreed, built->layout()); !problem.empty())
    throw std::runtime_error(problem);
  auto samples = model.what.source.open(own, agreed, options.data_path);
  limit_interop_threads();
  recycle_tensor_memory();
  return std::make_unique<network_trainer>(std::move(built), std::move(samples),
                                           std::move(how));
}

} // namespace

void add_model_kind(model_kind x) {
  if (brought.taken)
    throw std::logic_error("the kind of model " + x.name
                           + " comes after the first look at them all");
  brought.kinds.push_back(std::move(x));
}

const kind_families& known_families() {
  static const auto all = [] {
    auto result = built_in_families();
    result.insert(result.begin(), &model_family());
    return result;
  }();
  return all;
}

bool calls_experts(const run_settings& settings) {
  const auto model = find_model(settings.model);
  return model && model->what.calls_experts;
}

trainer_factory make_trainer_factory(trainer_options options) {
  return [options = std::move(options)](const charter& agreed) {
    return make_trainer(options, agreed);
  };
}

expected<model_layout> layout_of(const run_settings& settings) {
  const auto problem = obstacle(settings);
  if (!problem.empty())
    return failure{problem};
  const auto& model = models().at(settings.model);
  if (!model.what.build)
    return failure{"The model " + settings.model
                   + " is a file: name it with --model FILE" + model.what.suffix
                   + "."};
  return build_network(model.what, {model.declared, settings}, {})->layout();
}

expected<model_layout> layout_of(const charter& run) {
  return is_tensors_model(run.settings().model)
             ? read_layout_text(run.file(layout_file))
             : layout_of(run.settings());
}

std::string problem_with_size(const charter& run, std::uint64_t most) {
  const auto& settings = run.settings();
  const auto layout = layout_of(run);
  const auto needed
      = layout ? state_bytes(layout->values(), moments_kept(settings)) : 0;
  if (needed <= most)
    return "";
  const bool is_small = needed < 10'000'000;
  const std::uint64_t unit = is_small ? 1'000 : 1'000'000;
  const std::string name = is_small ? "kB" : "MB";
  const auto size = std::to_string((needed + unit - 1) / unit) + name;
  return "The model of run " + shown_run(settings.run) + " needs " + size
         + " for parameters and optimizer, and --max-model allows "
         + std::to_string(most / unit) + name + ": allow more with --max-model "
         + size + " if this machine has as much to spare, or do not join.";
}

std::string problem_with_data(const std::string& model,
                              const std::string& data_path) {
  if (const auto known = find_model(model))
    return known->what.source.problem_with_data(data_path);
  std::error_code ignored;
  return data_path == drawn_digits
                 || std::filesystem::exists(data_path, ignored)
             ? ""
             : "There is no file or folder " + data_path + ".";
}

expected<charter> propose_charter(run_settings settings,
                                  const std::string& data_path,
                                  const charter_files& files) {
  complete(settings, known_families());
  if (auto problem = obstacle(settings); !problem.empty())
    return failure{problem};
  const auto layout = layout_of(charter{settings, files});
  if (!layout)
    return failure{files.empty() ? layout_of(settings).error()
                                 : layout.error()};
  // Knows the tensors.
  const auto optimizer = make_optimizer(settings, *layout, 1);
  if (!optimizer)
    return failure{optimizer.error()};
  const auto& source = models().at(settings.model).what.source;
  auto draft = source.propose(std::move(settings), data_path);
  if (!draft)
    return draft;
  auto whole = draft->files();
  whole.insert(files.begin(), files.end());
  if (files.empty())
    whole[layout_file] = to_layout_text(unwrap(layout_of(draft->settings())));
  if (auto problem = problem_with(whole); !problem.empty())
    return failure{problem + "."};
  return charter(draft->settings(), std::move(whole));
}

} // namespace potluck
