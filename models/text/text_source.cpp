#include "models/text/text_source.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/device.hpp"
#include "models/text/corpus.hpp"
#include "models/text/tokenizer.hpp"

namespace potluck {

namespace {

/// Tokens of a micro-batch that is chosen by us. On CPUs the activations of
/// more fall out of the cache; GPUs want more to be busy.
constexpr std::uint64_t cpu_tokens = 2048;
constexpr std::uint64_t gpu_tokens = 32768;

std::uint64_t micro_batch_of(std::uint64_t length, at::Device device) {
  return std::max<std::uint64_t>(1, (device.is_cpu() ? cpu_tokens : gpu_tokens)
                                        / length);
}

/// A copy of the values, on the device.
template <class T>
at::Tensor place(std::vector<T>& values, at::ScalarType type,
                 at::Device device) {
  const auto size = static_cast<std::int64_t>(values.size());
  return to_device(at::from_blob(values.data(), {size}, type).clone(), device);
}

class masked_source : public sample_source {
public:
  explicit masked_source(sample_stream stream) : stream_(std::move(stream)) {
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
    labelled_batch result;
    result.inputs = place(tokens, at::kLong, device)
                        .view({static_cast<std::int64_t>(count), -1});
    result.positions = place(positions, at::kLong, device);
    result.labels = place(labels, at::kLong, device);
    result.weights = place(weights, at::kFloat, device);
    return result;
  }

  std::uint64_t usual_micro_batch(at::Device device) const override {
    return micro_batch_of(stream_.sample(0, 0).tokens.size(), device);
  }

private:
  sample_stream stream_;
};

/// Every token of a window is a label, and its input is the one before it; the
/// first has [CLS] before it.
class next_token_source : public sample_source {
public:
  explicit next_token_source(token_windows windows)
      : windows_(std::move(windows)) {
  }

  labelled_batch gather(sample_part, std::uint64_t order_seed,
                        std::uint64_t first, std::uint64_t stride,
                        std::uint64_t count, at::Device device) const override {
    const auto length = windows_.length();
    std::vector<std::int32_t> window;
    std::vector<std::int64_t> tokens, labels;
    tokens.reserve(count * length);
    labels.reserve(count * length);
    for (std::uint64_t i = 0; i < count; ++i) {
      window.clear();
      windows_.append(order_seed, first + i * stride, window);
      labels.insert(labels.end(), window.begin(), window.end());
      tokens.push_back(special_token::begin);
      tokens.insert(tokens.end(), window.begin(), window.end() - 1);
    }
    labelled_batch result;
    result.inputs = place(tokens, at::kLong, device)
                        .view({static_cast<std::int64_t>(count), -1});
    result.labels = place(labels, at::kLong, device);
    result.weights = at::full({result.labels.size(0)}, 1.0 / length,
                              at::TensorOptions(device).dtype(at::kFloat));
    return result;
  }

  std::uint64_t usual_micro_batch(at::Device device) const override {
    return micro_batch_of(windows_.length(), device);
  }

private:
  token_windows windows_;
};

using declared = std::vector<declared_setting>;

declared windows_of_text() {
  using whole = declared_setting::whole_limits;
  const std::string section = "data";
  return {
      {"vocabulary", section, "Tokens, specials included", whole{16, 200000},
       "2000"},
      {"sequence-length", section, "Tokens a sample", whole{8, 4096}, "64"}};
}

declared settings_of_masks() {
  auto result = windows_of_text();
  result.push_back({"mask-probability", "data",
                    "Share of the tokens to predict",
                    declared_setting::real_limits{0, 1, false, false}, "0.15"});
  return result;
}

std::string problem_with_data(const std::string& path) {
  const auto text = read_corpus(path);
  return text ? "" : text.error();
}

/// Learns the tokenizer. The vocabulary becomes what came out, which may be
/// less than was asked for.
expected<charter> propose(run_settings run, const std::string& path) {
  const setting_kind kind{"text", "", windows_of_text()};
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

/// The tokens of what is there.
std::vector<std::int32_t> read_tokens(std::uint32_t vocabulary,
                                      const charter& agreed,
                                      const std::string& path) {
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
  return tokens;
}

std::unique_ptr<sample_source> open_masked(const kind_settings& settings,
                                           const charter& agreed,
                                           const std::string& path) {
  const auto vocabulary = settings.small("vocabulary");
  return make_masked_source(sample_stream(
      read_tokens(vocabulary, agreed, path), settings.small("sequence-length"),
      vocabulary, settings.real("mask-probability")));
}

std::unique_ptr<sample_source> open_running(const kind_settings& settings,
                                            const charter& agreed,
                                            const std::string& path) {
  const auto vocabulary = settings.small("vocabulary");
  return make_next_token_source(
      token_windows(read_tokens(vocabulary, agreed, path),
                    settings.small("sequence-length"), vocabulary));
}

} // namespace

std::unique_ptr<sample_source> make_masked_source(sample_stream stream) {
  return std::make_unique<masked_source>(std::move(stream));
}

std::unique_ptr<sample_source> make_next_token_source(token_windows windows) {
  return std::make_unique<next_token_source>(std::move(windows));
}

source_kind masked_text() {
  return {settings_of_masks(), problem_with_data, propose, open_masked};
}

source_kind running_text() {
  return {windows_of_text(), problem_with_data, propose, open_running};
}

} // namespace potluck
