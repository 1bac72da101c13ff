/// Experts called through the C interface: a peer of this process hosts some of
/// a few lines of arithmetic.

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <thread>

#include "runtime/experts/expert_uid.hpp"
#include "tests/library/loop.hpp"
#include "tests/support/arithmetic_expert.hpp"
#include "tests/support/town.hpp"

using namespace potluck;
using namespace potluck::library_test;

namespace {

constexpr unsigned long width = 3;
constexpr double patience = 60;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A bootstrap, and hosts of experts of a grid of 2x2.
struct kitchen {
  kitchen() {
    all.add(role::bootstrap);
  }

  void host(const std::string& pattern) {
    all.add(role::expert, [&](peer_config& c) {
      expert_hosting h;
      h.kind.hidden = width;
      h.uids = *experts_of_pattern(pattern, {1, 2, 2});
      h.make = arithmetic_factory(diary);
      h.spare = 0; // What is gone stays away.
      c.experts = h;
    });
  }
  /// The host that was added last vanishes.
  void end_last() {
    caf::scoped_actor waiter{*all.system};
    caf::anon_send(all.peers.back(), leave_run{"enough"});
    waiter->wait_for(all.peers.back());
    all.peers.pop_back();
  }
  options settings() const {
    return {{"run", "soup"},
            {"peer", to_string(address_of(all.observers.front()))},
            {"experts", "ffn"},
            {"expert-grid", "2x2"},
            {"experts-per-sample", "2"},
            {"expert-values", "3"}};
  }

  std::shared_ptr<expert_diary> diary = std::make_shared<expert_diary>();
  town all;
};

/// What one batch of two samples is called with, and gets.
struct batch {
  /// (1,1) is the best expert of the first sample, then (1,0); of the other one
  /// (0,0) and (0,1).
  std::array<float, 8> scores{0, 3, 0, 1, 3, 0, 1, 0};
  std::array<int, 8> places{};
  std::array<unsigned char, 4> alive{};
  std::array<float, 6> inputs{1, 2, 3, -1, -2, -3};
  std::array<float, 12> outputs{};
  std::array<unsigned char, 4> answered{};
  std::array<float, 12> gradients{};
  std::array<float, 6> input_gradients{};

  int find(potluck_run run, double seconds = patience) {
    return potluck_find_experts(run, 0, 2, scores.data(), places.data(),
                                alive.data(), seconds);
  }
  int forward(potluck_run run, double seconds = patience) {
    return potluck_forward(run, 0, 2, places.data(), inputs.data(),
                           outputs.data(), answered.data(), seconds);
  }
  int backward(potluck_run run) {
    return potluck_backward(run, 0, 2, places.data(), inputs.data(),
                            gradients.data(), input_gradients.data(),
                            answered.data(), patience);
  }
  /// Until so many seats of the batch are found.
  bool await(potluck_run run, long seats) {
    return support::await(
        [&] {
          find(run);
          return std::count(places.begin(), places.end(), -1)
                 == 2 * (4 - seats);
        },
        std::chrono::seconds{60});
  }
};

/// A handle that only calls.
struct caller : loop {
  explicit caller(const options& how) : loop(0, how) {
    const auto result = potluck_open(run);
    INFO(error());
    REQUIRE(result == POTLUCK_OK);
  }
};

} // namespace

TEST_CASE("the best experts answer, and learn from gradients") {
  kitchen k;
  k.host("ffn.0.*.*");
  caller x{k.settings()};
  batch b;
  REQUIRE(b.await(x.run, 4));
  CHECK(b.places == std::array<int, 8>{1, 1, 1, 0, 0, 0, 0, 1});
  CHECK(b.alive == std::array<unsigned char, 4>{1, 1, 1, 1});
  CHECK(b.forward(x.run) == POTLUCK_OK);
  INFO(x.error());
  CHECK(b.answered == std::array<unsigned char, 4>{1, 1, 1, 1});
  CHECK(b.outputs
        == std::array<float, 12>{1, 2, 3, 1, 2, 3, -1, -2, -3, -1, -2, -3});
  b.gradients = {1, 1, 1, 2, 2, 2, 5, 5, 5, 7, 7, 7};
  b.answered = {1, 1, 1, 0}; // That one is spared.
  CHECK(b.backward(x.run) == POTLUCK_OK);
  CHECK(b.answered == std::array<unsigned char, 4>{1, 1, 1, 0});
  CHECK(b.input_gradients == std::array<float, 6>{3, 3, 3, 5, 5, 5});
  CHECK(b.forward(x.run) == POTLUCK_OK);
  CHECK(b.outputs
        == std::array<float, 12>{2, 4, 6, 2, 4, 6, -2, -4, -6, -1, -2, -3});
  CHECK(std::string{x.status().phase} == "calling");
}

TEST_CASE("who is gone is left out, and when all are it is said") {
  kitchen k;
  k.host("ffn.0.0.*");
  k.host("ffn.0.1.*");
  caller x{k.settings()};
  batch b;
  REQUIRE(b.await(x.run, 4));
  REQUIRE(b.forward(x.run) == POTLUCK_OK);
  k.end_last();
  CHECK(b.forward(x.run) == POTLUCK_OK);
  CHECK(b.answered == std::array<unsigned char, 4>{0, 0, 1, 1});
  CHECK(b.outputs[0] == 0);
  CHECK(b.outputs[6] == -1);
  b.answered = {1, 1, 1, 1};
  b.gradients.fill(1);
  CHECK(b.backward(x.run) == POTLUCK_OK);
  CHECK(b.answered == std::array<unsigned char, 4>{0, 0, 1, 1});
  CHECK(b.input_gradients == std::array<float, 6>{0, 0, 0, 2, 2, 2});
  k.end_last();
  CHECK(b.forward(x.run) == POTLUCK_NO_EXPERTS);
  CHECK(contains(x.error(), "no expert of layer ffn.0 answers: "));
  CHECK(b.answered == std::array<unsigned char, 4>{});
  CHECK(b.backward(x.run) == POTLUCK_OK); // Nobody is called.
  CHECK(potluck_leave(x.run, 10) == POTLUCK_OK);
  CHECK(b.forward(x.run) == POTLUCK_MISTAKE);
  CHECK(contains(x.error(), "was left"));
}

