#include "models/text/text_source.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/text/corpus.hpp"
#include "models/text/sample_stream.hpp"
#include "models/text/tokenizer.hpp"

namespace potluck {

namespace {

/// Tokens of a micro-batch that is chosen by us. On CPUs the activations of
/// more fall out of the cache; GPUs want more to be busy.
constexpr std::uint64_t cpu_tokens = 2048;
constexpr std::uint64_t gpu_tokens = 32768;

class text_source : public sample_source {
public:
  explicit text_source(sample_stream stream) : stream_(std::move(stream)) {
  }

  labelled_batch gather(sample_part, std::uint64_t order_seed,
                        std::uint64_t first, std::uint64_t stride,
                        std::uint64_t count, at::Device device) const override {
    std::vector<std::int64_t> tokens, positions, labels;
    std::vector<float> weights;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto x = stream_.sample(order_seed, first + i * stride);
      for (auto position : x.positions)
        positions.push_back(
            static_cast<std::int64_t>(tokens.size() + position));
      tokens.insert(tokens.end(), x.tokens.begin(), x.tokens.end());
      labels.insert(labels.end(), x.labels.begin(), x.labels.end());
      weights.insert(weights.end(), x.labels.size(),
                     1.0f / static_cast<float>(x.labels.size()));
    }
    auto place = [&](auto& values, at::ScalarType type) {
      const auto size = static_cast<std::int64_t>(values.size());
      return at::from_blob(values.data(), {size}, type)
          .to(device, type, /*non_blocking=*/false, /*copy=*/true);
    };
    labelled_batch result;
    result.inputs
        = place(tokens, at::kLong).view({static_cast<std::int64_t>(count), -1});
    result.positions = place(positions, at::kLong);
    result.labels = place(labels, at::kLong);
    result.weights = place(weights, at::kFloat);
    return result;
  }

  std::uint64_t usual_micro_batch(at::Device device) const override {
    const auto length = stream_.sample(0, 0).tokens.size();
    return std::max<std::uint64_t>(
        1, (device.is_cpu() ? cpu_tokens : gpu_tokens) / length);
  }

private:
  sample_stream stream_;
};

std::vector<declared_setting> settings() {
  using whole = declared_setting::whole_limits;
  using real = declared_setting::real_limits;
  const std::string section = "data";
  return {{"vocabulary", section, "Tokens, specials included",
           whole{16, 200000}, "2000"},
          {"sequence-length", section, "Tokens a sample", whole{8, 4096}, "64"},
          {"mask-probability", section, "Share of the tokens to predict",
           real{0, 1, false, false}, "0.15"}};
}

std::string problem_with_data(const std::string& path) {
  const auto text = read_corpus(path);
  return text ? "" : text.error();
}

/// Learns the tokenizer. The vocabulary becomes what came out, which may be
/// less than was asked for.
expected<charter> propose(run_settings run, const std::string& path) {
  const setting_kind kind{"masked text", "", settings()};
  auto text = read_corpus(path);
  if (!text)
    return failure{text.error()};
  auto model
      = tokenizer::learn(*text, kind_settings{kind, run}.small("vocabulary"));
  if (!model)
    return failure{model.error()};
  auto words = tokenizer::open(*model);
  if (!words)
    return failure{words.error()};
  const auto& vocabulary = kind.settings.front();
  auto tokens = vocabulary.read(std::to_string((*words)->vocabulary()));
  if (!tokens)
    return failure{path + " holds too little text to learn a tokenizer from ("
                   + tokens.error() + "): add text."};
  run.own[vocabulary.section][vocabulary.name] = std::move(*tokens);
  return charter(std::move(run), std::move(*model));
}

std::unique_ptr<sample_source> open(const kind_settings& settings,
                                    const charter& agreed,
                                    const std::string& path) {
  const auto vocabulary = settings.small("vocabulary");
  const auto words = unwrap(tokenizer::open(agreed.tokenizer()));
  if (words->vocabulary() != vocabulary)
    throw std::runtime_error(
        "The run's tokenizer has " + std::to_string(words->vocabulary())
        + " tokens and its settings say " + std::to_string(vocabulary)
        + ": start the run from its text again.");
  auto tokens = words->encode(unwrap(read_corpus(path)));
  if (tokens.empty())
    throw std::runtime_error(path
                             + " holds nothing but white space: name a file or "
                               "folder with text in it.");
  return std::make_unique<text_source>(
      sample_stream(std::move(tokens), settings.small("sequence-length"),
                    vocabulary, settings.real("mask-probability")));
}

} // namespace

source_kind masked_text() {
  return {settings(), problem_with_data, propose, open};
}

} // namespace potluck
