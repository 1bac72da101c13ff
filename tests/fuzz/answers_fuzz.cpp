/// What the programs answer that compute a stranger's script and read a
/// stranger's tokenizer, once those have taken them over.
///
/// The first byte says which answer; of tokens the next one says how many the
/// vocabulary has. tools/fuzz runs it with libFuzzer, answers_fuzz_test.cpp
/// without. The frames around them are `fuzz_sandbox`'s.
#include <cmath>
#include <cstdint>

#include "models/script/script_answers.hpp"
#include "models/script/script_protocol.hpp"
#include "models/text/tokenizer_answers.hpp"
#include "runtime/state/layout_text.hpp"
#include "tests/fuzz/insist.hpp"

using namespace potluck;

namespace {

/// Of what is shown to a person.
void check_opened(const opened_script& x) {
  const auto again = read_layout_text(to_layout_text(x.layout));
  insist(again && layout_difference(*again, x.layout).empty());
  for (const auto& name : x.arguments)
    for (const char c : name)
      insist(c >= 0x20 && c != 0x7f);
}

template <class T>
bool is_answer(const expected<T>& x) {
  insist(x || !x.error().empty());
  return static_cast<bool>(x);
}

bool try_described(std::string_view answer) {
  const auto x = read_described(answer);
  if (!is_answer(x))
    return false;
  check_opened(*x);
  insist(x->values.size() == x->layout.values()
         && x->values.size() * sizeof(float) < answer.size());
  for (const auto value : x->values)
    insist(std::isfinite(value));
  return true;
}

bool try_opened(std::string_view answer) {
  const auto x = read_opened(answer);
  if (!is_answer(x))
    return false;
  check_opened(*x);
  return true;
}

bool try_outcome(std::string_view answer) {
  const auto x = read_outcome(answer);
  if (!is_answer(x))
    return false;
  insist(x->metrics.size() <= scripting::most_metrics);
  for (const auto& [name, value] : x->metrics)
    insist(scripting::names_metric(name) && std::isfinite(value));
  return true;
}

bool try_vocabulary(std::string_view answer) {
  const auto x = read_vocabulary(answer);
  insist(!x || (*x > 5 && *x <= INT32_MAX));
  return static_cast<bool>(x);
}

bool try_tokens(std::string_view answer) {
  if (answer.empty())
    return false;
  const auto vocabulary = static_cast<unsigned char>(answer[0]);
  constexpr std::size_t most = 50;
  std::vector<std::int32_t> all{1, 2};
  const bool sound = append_tokens(all, answer.substr(1), vocabulary, most);
  insist(all.size() <= most);
  for (std::size_t i = 2; i < all.size(); ++i)
    insist(all[i] >= 0 && all[i] < vocabulary);
  return sound;
}

} // namespace

/// @returns Whether it was one.
std::size_t fuzz_answers(const std::uint8_t* data, std::size_t size) {
  if (size < 1)
    return 0;
  const std::string_view answer(reinterpret_cast<const char*>(data) + 1,
                                size - 1);
  switch (data[0] % 5) {
    case 0:
      return try_described(answer);
    case 1:
      return try_opened(answer);
    case 2:
      return try_outcome(answer);
    case 3:
      return try_vocabulary(answer);
    default:
      return try_tokens(answer);
  }
}
