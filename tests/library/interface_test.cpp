#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/library/loop.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace potluck::library_test;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a loop alone trains to the run's end") {
  loop x{0, {{"run", "alone"}, {"steps", "12"}, {"warmup-steps", "0"}}};
  CHECK(std::string{x.status().phase} == "closed");
  x.open();
  CHECK(x.get("id").size() == 64);
  INFO(x.error());
  REQUIRE(x.train(1) == POTLUCK_OVER);
  const auto status = x.status();
  CHECK(std::string{status.phase} == "finished");
  CHECK(status.taken == 12);
  CHECK(status.target == 16);
  CHECK(status.own >= 12 * 16);
  CHECK(status.stale == 0);
  CHECK(status.progress == 1);
  CHECK(x.digest().size() == 32);
  CHECK(x.weight().front() > 0); // On its way to 1.
  CHECK(potluck_leave(x.run, 10.0) == POTLUCK_OK);
  CHECK(x.digest().size() == 32);
  CHECK(potluck_leave(x.run, 1.0) == POTLUCK_OK);
}

TEST_CASE("two peers with other values end with the same digest") {
  for (const std::string updates : {"synchronous", "delayed"}) {
    CAPTURE(updates);
    const options how{{"run", "pair-" + updates},
                      {"steps", "10"},
                      {"target-batch", "160"},
                      {"updates", updates}};
    loop first{0, how};
    first.open();
    auto more = how;
    more.emplace_back("peer", first.address());
    loop second{5, more}; // Would begin elsewhere.
    second.open();
    REQUIRE(second.take() == POTLUCK_OK); // It is there from the first step on.
    first.await_peers(2);
    int outcomes[2] = {};
    std::thread other{[&] { outcomes[1] = second.train(2); }};
    outcomes[0] = first.train(1);
    other.join();
    INFO(first.error());
    INFO(second.error());
    CHECK(outcomes[0] == POTLUCK_OVER);
    CHECK(outcomes[1] == POTLUCK_OVER);
    CHECK(first.digest() == second.digest());
    CHECK(first.weight() == second.weight());
    std::thread leaving{[&] { potluck_leave(second.run, 10.0); }};
    CHECK(potluck_leave(first.run, 10.0) == POTLUCK_OK);
    leaving.join();
  }
}

TEST_CASE("a loop is waited for whose batches are known to take long") {
  const options how{{"run", "slow-loop"}, {"steps", "1000000"}};
  loop fast{0, how};
  fast.open();
  auto more = how;
  more.emplace_back("peer", fast.address());
  loop slow{0, more};
  slow.open();
  REQUIRE(slow.take() == POTLUCK_OK);
  std::atomic<bool> enough{false};
  std::thread beside{[&] {
    auto outcome = fast.take();
    while (!enough && (outcome == POTLUCK_OK || outcome == POTLUCK_SAME)) {
      outcome = fast.add(1);
      if (outcome == POTLUCK_OK)
        outcome = fast.take();
    }
  }};
  unsigned long stale = 0;
  constexpr int learning = 3; // How long they take, which others see as well.
  for (int i = 0; i < learning + 4; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{800}); // Computes.
    CHECK(slow.add(1) == POTLUCK_OK);
    if (i + 1 == learning)
      stale = slow.status().stale;
    CHECK(slow.take() == POTLUCK_OK);
  }
  CHECK(slow.status().stale == stale);
  enough = true;
  beside.join();
}

TEST_CASE("a joiner has the founder's values before the first step") {
  loop first{0.5f, {{"run", "values"}, {"target-batch", "1000000"}}};
  first.open();
  REQUIRE(first.take() == POTLUCK_OK);
  loop second{7,
              {{"run", "values"},
               {"target-batch", "1000000"},
               {"peer", first.address()}}};
  second.open();
  INFO(second.error());
  REQUIRE(second.take() == POTLUCK_OK);
  CHECK(second.status().taken == 0);
  CHECK(second.weight() == first.weight());
  CHECK(second.digest() == first.digest());
}

