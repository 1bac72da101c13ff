/// What a sandboxed program is given to read, and what one that was made to
/// lie answers.
///
/// An odd first byte: a tokenizer's bytes, for SentencePiece in its sandbox,
/// which may end in any way, but in time. An even one: the bytes that a program
/// writes. tools/fuzz runs it with libFuzzer, sandbox_fuzz_test.cpp without.
#include <cstdint>

#include "tests/fuzz/insist.hpp"
#include "tests/fuzz/memory_file.hpp"
#include "tests/fuzz/sandbox_samples.hpp"

using namespace potluck;

namespace {

/// What was asked has an end, and who is gone stays gone.
bool answers(sandboxed_program& from, std::uint8_t kind, std::string_view body,
             std::size_t most) {
  const auto x = from.ask(kind, body);
  insist(x.bytes.size() <= most);
  const bool goes_on
      = x.how == sandbox_outcome::answered || x.how == sandbox_outcome::refused;
  insist(goes_on == from.is_there());
  if (!goes_on)
    insist(from.ask(kind, body).how == sandbox_outcome::crashed);
  return x.how == sandbox_outcome::answered;
}

bool try_tokenizer(std::string_view model) {
  auto program = sandbox_samples::start_tokenizer({});
  const auto ask = [&](tokenizing::request what, std::string_view body) {
    return answers(program, static_cast<std::uint8_t>(what), body,
                   tokenizing::largest_answer);
  };
  if (!ask(tokenizing::request::open, model))
    return false;
  std::string texts;
  for (const auto* text : {"a word and another", "", "\xc3\xa9\xff [CLS] ``"})
    tokenizing::append_part(texts, text);
  return ask(tokenizing::request::encode, texts);
}

expected<sandboxed_program> start_liar(const char* script,
                                       std::string_view says) {
  static memory_file said;
  said.hold(says);
  sandbox_terms how;
  how.path = "/bin/sh";
  how.arguments = {"-c", script};
  how.greeting = sandbox_samples::greeting;
  how.patience = sandbox_samples::patience;
  how.largest_answer = sandbox_samples::largest_answer;
  how.lent_memory = said.descriptor();
  auto program = sandboxed_program::start(how);
  insist(program || !program.error().empty());
  return program;
}

/// It goes when it has said that, maybe before it is asked.
bool try_start(std::string_view says) {
  auto program = start_liar("exec cat /proc/self/fd/4 >&3", says);
  while (program && program->is_there())
    answers(*program, 1, "please", sandbox_samples::largest_answer);
  return static_cast<bool>(program);
}

/// It greets, and goes when it was asked once.
bool try_answer(std::string_view says) {
  using sandbox::answer_kind;
  const auto greets
      = sandbox_samples::frame(answer_kind::done, sandbox_samples::greeting);
  auto program
      = start_liar("cat /proc/self/fd/4 >&3; exec head -c 11 <&3 >/dev/null",
                   greets + std::string{says});
  return program
         && answers(*program, 1, "please", sandbox_samples::largest_answer);
}

} // namespace

/// @returns Whether something was answered.
std::size_t fuzz_sandbox(const std::uint8_t* data, std::size_t size) {
  if (size < 1)
    return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1,
                               size - 1);
  if (data[0] % 2 == 1)
    return try_tokenizer(bytes);
  return data[0] % 4 == 0 ? try_answer(bytes) : try_start(bytes);
}
