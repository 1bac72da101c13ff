#include "tools/lab/bench/emulated_experts.hpp"

#include <doctest/doctest.h>

#include <future>

#include "models/experts/catalogue.hpp"
#include "tools/lab/bench/blocking_call.hpp"

using namespace potluck;
using namespace potluck::bench;
using namespace std::chrono_literals;

namespace {

std::unique_ptr<emulated_experts> make(emulated_lines lines) {
  expert_kind kind;
  kind.layer = "nop";
  kind.hidden = 2;
  return std::make_unique<emulated_experts>(
      lines, make_expert_factory("cpu", 1), kind,
      std::vector<std::string>{"ffn.0.1", "ffn.0.2", "ffn.2.0", "ffn.10.0"});
}

std::future<expected<expert_reply>> ask(emulated_experts& network,
                                        const std::string& uid) {
  expert_call call;
  call.uid = uid;
  call.samples = 1;
  call.values = std::make_shared<const float_array>(float_array{3, 4});
  return begin_call(network, call);
}

} // namespace

TEST_CASE("experts in this process are found by prefix, and answer") {
  auto network = make({});
  std::vector<std::uint32_t> rows;
  network->look_up("ffn", [&](auto x) { rows = *x; });
  CHECK(rows == std::vector<std::uint32_t>{0, 2, 10});
  network->look_up("ffn.0", [&](auto x) { rows = *x; });
  CHECK(rows == std::vector<std::uint32_t>{1, 2});
  auto answer = ask(*network, "ffn.0.1").get();
  REQUIRE(answer);
  CHECK(answer->values == float_array{3, 4});
  CHECK_FALSE(ask(*network, "ffn.7.7").get());
}

TEST_CASE("calls are as late and as lossy as they are told to be") {
  emulated_lines lines;
  lines.mean_delay = 20ms;
  lines.failing = 0.25;
  auto network = make(lines);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::future<expected<expert_reply>>> calls;
  for (int i = 0; i < 400; ++i)
    calls.push_back(ask(*network, "ffn.2.0"));
  int lost = 0;
  for (auto& x : calls)
    lost += !x.get();
  // All at once, and the slowest of 400 takes six times the mean or so.
  CHECK(std::chrono::steady_clock::now() - begin > 40ms);
  CHECK(lost > 60);
  CHECK(lost < 140);
}

TEST_CASE("calls that are open at the end are answered") {
  emulated_lines lines;
  lines.mean_delay = std::chrono::hours{1};
  auto network = make(lines);
  auto open = ask(*network, "ffn.2.0");
  network.reset();
  CHECK_FALSE(open.get());
}
