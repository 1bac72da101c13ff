#include "models/script/script_program.hpp"

#include <unistd.h>

#include "models/helper_program.hpp"
#include "runtime/state/layout_text.hpp"

namespace potluck {

namespace {

using scripting::request;

constexpr std::uint64_t least_memory = std::uint64_t{256} << 20;

std::uint64_t half_of_memory() {
  const auto pages = ::sysconf(_SC_PHYS_PAGES);
  const auto bytes = ::sysconf(_SC_PAGESIZE);
  return std::max(least_memory, pages < 1 || bytes < 1
                                    ? 0
                                    : static_cast<std::uint64_t>(pages)
                                          * static_cast<std::uint64_t>(bytes)
                                          / 2);
}

expected<sandboxed_program> start(const script_terms& how,
                                  const lent_memory* lent,
                                  std::size_t largest_answer) {
  auto path
      = find_program(torchscript_program, candidates_for(torchscript_program));
  if (!path)
    return failure{path.error()};
  sandbox_terms terms;
  terms.path = std::move(*path);
  terms.arguments
      = {std::to_string(how.memory_bytes != 0 ? how.memory_bytes
                                              : half_of_memory()),
         std::to_string(how.threads), std::to_string(lent ? lent->bytes() : 0)};
  terms.greeting = scripting::greeting;
  terms.patience = how.patience;
  terms.largest_answer = largest_answer;
  terms.lent_memory = lent ? lent->descriptor() : -1;
  return sandboxed_program::start(terms);
}

/// What happened, where it did not answer, for a person.
std::string trouble(const sandbox_answer& x, const char* when) {
  if (x.how == sandbox_outcome::refused) {
    std::string reason;
    for (char c : x.bytes.substr(0, 600))
      reason += c >= 0x20 && c <= 0x7e ? c : '?';
    return reason;
  }
  std::string result{words_for(x.how)};
  result += " while it was ";
  result += when;
  if (x.how == sandbox_outcome::too_slow)
    result += ", perhaps in a loop without an end";
  return result;
}

/// @param when What it is asked for, for the sentence.
expected<std::string> answer_of(sandboxed_program& program, request what,
                                const std::string& body, const char* when,
                                const std::atomic<bool>* cancelled = nullptr) {
  auto answer = program.ask(static_cast<std::uint8_t>(what), body, cancelled);
  if (answer.how != sandbox_outcome::answered)
    return failure{trouble(answer, when)};
  return std::move(answer.bytes);
}

std::string request_for(const std::string& file, bool averages) {
  return static_cast<char>(averages) + file;
}

std::string joined(const std::vector<std::string>& names) {
  std::string result;
  for (const auto& x : names)
    result += (result.empty() ? "" : ",") + x;
  return result;
}

} // namespace

expected<described_script> describe_script(const std::string& file,
                                           bool averages,
                                           const script_terms& how) {
  auto program = start(how, nullptr, scripting::largest_description);
  if (!program)
    return failure{"cannot be read: " + program.error()};
  const auto answer = answer_of(*program, request::describe,
                                request_for(file, averages), "read");
  if (!answer)
    return failure{answer.error()};
  return read_described(*answer);
}

expected<script_program>
script_program::open(const std::string& file,
                     const std::vector<std::string>& inputs,
                     const model_layout& layout, const script_terms& how) {
  auto memory = lent_memory::make(scripting::lent_bytes(layout.values()));
  if (!memory)
    return failure{"cannot be computed: " + memory.error()};
  auto program = start(how, &*memory, scripting::largest_answer);
  if (!program)
    return failure{"cannot be computed: " + program.error()};
  const auto& all = layout.entries();
  const auto answer
      = answer_of(*program, request::open,
                  request_for(file, !all.empty() && all.back().buffer), "read");
  if (!answer)
    return failure{answer.error()};
  const auto opened = read_opened(*answer);
  if (!opened)
    return failure{opened.error()};
  if (auto differs = layout_difference(opened->layout, layout);
      !differs.empty())
    return failure{"is not the run's: " + differs};
  if (opened->arguments != inputs)
    return failure{"has a forward that takes " + joined(opened->arguments)
                   + ", and the run's settings say " + joined(inputs)};
  return script_program{std::move(*program), std::move(*memory),
                        layout.values()};
}

expected<script_outcome>
script_program::pass(const scripting::pass_head& how, const std::string& batch,
                     const std::atomic<bool>& cancelled) {
  std::string body;
  body.reserve(1 + 2 * sizeof(std::uint64_t) + batch.size());
  body += static_cast<char>(how.kind);
  append_little_endian(body, how.seed);
  append_little_endian(body, how.samples);
  body += batch;
  const auto answer
      = answer_of(program_, request::pass, body, "computed", &cancelled);
  if (!answer)
    return failure{answer.error()};
  return read_outcome(*answer);
}

void append_tensor_head(std::string& out, scripting::element type,
                        const std::vector<std::int64_t>& shape) {
  out += static_cast<char>(type);
  out += static_cast<char>(shape.size());
  for (auto extent : shape)
    append_little_endian(out, static_cast<std::uint64_t>(extent));
}

} // namespace potluck
