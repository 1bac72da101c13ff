#include "models/script/script_answers.hpp"

#include <cmath>
#include <cstring>

#include "models/script/script_inputs.hpp"
#include "models/script/script_protocol.hpp"
#include "runtime/state/declared_setting.hpp"
#include "runtime/state/layout_text.hpp"
#include "runtime/vector_loops.hpp"

namespace potluck {

namespace {

/// Arguments and layout, with which two of the answers begin.
expected<opened_script> next_opened(byte_reader& from) {
  const auto names = std::string{scripting::next_part(from)};
  auto layout = read_layout_text(std::string{scripting::next_part(from)});
  if (from.lacks() || !layout)
    return failure{"gave nonsense when it was asked for its tensors"};
  opened_script result{split_inputs(names), std::move(*layout)};
  for (auto& x : result.arguments)
    x = shown(x);
  return result;
}

/// As the processor has it.
double next_number(byte_reader& from) {
  double result = 0;
  if (const auto bytes = from.bytes(sizeof result); !bytes.empty())
    std::memcpy(&result, bytes.data(), bytes.size());
  return result;
}

} // namespace

expected<described_script> read_described(std::string_view answer) {
  byte_reader from{answer};
  auto head = next_opened(from);
  if (!head)
    return failure{head.error()};
  described_script result{std::move(*head), {}, {}};
  result.file = scripting::next_part(from);
  const auto values = from.bytes(result.layout.values() * sizeof(float));
  if (!from.done() || values.empty() || result.file.empty())
    return failure{"gave nonsense when it was asked for its values"};
  result.values.resize(result.layout.values());
  std::memcpy(result.values.data(), values.data(), values.size());
  for (const auto& x : result.layout.entries())
    if (!all_finite(result.values.data() + x.offset, x.values))
      return failure{"holds a tensor " + x.name
                     + " whose values are not all finite"};
  return result;
}

expected<opened_script> read_opened(std::string_view answer) {
  byte_reader from{answer};
  auto result = next_opened(from);
  if (result && !from.done())
    return failure{"gave nonsense when it was opened"};
  return result;
}

expected<script_outcome> read_outcome(std::string_view answer) {
  byte_reader from{answer};
  script_outcome result{next_number(from)};
  bool sound = true;
  for (std::size_t i = 0; sound && !from.done() && !from.lacks(); ++i) {
    const std::string name{scripting::next_part(from)};
    const auto value = next_number(from);
    sound = i < scripting::most_metrics && scripting::names_metric(name);
    if (std::isfinite(value))
      result.metrics[name] = value;
  }
  if (!sound || !from.done())
    return failure{"gave nonsense when it was computed"};
  return result;
}

} // namespace potluck
