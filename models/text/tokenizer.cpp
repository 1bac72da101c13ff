#include "models/text/tokenizer.hpp"

#include <stdexcept>

#include "models/helper_program.hpp"
#include "models/text/tokenizer_answers.hpp"
#include "models/text/tokenizer_protocol.hpp"
#include "models/text/training_sentences.hpp"

namespace potluck {

namespace {

using tokenizing::request;

/// Encoding needs memory in proportion to the longest piece of text.
constexpr std::size_t max_encoded_bytes = 1 << 16;

/// Text has a token for each byte at most, but for characters that are written
/// out, as one half is. No model makes us hold more.
constexpr std::size_t most_tokens(std::size_t bytes) {
  return 2 * bytes + 65536;
}

expected<sandboxed_program> start(bool learns) {
  auto path
      = find_program(tokenizer_program, candidates_for(tokenizer_program));
  if (!path)
    return failure{path.error()};
  sandbox_terms how;
  how.path = std::move(*path);
  if (learns)
    how.arguments = {tokenizing::learning};
  how.greeting = tokenizing::greeting;
  how.patience = learns ? tokenizing::learning_patience : tokenizing::patience;
  how.largest_answer = tokenizing::largest_answer;
  return sandboxed_program::start(how);
}

std::string blamed(const std::string& what) {
  return "The tokenizer of this run " + what
         + ": it is damaged, or was made to do harm; do not join this run.";
}

std::string died(sandbox_outcome how, const char* when) {
  return blamed(std::string{words_for(how)} + " while " + when);
}

struct opened_model {
  sandboxed_program program;
  unsigned vocabulary;
};

expected<opened_model> open_model(const std::string& bytes) {
  auto program = start(false);
  if (!program)
    return failure{program.error()};
  auto answer = program->ask(static_cast<std::uint8_t>(request::open), bytes);
  if (answer.how == sandbox_outcome::answered) {
    if (const auto vocabulary = read_vocabulary(answer.bytes))
      return opened_model{std::move(*program), *vocabulary};
    answer.how = sandbox_outcome::nonsense;
  }
  if (answer.how == sandbox_outcome::refused)
    return failure{"The run's tokenizer is damaged or not one that potluck "
                   "wrote: start the run from its text again."};
  return failure{died(answer.how, "it was read")};
}

} // namespace

expected<std::string> tokenizer::learn(const std::string& text,
                                       unsigned vocabulary) {
  const auto sentences = training_sentences(text);
  if (sentences.empty())
    return failure{"The text to train on holds nothing but white space: name "
                   "another file or folder."};
  if (vocabulary <= special_token::count)
    return failure{"A vocabulary needs more than "
                   + std::to_string(special_token::count)
                   + " tokens: raise the setting vocabulary."};
  auto program = start(true);
  if (!program)
    return failure{program.error()};
  std::string wanted;
  append_little_endian(wanted, static_cast<std::uint32_t>(vocabulary));
  for (auto sentence : sentences)
    tokenizing::append_part(wanted, sentence);
  auto answer = program->ask(static_cast<std::uint8_t>(request::learn), wanted);
  if (answer.how == sandbox_outcome::answered)
    return std::move(answer.bytes);
  return failure{
      "A vocabulary of " + std::to_string(vocabulary)
      + " tokens cannot be learnt from this text: raise the setting "
        "vocabulary or add text ("
      + (answer.how == sandbox_outcome::refused
             ? answer.bytes
             : std::string{"potluck-tokenizer "} + words_for(answer.how))
      + ")."};
}

expected<std::unique_ptr<tokenizer>>
tokenizer::open(const std::string& model_bytes) {
  auto opened = open_model(model_bytes);
  if (!opened)
    return failure{opened.error()};
  return std::unique_ptr<tokenizer>(new tokenizer(
      model_bytes, opened->vocabulary, std::move(opened->program)));
}

std::string tokenizer::encode_batch(const std::string& texts) const {
  const auto kind = static_cast<std::uint8_t>(request::encode);
  auto answer = program_.ask(kind, texts);
  if (!program_.is_there() && !started_again_) {
    started_again_ = true;
    auto again = unwrap(open_model(model_));
    if (again.vocabulary == vocabulary_) {
      program_ = std::move(again.program);
      answer = program_.ask(kind, texts);
    }
  }
  if (answer.how == sandbox_outcome::answered)
    return std::move(answer.bytes);
  if (answer.how == sandbox_outcome::refused)
    throw std::runtime_error(blamed("refused text"));
  throw std::runtime_error(died(answer.how, "it encoded text"));
}

std::vector<std::int32_t> tokenizer::encode(std::string_view text) const {
  std::vector<std::int32_t> result;
  std::string batch;
  const std::lock_guard<std::mutex> lock(mutex_);
  auto encode = [&] {
    if (!append_tokens(result, encode_batch(batch), vocabulary_,
                       most_tokens(text.size())))
      throw std::runtime_error(
          died(sandbox_outcome::nonsense, "it encoded text"));
    batch.clear();
  };
  for_each_sentence(text, max_encoded_bytes, [&](std::string_view part) {
    tokenizing::append_part(batch, part);
    if (batch.size() >= tokenizing::batch_bytes)
      encode();
  });
  if (!batch.empty())
    encode();
  return result;
}

} // namespace potluck
