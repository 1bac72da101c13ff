/// Peers whose steps take a millisecond: whoever comes gets in step with those
/// that train already, at whatever pace these do.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <optional>
#include <thread>

#include "tests/library/loop.hpp"

using namespace potluck::library_test;

namespace {

using clock_type = std::chrono::steady_clock;

/// The text or number behind a name in a line of JSON; empty: there is none.
std::string field(const std::string& line, const std::string& name) {
  const auto key = "\"" + name + "\":";
  auto at = line.find(key);
  if (at == std::string::npos)
    return "";
  at += key.size();
  if (line[at] == '"')
    return line.substr(at + 1, line.find('"', at + 1) - at - 1);
  return line.substr(at, line.find_first_of(",}", at) - at);
}

/// What one peer has heard of its steps.
struct course {
  std::map<unsigned long, std::string> digests; ///< After each step.
  /// The first step to which all have brought samples, this peer among them.
  std::optional<unsigned long> first_of_all;
  std::optional<unsigned long> entered; ///< The first step made here.
  unsigned long of_all = 0;             ///< Steps made by all.
};

void read_events(const loop& x, course& to, const std::string& all) {
  char line[4096];
  while (potluck_event(x.run, line, sizeof(line), 0) > 0) {
    if (field(line, "event") != "step")
      continue;
    const auto step = std::stoul(field(line, "step"));
    to.digests[step] = field(line, "digest");
    if (!to.entered)
      to.entered = step;
    if (field(line, "peers") != all || std::stod(field(line, "share")) == 0)
      continue;
    ++to.of_all;
    if (!to.first_of_all)
      to.first_of_all = step;
  }
}

} // namespace

TEST_CASE("three peers with steps of a millisecond train together") {
  // That the first one takes before the others start.
  unsigned long alone = 0;
  SUBCASE("from the beginning on") {
  }
  SUBCASE("when one has trained for long") {
    alone = 200;
  }
  constexpr unsigned long wanted = 20;
  const options how{{"run", "short"},
                    {"steps", "1000000"},
                    {"warmup-steps", "0"},
                    {"schedule", "constant"},
                    {"learning-rate", "0.001"}};
  std::optional<loop> peers[3];
  course heard[3];
  std::atomic<int> done{0};
  std::promise<void> has_begun;
  const auto end = clock_type::now() + std::chrono::seconds{60};
  const auto train = [&](int i) {
    auto& x = *peers[i];
    auto outcome = x.take();
    bool counted = false;
    bool told = i != 0;
    while ((outcome == POTLUCK_OK || outcome == POTLUCK_SAME) && done < 3
           && clock_type::now() < end) {
      outcome = x.add(1);
      if (outcome == POTLUCK_OK)
        outcome = x.take();
      read_events(x, heard[i], "3");
      if (!told && heard[i].digests.size() >= alone) {
        told = true;
        has_begun.set_value();
      }
      if (!counted && heard[i].of_all >= wanted) {
        counted = true;
        ++done;
      }
    }
  };
  // Nobody waits for the others: the first trains on its own at once.
  peers[0].emplace(0, how);
  peers[0]->open();
  auto more = how;
  more.emplace_back("peer", peers[0]->address());
  std::vector<std::thread> threads;
  threads.emplace_back(train, 0);
  has_begun.get_future().wait_until(end);
  for (int i = 1; i < 3; ++i) {
    peers[i].emplace(static_cast<float>(i), more);
    peers[i]->open();
    threads.emplace_back(train, i);
  }
  for (auto& x : threads)
    x.join();
  for (int i = 0; i < 3; ++i) {
    CAPTURE(i);
    INFO(peers[i]->error());
    CHECK(heard[i].of_all >= wanted);
  }
  // All are in it within a few steps of the last one's coming.
  unsigned long last = 0;
  for (auto& x : heard)
    last = std::max(last, x.entered.value_or(0));
  for (auto& x : heard) {
    REQUIRE(x.first_of_all);
    CHECK(*x.first_of_all <= last + 50);
  }
  for (int i = 1; i < 3; ++i)
    for (auto& [step, digest] : heard[i].digests)
      if (auto other = heard[0].digests.find(step);
          other != heard[0].digests.end())
        CHECK(digest == other->second);
}
