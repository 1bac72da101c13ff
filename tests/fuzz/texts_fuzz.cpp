/// What people write for Potluck, as JSON: scenarios, networks, and problems
/// for `potluck plan`.
///
/// The first byte says which. tools/fuzz runs it with libFuzzer,
/// texts_fuzz_test.cpp without.
#include <cstdint>
#include <cstdlib>

#include "tools/lab/network/network_description.hpp"
#include "tools/lab/scenario/scenario.hpp"
#include "tools/potluck/plan_format.hpp"

using namespace potluck;

namespace {

/// What is written of a scenario is read as the same.
bool try_scenario(const std::string& text) {
  const auto x = parse_scenario(text);
  if (!x)
    return false;
  const auto written = to_text(*x);
  const auto again = parse_scenario(written);
  if (!again || to_text(*again) != written)
    std::abort();
  return true;
}

} // namespace

/// @returns Whether it was one.
std::size_t fuzz_texts(const std::uint8_t* data, std::size_t size) {
  if (size < 1)
    return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      return try_scenario(text);
    case 1:
      return static_cast<bool>(parse_network(text));
    default:
      return static_cast<bool>(tools::read_problem(text));
  }
}
