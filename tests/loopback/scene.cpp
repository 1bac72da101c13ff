#include "tests/loopback/scene.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>

#include <doctest/doctest.h>

#include "tests/support/await.hpp"

namespace potluck::loopback {

using nlohmann::json;

namespace {

/// Where ctest says the program is, or where it was when this was compiled.
std::string binary() {
  if (auto path = std::getenv("POTLUCK_BINARY"); path && *path)
    return path;
  return POTLUCK_BINARY_PATH;
}

} // namespace

// ---- peers -----------------------------------------------------------------

peer::peer(support::command what, const std::string& log,
           const std::string& output)
    : process(std::move(what), output), log(log) {
}

json peer::await(const std::string& event, std::chrono::milliseconds patience,
                 std::size_t first) {
  auto found = log.await(event, patience, first);
  INFO("no event '" << event << "' of: " << replay_line(process.what())
                    << "\nit printed:\n"
                    << process.output());
  REQUIRE(!found.is_null());
  return found;
}

json peer::await_step(std::uint64_t step, std::chrono::milliseconds patience) {
  auto found = log.await(
      [&](const json& x) {
        return x.at("event") == "step" && x.at("step") >= step;
      },
      patience);
  INFO("no step " << step << " of: " << replay_line(process.what())
                  << "\nit printed:\n"
                  << process.output());
  REQUIRE(!found.is_null());
  return found;
}

json peer::listening() {
  return await("listening");
}

std::string peer::address() {
  return listening().at("address");
}

std::string peer::id() {
  return listening().at("id");
}

std::uint16_t peer::port() {
  auto where = parse_address(address());
  REQUIRE(static_cast<bool>(where));
  return where->port;
}

std::map<std::uint64_t, std::string> peer::digests(std::size_t first) {
  std::map<std::uint64_t, std::string> result;
  auto& lines = log.lines();
  for (auto i = first; i < lines.size(); ++i)
    if (lines[i].at("event") == "step")
      result[lines[i].at("step")] = lines[i].at("digest");
  return result;
}

std::uint64_t peer::last_step() {
  auto all = digests();
  return all.empty() ? 0 : all.rbegin()->first;
}

// ---- scenes ----------------------------------------------------------------

scene::scene() {
  // Two copies of one text would be one text; four are enough for any test.
  std::ofstream out{path("text.txt"), std::ios::binary};
  for (auto name : {"GPL-2", "LGPL-2.1", "Apache-2.0", "MPL-1.1"}) {
    std::ifstream in{std::string{"/usr/share/common-licenses/"} + name};
    if (in)
      out << in.rdbuf();
    else
      out.clear();
  }
  if (out.tellp() > 20000)
    return;
  // No such files here: sentences with enough order in them to learn from.
  const words who{"the cook", "a guest", "our host", "the child", "my friend"};
  const words does{"brings", "shares", "tastes", "praises", "carries"};
  const words what{"a warm soup", "the fresh bread", "some red apples",
                   "two bowls of rice", "a pot of beans"};
  const words where{"in the kitchen", "at the table", "by the river"};
  for (std::size_t i = 0; i < 1500; ++i)
    out << who[i % 5] << " " << does[i / 5 % 5] << " " << what[i / 25 % 5]
        << " " << where[i / 125 % 3] << (i % 3 ? ". " : ".\n");
}

scene::~scene() {
  if (!support::this_test_failed())
    return;
  std::cerr << "The files of this scene are in " << directory_.path()
            << "; its processes were, in this order:\n";
  for (auto& p : peers_)
    std::cerr << "  " << replay_line(p->process.what()) << "\n";
}

std::string scene::text() {
  return path("text.txt");
}

peer& scene::start(const std::string& name, words arguments,
                   std::map<std::string, std::string> environment) {
  arguments.insert(arguments.begin(), binary());
  // Not the user's own state directory, whatever a test forgets.
  environment.emplace("HOME", path("home"));
  environment.emplace("XDG_STATE_HOME", "");
  auto log = std::find(arguments.begin(), arguments.end(), "--log-json");
  peers_.push_back(std::make_unique<peer>(
      support::command{arguments, environment, directory_.path()},
      log == arguments.end() ? path(name + ".jsonl") : *std::next(log),
      path(std::to_string(peers_.size()) + "-" + name + ".out")));
  return *peers_.back();
}

peer& scene::bootstrap() {
  return start("bootstrap",
               {"bootstrap", "--listen", "127.0.0.1:0", "--identity-dir",
                path("bootstrap"), "--log-json", path("bootstrap.jsonl")});
}

peer& scene::join(const std::string& name, const words& arguments,
                  std::map<std::string, std::string> environment) {
  auto has = [&](const std::string& flag) {
    return std::find(arguments.begin(), arguments.end(), flag)
           != arguments.end();
  };
  words all{"join", "--log-json", path(name + ".jsonl")};
  if (!has("--listen"))
    all = all + words{"--listen", "127.0.0.1:0"};
  if (!has("--identity-dir") && !environment.count("HOME"))
    all = all + words{"--identity-dir", path(name)};
  if (!has("--data") && !has("--role"))
    all = all + words{"--data", text()};
  if (!has("--threads"))
    all = all + words{"--threads", "1"};
  return start(name, all + arguments, std::move(environment));
}

scene::result scene::run(const std::string& name, words arguments,
                         std::chrono::milliseconds patience,
                         std::map<std::string, std::string> environment) {
  auto& p = start(name, std::move(arguments), std::move(environment));
  auto end = p.process.wait(patience);
  return {end && end->signal == 0 ? end->status : -1, p.process.output()};
}

words operator+(words a, const words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

words tiny_run(std::uint64_t target_batch, std::uint64_t steps) {
  return {"--hidden-size",
          "32",
          "--embedding-size",
          "16",
          "--intermediate-size",
          "64",
          "--layers",
          "1",
          "--heads",
          "2",
          "--sequence-length",
          "16",
          "--vocabulary",
          "300",
          "--micro-batch",
          "4",
          "--target-batch",
          std::to_string(target_batch),
          "--steps",
          std::to_string(steps)};
}

// ---- what must be true -----------------------------------------------------

void check_all_finish(const std::vector<peer*>& peers,
                      std::chrono::milliseconds patience) {
  auto deadline = std::chrono::steady_clock::now() + patience;
  for (auto p : peers) {
    auto left = std::max(std::chrono::duration_cast<std::chrono::milliseconds>(
                             deadline - std::chrono::steady_clock::now()),
                         std::chrono::milliseconds{0});
    auto end = p->process.wait(left);
    INFO(replay_line(p->process.what()) << "\nprinted:\n"
                                        << p->process.output());
    REQUIRE(end.has_value());
    CHECK(end->signal == 0);
    CHECK(end->status == 0);
  }
}

std::size_t check_equal_digests(const std::vector<peer*>& peers) {
  std::map<std::uint64_t, std::set<std::string>> digests;
  std::map<std::uint64_t, std::size_t> holders;
  for (auto p : peers)
    for (auto& [step, digest] : p->digests()) {
      digests[step].insert(digest);
      ++holders[step];
    }
  std::size_t shared = 0;
  for (auto& [step, different] : digests) {
    INFO("step " << step);
    CHECK(different.size() == 1);
    shared += holders[step] > 1;
  }
  std::set<std::string> ends;
  for (auto p : peers)
    ends.insert(p->log.named("finished").empty()
                    ? "did not finish"
                    : std::string{p->log.named("finished").back()["digest"]});
  CHECK(ends.size() == 1);
  return shared;
}

void check_agree(peer& a, peer& b, std::size_t count, std::size_t first,
                 std::size_t first_of_a) {
  std::size_t common = 0;
  std::size_t different = 0;
  support::await(
      [&] {
        auto of_a = a.digests(first_of_a);
        common = different = 0;
        for (auto& [step, digest] : b.digests(first))
          if (auto same = of_a.find(step); same != of_a.end()) {
            ++common;
            different += same->second != digest;
          }
        return common >= count;
      },
      startup_patience);
  CHECK(common >= count);
  CHECK(different == 0);
}

void check_steps(peer& who, std::uint64_t target_batch) {
  std::uint64_t last = 0;
  for (auto& x : who.log.lines()) {
    if (x.at("event") == "state_download")
      last = x.at("step");
    if (x.at("event") != "step")
      continue;
    INFO(x.dump());
    CHECK(x.at("samples") >= target_batch);
    CHECK(x.at("step") == last + 1);
    last = x.at("step");
  }
  CHECK(last > 0);
}

void check_shares(const std::vector<peer*>& peers) {
  std::map<std::uint64_t, double> whole;
  std::map<std::uint64_t, std::size_t> members;
  std::map<std::uint64_t, std::size_t> told;
  for (auto p : peers)
    for (auto& x : p->log.named("step")) {
      whole[x.at("step")] += x.at("share").get<double>();
      members[x.at("step")] = x.at("peers");
      ++told[x.at("step")];
    }
  std::size_t complete = 0;
  for (auto& [step, sum] : whole)
    if (told[step] == members[step]) {
      INFO("step " << step);
      CHECK(sum == doctest::Approx(1).epsilon(1e-9));
      ++complete;
    }
  CHECK(complete > 0);
}

} // namespace potluck::loopback