TEST_CASE("a model that differs is refused by its first tensor") {
  loop first{0, {{"run", "shapes"}}};
  first.open();
  loop second{0, {{"run", "shapes"}, {"peer", first.address()}}};
  const long shape[] = {3, 2};
  REQUIRE(
      potluck_tensor(second.run, "weight", shape, 2, POTLUCK_DECAYS, nullptr)
      == POTLUCK_OK);
  REQUIRE(potluck_open(second.run) == POTLUCK_OK);
  CHECK(second.take() == POTLUCK_FAILED);
  INFO(second.error());
  CHECK(contains(second.error(), "tensor 1 is weight 3x2 decays here and "
                                 "weight 2x3 decays there"));
  CHECK(std::string{second.status().phase} == "failed");
  CHECK(first.take() == POTLUCK_OK); // The others go on.
}

TEST_CASE("settings that differ are refused with both values") {
  loop first{0, {{"run", "settings"}}};
  first.open();
  loop second{
      0,
      {{"run", "settings"}, {"target-batch", "32"}, {"peer", first.address()}}};
  second.open();
  CHECK(second.take() == POTLUCK_FAILED);
  INFO(second.error());
  CHECK(contains(second.error(), "target-batch"));
  CHECK(contains(second.error(), "32"));
  CHECK(contains(second.error(), "16"));
}

TEST_CASE("an optimizer's own settings come in any order, and are no other's") {
  loop first{0,
             {{"run", "own"},
              {"nesterov", "yes"},
              {"momentum", "0.50"},
              {"optimizer", "sgd"}}};
  CHECK(first.get("momentum") == "0.5");
  CHECK(first.get("nesterov") == "yes");
  CHECK(first.get("schedule") == "linear");
  CHECK(potluck_set(first.run, "momentum", "2") == POTLUCK_MISTAKE);
  CHECK(contains(first.error(), "momentum is 2, but must be"));
  CHECK(potluck_set(first.run, "momentun", "0.5") == POTLUCK_MISTAKE);
  CHECK(contains(first.error(), "did you mean momentum?"));
  first.open();
  CHECK(first.take() == POTLUCK_OK);
  loop second{0,
              {{"run", "own"},
               {"momentum", "0.25"},
               {"optimizer", "sgd"},
               {"peer", first.address()}}};
  second.open();
  CHECK(second.take() == POTLUCK_FAILED);
  INFO(second.error());
  CHECK(contains(second.error(), "momentum is 0.25 here and 0.5 there"));
  loop third{0, {{"run", "another"}, {"nesterov", "yes"}}};
  third.declare();
  CHECK(potluck_open(third.run) == POTLUCK_MISTAKE);
  INFO(third.error());
  CHECK(contains(third.error(), "nesterov"));
  CHECK(contains(third.error(), "and the optimizer is lamb"));
}

TEST_CASE("what is not finite is refused by its tensor, and training goes on") {
  loop x{0, {{"run", "finite"}, {"steps", "3"}}};
  x.open();
  REQUIRE(x.take() == POTLUCK_OK);
  const auto before = x.digest();
  CHECK(x.add(1, std::nan("")) == POTLUCK_NOT_FINITE);
  CHECK(contains(x.error(), "loss"));
  CHECK(x.add(std::numeric_limits<float>::infinity()) == POTLUCK_NOT_FINITE);
  CHECK(contains(x.error(), "gradient of tensor weight"));
  CHECK(x.digest() == before);
  CHECK(x.status().own == 0);
  CHECK(x.train(1) == POTLUCK_OVER);
  CHECK(x.status().taken == 3);
}

