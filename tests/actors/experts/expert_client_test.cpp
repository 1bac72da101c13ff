/// Experts over real sockets and threads, and the promise of one answer each.

#include "actors/experts/expert_client.hpp"

#include <doctest/doctest.h>

#include <future>

#include "tests/support/arithmetic_expert.hpp"
#include "tests/support/await.hpp"
#include "tests/support/town.hpp"
#include "tools/lab/bench/blocking_call.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

std::future<expected<expert_reply>> ask(expert_client& client,
                                        const std::string& uid,
                                        std::vector<float> values,
                                        std::uint32_t samples) {
  expert_call x;
  x.uid = uid;
  x.samples = samples;
  x.values = std::make_shared<const float_array>(values.begin(), values.end());
  return begin_call(client, x);
}

} // namespace

TEST_CASE("experts are called over real sockets from other threads") {
  auto diary = std::make_shared<expert_diary>();
  auto client = std::make_shared<expert_client>();
  town t;
  t.add(role::bootstrap);
  t.add(role::expert, [&](peer_config& c) {
    expert_hosting h;
    h.kind.hidden = 64;
    h.uids = *experts_of_pattern("ffn.*", {8});
    h.make = arithmetic_factory(diary);
    c.experts = h;
  });
  t.add(role::expert, [&](peer_config& c) { c.expert_calls = client->line(); });
  // Hosts announce when they know how others reach them.
  REQUIRE(support::await(
      [&] {
        std::promise<std::size_t> count;
        client->look_up("ffn", [&](expected<std::vector<std::uint32_t>> x) {
          count.set_value(x ? x->size() : 0);
        });
        return count.get_future().get() == 8;
      },
      60s));
  REQUIRE(support::await(
      [&] {
        auto x = ask(*client, "ffn.7", std::vector<float>(64, 1.0f), 1);
        return bool(x.get());
      },
      60s));
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int n = 0; n < 4; ++n)
    threads.emplace_back([&, n] {
      for (int i = 0; i < 25; ++i) {
        auto value = static_cast<float>(n * 100 + i);
        // Half a megabyte a call, so that they pile up.
        auto x = ask(*client, "ffn." + std::to_string((n + i) % 8),
                     std::vector<float>(64 * 2000, value), 2000)
                     .get();
        good += x && x->values == float_array(64 * 2000, value);
      }
    });
  for (auto& x : threads)
    x.join();
  CHECK(good == 100);
}

TEST_CASE("every question gets one answer, whenever the peer ends") {
  auto client = std::make_unique<expert_client>();
  CHECK(!ask(*client, "ffn.1", {1}, 1).get());
  std::vector<std::future<expected<expert_reply>>> open;
  {
    town t;
    t.add(role::bootstrap);
    t.add(role::expert,
          [&](peer_config& c) { c.expert_calls = client->line(); });
    REQUIRE(
        support::await([&] { return bool(client->line()->current()); }, 30s));
    for (int i = 0; i < 50; ++i)
      open.push_back(ask(*client, "ffn.1", {1}, 1));
  }
  for (auto& x : open)
    CHECK(!x.get());
  CHECK(!ask(*client, "ffn.1", {1}, 1).get());
  // The client may end inside one of its own answers.
  std::promise<void> ended;
  auto last = std::shared_ptr<expert_client>{std::move(client)};
  auto* raw = last.get();
  raw->look_up("ffn", [&, last = std::move(last)](auto) mutable {
    last.reset();
    ended.set_value();
  });
  ended.get_future().get();
}
