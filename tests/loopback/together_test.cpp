#include "tests/loopback/scene.hpp"

#include <set>

#include <doctest/doctest.h>

using namespace potluck::loopback;

namespace {

void finish_as_one(const std::vector<peer*>& all, std::uint64_t target_batch) {
  check_all_finish(all);
  CHECK(check_equal_digests(all) > 0);
  for (auto p : all) {
    check_steps(*p, target_batch);
    CHECK(p->log.named("fault").empty());
  }
  check_shares(all);
}

/// How many peers the largest group of the run had.
std::uint64_t largest_group(const std::vector<peer*>& all) {
  std::uint64_t result = 0;
  for (auto p : all)
    for (auto& x : p->log.named("step"))
      result = std::max(result, x.at("peers").get<std::uint64_t>());
  return result;
}

} // namespace

TEST_CASE("four peers and a bootstrap peer finish one run as one") {
  scene s;
  auto seed = s.bootstrap().address();
  std::vector<peer*> all;
  for (auto name : {"a", "b", "c", "d"})
    all.push_back(&s.join(name, words{"--peer", seed} + tiny_run(256, 20)));
  finish_as_one(all, 256);
  CHECK(largest_group(all) == 4);
  std::size_t founders = 0;
  for (auto p : all)
    for (auto& x : p->log.named("charter"))
      founders += x.at("founded").get<bool>();
  CHECK(founders == 1);
}

TEST_CASE("peers of one user need no identity directories") {
  scene s;
  auto seed = s.bootstrap().address();
  std::vector<peer*> all;
  std::set<std::string> ids;
  for (auto name : {"a", "b", "c", "d"})
    all.push_back(&s.join(name, words{"--peer", seed} + tiny_run(256, 10),
                          {{"HOME", s.path("home")}}));
  for (auto p : all)
    ids.insert(p->id());
  CHECK(ids.size() == 4);
  finish_as_one(all, 256);
}

TEST_CASE("peers train with AdamW along a cosine") {
  scene s;
  auto seed = s.bootstrap().address();
  const auto how
      = words{"--peer", seed} + tiny_run(256, 20)
        + words{"--optimizer",     "adamw",        "--schedule",     "cosine",
                "--learning-rate", "0.003",        "--weight-decay", "0.1",
                "--decay-except",  "*embeddings*", "--rates",        "*bias:2"};
  std::vector<peer*> all;
  for (auto name : {"a", "b", "c"})
    all.push_back(&s.join(name, how));
  finish_as_one(all, 256);
}
