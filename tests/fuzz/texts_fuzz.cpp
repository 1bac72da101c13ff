/// What people write for Potluck: as JSON scenarios, networks, and problems for
/// `potluck plan`; and the hosts of `caf-run`, which are launched on paper.
///
/// The first byte says which. tools/fuzz runs it with libFuzzer,
/// texts_fuzz_test.cpp without.
#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "tools/caf_run/launch_plan.hpp"
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

/// Everybody starts once, the master last, and the launch has an end.
bool try_hosts(const std::string& text) {
  std::istringstream in{text};
  const auto hosts = caf_run::read_hosts(in);
  if (!hosts)
    return false;
  if (hosts->empty() || hosts->front().wait || hosts->front().serve)
    std::abort();
  if (hosts->size() > 50) // Each waits for all others' reports.
    return true;
  caf_run::launch_plan plan{*hosts};
  for (std::size_t started = 0; started < hosts->size(); ++started) {
    auto next = plan.next_start();
    while (!next && plan.awaits_reports()) {
      for (const auto& x : *hosts)
        plan.reported(x.host);
      next = plan.next_start();
    }
    const bool last = started + 1 == hosts->size();
    if (!next || (*next == 0) != last)
      std::abort();
  }
  for (std::size_t i = hosts->size(); i > 0; --i)
    if (plan.runs(i - 1) && (!(*hosts)[i - 1].serve || plan.ending()))
      plan.ended(i - 1, "");
  if (!plan.ending() || !plan.problem().empty())
    std::abort();
  return true;
}

} // namespace

/// @returns Whether it was one.
std::size_t fuzz_texts(const std::uint8_t* data, std::size_t size) {
  if (size < 1)
    return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      return try_scenario(text);
    case 1:
      return static_cast<bool>(parse_network(text));
    case 2:
      return static_cast<bool>(tools::read_problem(text));
    default:
      return try_hosts(text);
  }
}
