#include "models/catalogue.hpp"

#include <filesystem>
#include <map>
#include <stdexcept>

#include "models/device.hpp"
#include "models/expert_mixture.hpp"
#include "models/network_trainer.hpp"
#include "models/networks.hpp"
#include "models/precision.hpp"
#include "models/sample_sources.hpp"
#include "models/tensor_memory.hpp"
#include "models/text/corpus.hpp"
#include "models/text/tokenizer.hpp"
#include "runtime/manifest/run_key.hpp"
#include "runtime/state/training_state.hpp"

namespace potluck {

namespace {

/// What a model learns from.
enum class material {
  masked_text,
  running_text,
  images,
};

struct model_kind {
  material learns_from;
  bool calls_experts;
  network_builder build;
};

/// A new model is one more line here (models/README.md).
const std::map<std::string, model_kind>& kinds() {
  static const std::map<std::string, model_kind> all{
      {"albert", {material::masked_text, false, make_albert}},
      {"albert-dmoe", {material::masked_text, true, make_albert_dmoe}},
      {"gpt", {material::running_text, false, make_gpt}},
      {"mnist-dmoe", {material::images, true, make_mnist_dmoe}},
      {"mnist-ffn", {material::images, false, make_mnist_ffn}},
  };
  return all;
}

/// Empty when the settings describe a model of this build.
std::string obstacle(const run_settings& settings) {
  if (kinds().count(settings.model) == 0) {
    std::string names;
    for (const auto& name : known_models())
      names += (names.empty() ? "" : ", ") + name;
    return "This potluck knows no model '" + settings.model
           + "': choose one of " + names + ".";
  }
  const auto problem = problem_with(settings);
  if (!problem.empty() || !kinds().at(settings.model).calls_experts)
    return problem;
  return problem_with_experts(settings);
}

/// Why there is no value; empty when there is one.
template <class T>
std::string problem_of(const expected<T>& x) {
  return x ? "" : x.error();
}

expected<image_data> read_digits(const std::string& path) {
  return read_images(path, mnist_shape::side, mnist_shape::side,
                     mnist_shape::classes);
}

/// Drawn digits are always fine, and drawing them takes seconds.
std::string problem_with_images(const std::string& path) {
  return path == drawn_digits ? "" : problem_of(read_digits(path));
}

std::unique_ptr<sample_source> open_text(const std::string& path,
                                         const charter& agreed, bool masked) {
  const auto& settings = agreed.settings();
  const auto words = unwrap(tokenizer::open(agreed.tokenizer()));
  if (words->vocabulary() != settings.vocabulary)
    throw std::runtime_error(
        "The run's tokenizer has " + std::to_string(words->vocabulary())
        + " tokens and its settings say " + std::to_string(settings.vocabulary)
        + ": start the run from its text again.");
  auto tokens = words->encode(unwrap(read_corpus(path)));
  if (tokens.empty())
    throw std::runtime_error(path
                             + " holds nothing but white space: name a file or "
                               "folder with text in it.");
  if (!masked)
    return make_next_token_source(token_windows(
        std::move(tokens), settings.sequence_length, settings.vocabulary));
  return make_masked_source(
      sample_stream(std::move(tokens), settings.sequence_length,
                    settings.vocabulary, settings.mask_probability));
}

std::unique_ptr<sample_source> open_samples(const model_kind& kind,
                                            const std::string& path,
                                            const charter& agreed) {
  if (kind.learns_from == material::images)
    return make_image_source(unwrap(read_digits(path)));
  return open_text(path, agreed, kind.learns_from == material::masked_text);
}

std::unique_ptr<trainer> make_trainer(const trainer_options& options,
                                      const charter& agreed) {
  const auto& settings = agreed.settings();
  auto problem = obstacle(settings);
  if (problem.empty())
    problem = problem_with_size(settings, options.max_model);
  if (!problem.empty())
    throw std::runtime_error(problem);
  computing_options how;
  how.device = choose_device(options.device);
  how.bits = choose_precision(options.precision, how.device);
  how.threads = options.threads;
  how.micro_batch = options.micro_batch;
  how.notice = options.notice;
  const auto& kind = kinds().at(settings.model);
  network_surroundings around;
  if (kind.calls_experts) {
    if (!options.experts)
      throw std::runtime_error("The model " + settings.model
                               + " calls experts of other peers: it cannot be "
                                 "computed by one that has joined no run.");
    around.experts = options.experts;
    how.in_flight = std::max(1u, options.in_flight);
  }
  auto samples = open_samples(kind, options.data_path, agreed);
  limit_interop_threads();
  recycle_tensor_memory();
  return std::make_unique<network_trainer>(kind.build(settings, around),
                                           std::move(samples), std::move(how));
}

} // namespace

std::vector<std::string> known_models() {
  std::vector<std::string> names;
  for (const auto& [name, kind] : kinds())
    names.push_back(name);
  return names;
}

bool calls_experts(const run_settings& settings) {
  const auto kind = kinds().find(settings.model);
  return kind != kinds().end() && kind->second.calls_experts;
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
  return kinds().at(settings.model).build(settings, {})->layout();
}

std::string problem_with_size(const run_settings& settings,
                              std::uint64_t most) {
  const auto layout = layout_of(settings);
  const auto needed = layout ? state_bytes(layout->values()) : 0;
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
  const auto kind = kinds().find(model);
  if (kind == kinds().end()) {
    std::error_code ignored;
    return data_path == drawn_digits
                   || std::filesystem::exists(data_path, ignored)
               ? ""
               : "There is no file or folder " + data_path + ".";
  }
  if (kind->second.learns_from == material::images)
    return problem_with_images(data_path);
  return problem_of(read_corpus(data_path));
}

expected<charter> propose_charter(run_settings settings,
                                  const std::string& data_path) {
  auto problem = obstacle(settings);
  if (!problem.empty())
    return failure{problem};
  if (kinds().at(settings.model).learns_from == material::images) {
    problem = problem_with_images(data_path);
    if (!problem.empty())
      return failure{problem};
    return charter(std::move(settings), "");
  }
  auto text = read_corpus(data_path);
  if (!text)
    return failure{text.error()};
  auto model = tokenizer::learn(*text, settings.vocabulary);
  if (!model)
    return failure{model.error()};
  auto words = tokenizer::open(*model);
  if (!words)
    return failure{words.error()};
  settings.vocabulary = (*words)->vocabulary();
  problem = problem_with(settings);
  if (!problem.empty())
    return failure{data_path
                   + " holds too little text to learn a tokenizer from ("
                   + problem + "): add text."};
  return charter(std::move(settings), std::move(*model));
}

} // namespace potluck