TEST_CASE("wrong arguments and calls out of order are refused in a sentence") {
  loop x{0};
  const auto refused = [&](int result, const std::string& part) {
    INFO(x.error());
    CHECK(result == POTLUCK_MISTAKE);
    CHECK(contains(x.error(), part));
  };
  refused(potluck_set(x.run, nullptr, "1"), "name is null");
  refused(potluck_set(x.run, "run", nullptr), "value is null");
  refused(potluck_set(x.run, "target-bach", "1"), "did you mean target-batch?");
  refused(potluck_set(x.run, "target-batch", "many"), "whole number");
  refused(potluck_set(x.run, "peer", "nowhere"), "peer: ");
  refused(potluck_set(x.run, "model", "albert"), "follows from the tensors");
  refused(potluck_set(x.run, "invitation", "potluck:nonsense"), "invitation: ");
  refused(potluck_open(x.run), "no tensors");
  const long shape[] = {2, 0};
  refused(potluck_tensor(x.run, nullptr, shape, 1, 1, nullptr), "name is null");
  refused(potluck_tensor(x.run, "a", nullptr, 1, 1, nullptr), "shape is null");
  refused(potluck_tensor(x.run, "a b", shape, 1, 1, nullptr), "spaces");
  refused(potluck_tensor(x.run, "a", shape, 2, 1, nullptr), "extent 0");
  refused(potluck_tensor(x.run, "a", shape, 9, 1, nullptr), "dimensions is 9");
  refused(potluck_tensor(x.run, "a", shape, 1, 2, nullptr), "decays");
  const float nan[] = {1, std::nanf("")};
  CHECK(potluck_tensor(x.run, "a", shape, 1, 1, nan) == POTLUCK_NOT_FINITE);
  CHECK(potluck_tensor(x.run, "a", shape, 1, 1, nullptr) == POTLUCK_OK);
  refused(potluck_tensor(x.run, "a", shape, 1, 1, nullptr), "already");
  float values[2] = {};
  float* tensors[] = {values};
  const float* gradients[] = {values};
  refused(potluck_take(x.run, tensors, 0), "call potluck_open first");
  refused(potluck_add(x.run, gradients, 1, 0, 0), "call potluck_open first");
  refused(potluck_save(x.run, "/tmp/x"), "not known yet");
  char digest[33];
  refused(potluck_digest(x.run, digest), "call potluck_open first");
  refused(potluck_load(x.run, "/nowhere/at/all"), "/nowhere/at/all");
  refused(potluck_leave(x.run, 0), "call potluck_open first");
  REQUIRE(potluck_open(x.run) == POTLUCK_OK);
  refused(potluck_open(x.run), "the run is open");
  refused(potluck_set(x.run, "run", "other"), "before potluck_open");
  refused(potluck_tensor(x.run, "b", shape, 1, 1, nullptr),
          "before potluck_open");
  refused(potluck_add(x.run, gradients, 1, 0, 0), "call potluck_take");
  while (potluck_take(x.run, tensors, 1) == POTLUCK_TIMEOUT)
    ;
  refused(potluck_add(x.run, nullptr, 1, 0, 0), "gradients is null");
  refused(potluck_add(x.run, gradients, 0, 0, 0), "samples is 0");
  refused(potluck_add(x.run, gradients, 33, 0, 0), "twice the target batch");
  refused(potluck_add(x.run, gradients, 1, 0, -1), "seconds");
  refused(potluck_take(x.run, nullptr, 0), "parameters is null");
  refused(potluck_status(x.run, nullptr), "status is null");
  struct potluck_status unsized = {};
  refused(potluck_status(x.run, &unsized), "sizeof");
  CHECK(potluck_leave(x.run, 10) == POTLUCK_OK);
  refused(potluck_add(x.run, gradients, 1, 0, 0), "was left");
}

