/// What `potluck import` reads, by whomever it was made: a model's tensors as
/// safetensors, its configuration, and what its tokenizer does to a text.
///
/// The first byte says which. Of safetensors it also says whether two bytes
/// give the length of the header that is put in front of the rest, so that a
/// mutant is read beyond its length. tools/fuzz runs it with libFuzzer,
/// import_fuzz_test.cpp without.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "runtime/state/declared_setting.hpp"
#include "tests/fuzz/import_samples.hpp"
#include "tests/fuzz/insist.hpp"
#include "tests/fuzz/memory_file.hpp"
#include "tools/potluck/model_config.hpp"
#include "tools/potluck/safetensors.hpp"

using namespace potluck;

namespace {

/// @returns Its path.
std::string hold(std::string_view bytes) {
  static memory_file it;
  it.hold(bytes);
  return it.path();
}

/// Of what fails for a reason the reason is told.
template <class T>
bool accepted(const expected<T>& x) {
  insist(x || !x.error().empty());
  return static_cast<bool>(x);
}

std::string with_length(std::string_view bytes) {
  if (bytes.size() < 2)
    return {};
  const auto length = get_little_endian<std::uint16_t>(
      reinterpret_cast<const std::uint8_t*>(bytes.data()));
  std::string result;
  append_little_endian(result, static_cast<std::uint64_t>(length));
  return result.append(bytes.substr(2));
}

bool try_tensors(std::string_view bytes) {
  static const auto layout = import_samples::layout();
  const auto path = hold(bytes);
  accepted(read_safetensors(path, layout));
  const auto x = read_safetensors(path, layout, {{"head"}, {{"copy", "bias"}}});
  if (!accepted(x))
    return false;
  // What was read is the same when it is written and read again.
  insist(x->size() == layout.values());
  const auto size = x->size() * sizeof(float);
  auto written = safetensors_header(layout);
  written.append(reinterpret_cast<const char*>(x->data()), size);
  const auto again = read_safetensors(hold(written), layout);
  insist(again && std::memcmp(again->data(), x->data(), size) == 0);
  return true;
}

bool try_config(std::string_view bytes) {
  const auto x = read_model_config(hold(bytes));
  if (!accepted(x))
    return false;
  for (const auto& line : *x)
    insist(is_setting_name(line.name));
  return true;
}

} // namespace

/// @returns Whether it was one.
std::size_t fuzz_import(const std::uint8_t* data, std::size_t size) {
  if (size < 1)
    return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1,
                               size - 1);
  switch (data[0] % 4) {
    case 0:
      return try_tensors(bytes);
    case 1:
      return try_tensors(with_length(bytes));
    case 2:
      return try_config(bytes);
    default:
      return lowers_case(hold(bytes));
  }
}
