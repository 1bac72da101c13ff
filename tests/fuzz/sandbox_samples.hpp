/// Sound inputs of `fuzz_sandbox`.
#pragma once

#include "models/helper_program.hpp"
#include "models/text/tokenizer_protocol.hpp"
#include "runtime/sandbox/frames.hpp"
#include "runtime/sandbox/sandboxed_program.hpp"
#include "tests/fuzz/samples.hpp"

namespace potluck::sandbox_samples {

/// For an answer: below the ten seconds of tools/fuzz.
inline std::chrono::milliseconds patience{5000};

inline sandboxed_program start_tokenizer(std::vector<std::string> arguments) {
  sandbox_terms how;
  how.path = unwrap(
      find_program(tokenizer_program, candidates_for(tokenizer_program)));
  how.arguments = std::move(arguments);
  how.greeting = tokenizing::greeting;
  how.patience = patience;
  how.largest_answer = tokenizing::largest_answer;
  return unwrap(sandboxed_program::start(how));
}

/// A tokenizer's bytes.
inline std::string model() {
  auto program = start_tokenizer({tokenizing::learning});
  std::string wanted;
  append_little_endian(wanted, std::uint32_t{40});
  for (int i = 0; i < 100; ++i)
    tokenizing::append_part(wanted, "a word and an other word, and some more");
  const auto learn = static_cast<std::uint8_t>(tokenizing::request::learn);
  auto answer = program.ask(learn, wanted);
  if (answer.how != sandbox_outcome::answered)
    throw std::runtime_error("no tokenizer is learnt: " + answer.bytes);
  return answer.bytes;
}

inline std::string frame(sandbox::answer_kind kind, const std::string& body) {
  return sandbox::frame_head(static_cast<std::uint8_t>(kind), body.size())
         + body;
}

/// Of a program that lies.
constexpr char greeting[] = "hello";
constexpr std::size_t largest_answer = 1000;

inline fuzz_samples all() {
  using sandbox::answer_kind;
  return {'\1' + model(), '\0' + frame(answer_kind::done, "an answer"),
          '\0' + frame(answer_kind::done, "")
              + frame(answer_kind::refused, "a reason"),
          '\2' + frame(answer_kind::done, greeting)
              + frame(answer_kind::out_of_memory, ""),
          '\2' + frame(answer_kind::unconfined, "a kernel without it")};
}

} // namespace potluck::sandbox_samples