TEST_CASE("a null and a freed handle are told from others") {
  const auto freed = potluck_new();
  const auto other = potluck_new();
  REQUIRE(freed != 0);
  CHECK(freed != other);
  CHECK(potluck_free(freed) == POTLUCK_OK);
  for (auto handle : {potluck_run{0}, freed, potluck_run{123456789}}) {
    CHECK(potluck_set(handle, "run", "x") == POTLUCK_NO_RUN);
    CHECK(potluck_open(handle) == POTLUCK_NO_RUN);
    CHECK(potluck_take(handle, nullptr, 0) == POTLUCK_NO_RUN);
    CHECK(potluck_add(handle, nullptr, 1, 1, 0) == POTLUCK_NO_RUN);
    CHECK(potluck_event(handle, nullptr, 0, 0) == POTLUCK_NO_RUN);
    CHECK(potluck_leave(handle, 0) == POTLUCK_NO_RUN);
    CHECK(potluck_free(handle) == POTLUCK_NO_RUN);
    CHECK(contains(potluck_error(handle), "handle"));
  }
  CHECK(potluck_free(other) == POTLUCK_OK);
  std::vector<potluck_run> all;
  while (auto more = potluck_new())
    all.push_back(more);
  CHECK(all.size() == 64);
  CHECK(contains(potluck_error(0), "64 handles"));
  for (auto x : all)
    CHECK(potluck_free(x) == POTLUCK_OK);
}

TEST_CASE("a child that was forked behind potluck_open is refused") {
  loop x{0, {{"run", "forked"}}};
  x.open();
  REQUIRE(x.take() == POTLUCK_OK);
  const auto child = fork();
  if (child == 0) {
    char digest[33];
    const bool well = potluck_digest(x.run, digest) == POTLUCK_FORKED
                      && potluck_new() == 0
                      && contains(potluck_error(x.run), "forked");
    exit(well ? 0 : 1); // Not _exit: its handlers must do no harm.
  }
  int status = 1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(x.add(1) == POTLUCK_OK); // Here nothing has changed.
}

TEST_CASE("events come as lines of JSON, and wait for room") {
  loop x{0, {{"run", "events"}}};
  x.open();
  REQUIRE(!x.address().empty());
  REQUIRE(x.take() == POTLUCK_OK);
  char small[4];
  const auto length = potluck_event(x.run, small, sizeof(small), 1);
  REQUIRE(length >= static_cast<long>(sizeof(small)));
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  CHECK(potluck_event(x.run, text.data(), text.size(), 1) == length);
  CHECK(text.substr(0, 10) == "{\"event\":\"");
}

TEST_CASE("training goes on from a checkpoint, and from moments") {
  potluck::support::temporary_directory folder;
  const auto path = folder / "x.checkpoint";
  std::vector<float> weight(6), bias(2), weight2(6), bias2(2);
  float* first[] = {weight.data(), bias.data()};
  float* second[] = {weight2.data(), bias2.data()};
  std::string digest;
  {
    loop x{0, {{"run", "kept"}, {"steps", "40"}}};
    x.open();
    REQUIRE(x.take() == POTLUCK_OK);
    while (x.status().taken < 5) {
      REQUIRE(x.add(1) == POTLUCK_OK);
      REQUIRE(x.take() >= 0);
    }
    REQUIRE(potluck_leave(x.run, 10) == POTLUCK_OK);
    INFO(x.error());
    REQUIRE(potluck_save(x.run, path.c_str()) == POTLUCK_OK);
    unsigned long step = 0;
    REQUIRE(potluck_moments(x.run, &step, first, second) == POTLUCK_OK);
    CHECK(step == 5);
    CHECK(weight[0] != 0);
    digest = x.digest();
  }
  loop again{0, {{"run", "kept"}, {"steps", "40"}}};
  again.declare();
  INFO(again.error());
  REQUIRE(potluck_load(again.run, path.c_str()) == POTLUCK_OK);
  REQUIRE(potluck_open(again.run) == POTLUCK_OK);
  REQUIRE(again.take() == POTLUCK_OK);
  CHECK(again.status().taken == 5);
  CHECK(again.digest() == digest);

  loop other{0, {{"run", "moved"}, {"steps", "40"}}};
  other.declare();
  REQUIRE(potluck_set_moments(other.run, 5, first, second) == POTLUCK_OK);
  REQUIRE(potluck_open(other.run) == POTLUCK_OK);
  REQUIRE(other.take() == POTLUCK_OK);
  CHECK(other.status().taken == 5);
  std::vector<float> held(6), held2(2);
  float* moved[] = {held.data(), held2.data()};
  REQUIRE(potluck_moments(other.run, nullptr, moved, nullptr) == POTLUCK_OK);
  CHECK(held == weight);
}

