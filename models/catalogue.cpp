#include "models/catalogue.hpp"

#include <map>
#include <stdexcept>

#include <ATen/Context.h>

#include "models/albert.hpp"
#include "models/device.hpp"
#include "models/network_trainer.hpp"
#include "models/text/corpus.hpp"
#include "models/text/tokenizer.hpp"

namespace potluck {

namespace {

/// A new model is one more line here (models/README.md).
const std::map<std::string, network_builder>& builders() {
  static const std::map<std::string, network_builder> all{
      {"albert",
       [](const run_settings& x) { return std::make_unique<albert>(x); }},
  };
  return all;
}

/// Empty when the settings describe a model of this build.
std::string obstacle(const run_settings& settings) {
  if (builders().count(settings.model) == 0) {
    std::string names;
    for (const auto& name : known_models())
      names += (names.empty() ? "" : ", ") + name;
    return "This potluck knows no model '" + settings.model
           + "': choose one of " + names + ".";
  }
  return problem_with(settings);
}

/// For failures inside a factory, which are thrown to whoever runs it.
template <class T>
T unwrap(expected<T> x) {
  if (!x)
    throw std::runtime_error(x.error());
  return std::move(*x);
}

std::unique_ptr<trainer> make_trainer(const trainer_options& options,
                                      const charter& agreed) {
  const auto& settings = agreed.settings();
  const auto problem = obstacle(settings);
  if (!problem.empty())
    throw std::runtime_error(problem);
  const auto device = choose_device(options.device);
  const auto words = unwrap(tokenizer::open(agreed.tokenizer()));
  if (words->vocabulary() != settings.vocabulary)
    throw std::runtime_error(
        "The run's tokenizer has " + std::to_string(words->vocabulary())
        + " tokens and its settings say " + std::to_string(settings.vocabulary)
        + ": start the run from its text again.");
  auto tokens = words->encode(unwrap(read_corpus(options.data_path)));
  if (tokens.empty())
    throw std::runtime_error(options.data_path
                             + " holds nothing but white space: name a file or "
                               "folder with text in it.");
  limit_interop_threads();
  return std::make_unique<network_trainer>(
      builders().at(settings.model)(settings),
      sample_stream(std::move(tokens), settings.sequence_length,
                    settings.vocabulary, settings.mask_probability),
      device, options.threads, options.micro_batch);
}

} // namespace

std::string problem_with_device(const std::string& name) {
  if (name != "cpu" && name != "cuda" && name != "auto")
    return "There is no device '" + name + "': choose auto, cpu or cuda.";
  if (name == "cuda" && !at::hasCUDA())
    return "This LibTorch finds no CUDA device: choose the device cpu, or "
           "install a LibTorch with CUDA.";
  return "";
}

std::vector<std::string> known_models() {
  std::vector<std::string> names;
  for (const auto& [name, builder] : builders())
    names.push_back(name);
  return names;
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
  return builders().at(settings.model)(settings)->layout();
}

expected<charter> propose_charter(run_settings settings,
                                  const std::string& data_path) {
  auto problem = obstacle(settings);
  if (!problem.empty())
    return failure{problem};
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