TEST_CASE("any number of threads may call at once") {
  kitchen k;
  k.host("ffn.0.*.*");
  caller x{k.settings()};
  REQUIRE(batch{}.await(x.run, 4));
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int n = 0; n < 4; ++n)
    threads.emplace_back([&, n] {
      batch b;
      b.inputs.fill(static_cast<float>(n));
      for (int i = 0; i < 25; ++i)
        good += b.find(x.run) == POTLUCK_OK && b.forward(x.run) == POTLUCK_OK
                && std::count(b.outputs.begin(), b.outputs.end(), n) == 12;
    });
  for (auto& each : threads)
    each.join();
  CHECK(good == 100);
}

TEST_CASE("a run's experts are settings that its peers agree in") {
  kitchen k;
  k.host("ffn.0.*.*");
  loop first{0, k.settings()};
  first.open();
  REQUIRE(first.take() == POTLUCK_OK);
  batch b;
  REQUIRE(b.await(first.run, 4));
  CHECK(b.forward(first.run) == POTLUCK_OK);
  CHECK(b.outputs[2] == 3);
  CHECK(contains(first.get("settings"), "expert-grid=2x2\n"));
  CHECK(contains(first.get("settings"), "call-packing=float32\n"));

  const auto peer = std::pair{"peer", first.address()};
  loop second{0, {{"run", "soup"}, peer}}; // It says nothing of experts.
  second.open();
  REQUIRE(second.take() == POTLUCK_OK);
  CHECK(second.get("experts-per-sample") == "2");
  REQUIRE(b.await(second.run, 4));
  CHECK(b.forward(second.run) == POTLUCK_OK);

  loop third{
      0,
      {{"run", "soup"}, peer, {"experts", "ffn"}, {"experts-per-sample", "3"}}};
  third.open();
  CHECK(third.take() == POTLUCK_FAILED);
  CHECK(contains(third.error(), "experts-per-sample is 3 here and 2 there"));
  CHECK(first.add(1) == POTLUCK_OK); // Training goes on beside.
}

TEST_CASE("wrong arguments of calls are refused in a sentence") {
  kitchen k;
  caller x{k.settings()};
  batch b;
  const auto refused = [&](int result, const std::string& part,
                           int expected = POTLUCK_MISTAKE) {
    INFO(x.error());
    CHECK(result == expected);
    CHECK(contains(x.error(), part));
  };
  const auto find = [&](unsigned long layer, unsigned long samples) {
    return potluck_find_experts(x.run, layer, samples, b.scores.data(),
                                b.places.data(), nullptr, 0.001);
  };
  refused(find(256, 1), "layer is 256");
  refused(find(0, 0), "samples is 0");
  refused(find(0, 1ul << 40), "must be 1 to 1048576");
  refused(
      potluck_find_experts(x.run, 0, 1, nullptr, b.places.data(), nullptr, 1),
      "scores is null");
  refused(b.find(x.run, -1), "seconds must be");
  b.scores[5] = std::nanf("");
  refused(b.find(x.run), "scores of layer ffn.0", POTLUCK_NOT_FINITE);
  b.places = {0, 2, 0, 0, 0, 0, 0, 0};
  refused(b.forward(x.run), "coordinate 2 of dimension 1");
  b.places = {0, 0, 0, 0, 0, 0, 1, -2};
  refused(b.forward(x.run), "coordinate -2 of dimension 1");
  b.places.fill(0);
  b.answered.fill(1);
  b.gradients[11] = std::nanf("");
  refused(b.backward(x.run), "gradients of layer ffn.0", POTLUCK_NOT_FINITE);
  b.inputs[4] = std::nanf("");
  refused(b.forward(x.run), "inputs of layer ffn.0", POTLUCK_NOT_FINITE);
  float* none[] = {nullptr};
  refused(potluck_take(x.run, none, 0), "trains nothing");

  loop other{0, {{"run", "other"}}};
  CHECK(b.find(other.run) == POTLUCK_MISTAKE);
  CHECK(contains(other.error(), "call potluck_open first"));
  other.open();
  CHECK(b.find(other.run) == POTLUCK_MISTAKE);
  CHECK(contains(other.error(), "name no experts"));
  CHECK(b.find(0) == POTLUCK_NO_RUN);
}

TEST_CASE("settings that describe no experts are refused") {
  const auto problem_of = [](const options& more) {
    loop x{0, more};
    x.declare();
    CHECK(potluck_open(x.run) == POTLUCK_MISTAKE);
    return x.error();
  };
  CHECK(contains(problem_of({{"expert-grid", "2x2"}}), "but not `experts`"));
  CHECK(contains(problem_of({{"experts", "ffn"}, {"expert-grid", "2x"}}),
                 "is not a grid"));
  CHECK(contains(problem_of({{"experts", "FFN"}}), "experts: "));
  CHECK(contains(problem_of({{"experts", "ffn"},
                             {"expert-grid", "2"},
                             {"experts-per-sample", "3"}}),
                 "has room for 2"));
  loop alone{0, {{"experts", "ffn"}}};
  CHECK(potluck_open(alone.run) == POTLUCK_MISTAKE);
  CHECK(contains(alone.error(), "set peer to"));
}