TEST_CASE("moments that an optimizer does not keep are zero") {
  loop x{0,
         {{"run", "plain"},
          {"steps", "40"},
          {"optimizer", "sgd"},
          {"momentum", "0"}}};
  x.declare();
  const std::vector<float> weight(6, 3), bias(2, 3);
  const float* given[] = {weight.data(), bias.data()};
  REQUIRE(potluck_set_moments(x.run, 2, given, given) == POTLUCK_OK);
  REQUIRE(potluck_open(x.run) == POTLUCK_OK);
  REQUIRE(x.take() == POTLUCK_OK);
  std::vector<float> first(6, 1), second(2, 1);
  float* held[] = {first.data(), second.data()};
  unsigned long step = 0;
  REQUIRE(potluck_moments(x.run, &step, held, nullptr) == POTLUCK_OK);
  CHECK(step == 2);
  CHECK(first == std::vector<float>(6));
  CHECK(second == std::vector<float>(2));
}

TEST_CASE("a created run is joined by invitation, and begins as its creator "
          "said") {
  potluck::support::temporary_directory folder;
  const options how{{"run", "made"},
                    {"steps", "6"},
                    {"target-batch", "160"},
                    {"identity-dir", folder.path()},
                    {"announce", "127.0.0.1:1"}};
  char invitation[4096];
  {
    loop maker{0.25f, how};
    maker.declare();
    const auto result
        = potluck_create(maker.run, invitation, sizeof(invitation));
    INFO(maker.error());
    REQUIRE(result == POTLUCK_OK);
  }
  // Later, with a program that begins elsewhere.
  loop first{9,
             {{"identity-dir", folder.path()},
              {"target-batch", "160"},
              {"invitation", invitation}}};
  first.open();
  INFO(first.error());
  REQUIRE(first.take() == POTLUCK_OK);
  CHECK(first.weight().front() == 0.25f);
  loop second{3,
              {{"invitation", invitation},
               {"target-batch", "160"},
               {"peer", first.address()}}};
  second.open();
  REQUIRE(second.take() == POTLUCK_OK);
  first.await_peers(2);
  int outcome = 0;
  std::thread other{[&] { outcome = second.train(1); }};
  CHECK(first.train(1) == POTLUCK_OVER);
  other.join();
  CHECK(outcome == POTLUCK_OVER);
  CHECK(first.digest() == second.digest());
}

TEST_CASE("a run's artifact is at every peer before there are parameters") {
  potluck::support::temporary_directory folder;
  const auto words = folder / "words.txt";
  std::ofstream{words} << "a few words";
  loop first{0,
             {{"run", "with-words"},
              {"identity-dir", folder / "first"},
              {"artifact", "words=" + words}}};
  CHECK(potluck_set(first.run, "artifact", "words") == POTLUCK_MISTAKE);
  CHECK(contains(first.error(), "NAME=FILE"));
  CHECK(potluck_set(first.run, "artifact", "more=/nowhere/at/all")
        == POTLUCK_MISTAKE);
  CHECK(potluck_get(first.run, "artifact:words", nullptr, 0) < 0);
  CHECK(contains(first.error(), "potluck_take"));
  first.open();
  REQUIRE(first.take() == POTLUCK_OK);
  loop second{5,
              {{"run", "with-words"},
               {"identity-dir", folder / "second"},
               {"peer", first.address()}}};
  second.open();
  REQUIRE(second.take() == POTLUCK_OK);
  const auto path = second.get("artifact:words");
  CHECK(contains(path, folder / "second"));
  std::string text;
  std::getline(std::ifstream{path}, text);
  CHECK(text == "a few words");
  CHECK(potluck_get(second.run, "artifact:model", nullptr, 0) < 0);
  CHECK(contains(second.error(), "no artifact model"));
}
