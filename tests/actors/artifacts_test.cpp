/// Whole peers of runs whose trainers need a file.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/actors/whole_peer.hpp"
#include "tests/runtime/artifacts/made_artifact.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tools/lab/sim/memory_pieces.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

struct run_with_model {
  explicit run_with_model(std::size_t bytes = 30 * artifact_piece_bytes + 7)
      : model("model", bytes, 5) {
    write_file(there / "model.pt", model.bytes);
  }
  std::string folder(std::uint8_t number) const {
    return there / std::to_string(number);
  }
  std::string held(std::uint8_t number) const {
    return read_file(artifact_folder{folder(number)}.path_of(model.it.content));
  }
  /// The first one founds the run, with the file.
  peer_config config(std::uint8_t number, std::uint64_t steps = 20) {
    auto c = tiny_peer(world.network, number,
                       number == 1 ? std::vector<std::uint8_t>{}
                                   : std::vector<std::uint8_t>{1},
                       steps);
    c.artifacts_folder = folder(number);
    if (number == 1)
      c.own_artifacts = {{"model", there / "model.pt"}};
    c.propose = [steps, files = c.own_artifacts,
                 to = artifact_folder{c.artifacts_folder}] {
      return *with_own_artifacts(tiny_charter(steps, 64), files, to);
    };
    c.make_trainer = [from = artifact_folder{c.artifacts_folder}](
                         const charter& run) -> std::unique_ptr<trainer> {
      if (auto path = from.find(run, "model"); !path)
        throw std::runtime_error(path.error());
      return std::make_unique<tiny_trainer>();
    };
    return c;
  }
  whole_peer& add(std::uint8_t number, peer_config c) {
    auto& place = peers[number];
    place = std::make_unique<whole_peer>(world, std::move(c));
    return *place;
  }
  whole_peer& add(std::uint8_t number, std::uint64_t steps = 20) {
    return add(number, config(number, steps));
  }
  bool await_steps(whole_peer& who) {
    return world.run_until([&] { return who.step() > 0; }, 1min);
  }

  support::temporary_directory there;
  made_artifact model;
  test_world world;
  std::map<std::uint8_t, std::unique_ptr<whole_peer>> peers;
};

std::string problem_of(whole_peer& who) {
  REQUIRE(who.observer->count<peer_over>() > 0);
  CHECK(who.observer->last<peer_over>().users_mistake);
  return who.observer->last<peer_over>().problem;
}

} // namespace

TEST_CASE("those who join fetch the run's artifact, and then train") {
  run_with_model x;
  x.add(1);
  x.add(2);
  x.add(3);
  REQUIRE(x.world.run_until(
      [&] {
        return std::all_of(x.peers.begin(), x.peers.end(),
                           [](auto& p) { return p.second->finished(); });
      },
      5min));
  CHECK(x.peers[1]->digest() == x.peers[2]->digest());
  CHECK(x.peers[1]->digest() == x.peers[3]->digest());
  CHECK(x.peers[1]->observer->events("artifact").empty());
  for (std::uint8_t number : {2, 3}) {
    CHECK(x.held(number) == x.model.bytes);
    const auto news = x.peers[number]->observer->events("artifact");
    REQUIRE(news.size() == 1);
    CHECK(field<std::string>(news[0], "name") == "model");
    CHECK(field<std::uint64_t>(news[0], "bytes") == x.model.bytes.size());
    CHECK(x.peers[number]->observer->events("fault").empty());
  }
}

TEST_CASE("a peer that has the artifact fetches nothing") {
  run_with_model x;
  x.add(1, 1000);
  REQUIRE(x.await_steps(*x.peers[1]));
  REQUIRE(artifact_folder{x.folder(2)}.take("model", x.there / "model.pt"));
  REQUIRE(x.await_steps(x.add(2, 1000)));
  CHECK(x.peers[2]->observer->events("artifact").empty());
  // Or it gives a copy of its own.
  auto c = x.config(3, 1000);
  c.own_artifacts = {{"model", x.there / "model.pt"}};
  REQUIRE(x.await_steps(x.add(3, std::move(c))));
  CHECK(x.peers[3]->observer->events("artifact").empty());
}

TEST_CASE("a damaged artifact is mended with the pieces that are wrong") {
  run_with_model x;
  x.add(1, 1000);
  REQUIRE(x.await_steps(*x.peers[1]));
  auto bytes = x.model.bytes;
  bytes[5] ^= 1;
  std::filesystem::create_directories(x.folder(2));
  write_file(artifact_folder{x.folder(2)}.path_of(x.model.it.content), bytes);
  REQUIRE(x.await_steps(x.add(2, 1000)));
  CHECK(x.held(2) == x.model.bytes);
  const auto faults = x.peers[2]->observer->events("fault");
  REQUIRE(faults.size() == 1);
  CHECK(field<std::string>(faults[0], "detail").find("another SHA-256")
        != std::string::npos);
}

TEST_CASE("a liar among three donors is left, and named") {
  run_with_model x{200 * artifact_piece_bytes};
  x.add(1, 1000);
  x.add(2, 1000);
  auto c = x.config(3, 1000);
  c.bend_artifact = [](shared_bytes& bytes) {
    bytes = shared(std::string(bytes.size, 'x'));
  };
  x.add(3, std::move(c));
  for (std::uint8_t number : {2, 3})
    REQUIRE(x.await_steps(*x.peers[number]));
  auto& newcomer = x.add(4, 1000);
  REQUIRE(x.await_steps(newcomer));
  CHECK(x.held(4) == x.model.bytes);
  const auto faults = newcomer.observer->events("fault");
  REQUIRE(faults.size() == 1);
  CHECK(field<std::string>(faults[0], "what") == "wrong artifact");
  CHECK(field<std::string>(faults[0], "peer") == short_name(peer(3)));
}

TEST_CASE("a keeper that ends goes on with what it has") {
  run_with_model x{400 * artifact_piece_bytes};
  x.add(1, 1000);
  REQUIRE(x.await_steps(*x.peers[1]));
  x.world.network.delay(host(1), host(2), 20ms);
  auto& late = x.add(2, 1000);
  const auto partial = artifact_folder{x.folder(2)}.partial_path(
      x.model.it, short_name(peer(2)));
  const auto begun = [&] {
    std::error_code ignored;
    return std::filesystem::exists(partial, ignored)
           && std::filesystem::file_size(partial) > 20 * artifact_piece_bytes;
  };
  REQUIRE(x.world.run_until(begun, 1min));
  CHECK(late.step() == 0);
  late.children.kill("artifact_keeper");
  REQUIRE(x.await_steps(late));
  CHECK(late.children.starts("artifact_keeper") == 2);
  CHECK(x.held(2) == x.model.bytes);
}

TEST_CASE("what cannot be fetched is said in a sentence that names the mend") {
  run_with_model x;
  x.add(1, 1000);
  REQUIRE(x.await_steps(*x.peers[1]));
  SUBCASE("too large for this user") {
    auto c = x.config(2, 1000);
    c.max_artifacts = 1'000'000;
    auto& it = x.add(2, std::move(c));
    x.world.run_until([&] { return it.over(); }, 1min);
    CHECK(problem_of(it).find("max-artifacts allows 1 MB")
          != std::string::npos);
  }
  SUBCASE("no folder") {
    auto c = x.config(2, 1000);
    c.artifacts_folder.clear();
    auto& it = x.add(2, std::move(c));
    x.world.run_until([&] { return it.over(); }, 1min);
    CHECK(problem_of(it).find("identity-dir") != std::string::npos);
  }
  SUBCASE("a folder that nobody can write to") {
    write_file(x.folder(2), "in its place");
    auto& it = x.add(2, 1000);
    x.world.run_until([&] { return it.over(); }, 1min);
    CHECK(problem_of(it).find(x.folder(2)) != std::string::npos);
  }
  SUBCASE("another file than the run's") {
    write_file(x.there / "other.pt", "other");
    auto c = x.config(2, 1000);
    c.own_artifacts = {{"model", x.there / "other.pt"}};
    auto& it = x.add(2, std::move(c));
    x.world.run_until([&] { return it.over(); }, 1min);
    CHECK(problem_of(it).find("leave it out") != std::string::npos);
  }
  SUBCASE("a file that the run does not have") {
    auto c = x.config(2, 1000);
    c.own_artifacts = {{"words", x.there / "model.pt"}};
    auto& it = x.add(2, std::move(c));
    x.world.run_until([&] { return it.over(); }, 1min);
    CHECK(problem_of(it).find("no artifact of that name") != std::string::npos);
  }
}

TEST_CASE("an auxiliary fetches no artifact, but as a hub for who asks it") {
  run_with_model x;
  x.add(1, 1000);
  REQUIRE(x.await_steps(*x.peers[1]));
  const auto auxiliary = [&](std::uint8_t number, bool is_hub) {
    auto c = x.config(number, 1000);
    c.role = role::auxiliary;
    c.propose = nullptr;
    c.make_trainer = nullptr;
    if (is_hub)
      c.pieces = std::make_shared<memory_pieces>();
    x.add(number, std::move(c));
  };
  auxiliary(2, false);
  auxiliary(3, true);
  x.world.run_for(10s);
  CHECK(x.held(2).empty());
  CHECK(x.held(3).empty());
  REQUIRE(x.await_steps(x.add(4, 1000)));
  x.world.run_for(10s);
  CHECK(x.held(2).empty());
  CHECK(x.held(3) == x.model.bytes);
}

TEST_CASE("without anybody who has the artifact a peer waits, and says so") {
  run_with_model x;
  x.add(1, 1000);
  REQUIRE(x.await_steps(*x.peers[1]));
  auto c = x.config(2, 1000);
  c.role = role::auxiliary;
  c.propose = nullptr;
  c.make_trainer = nullptr;
  c.listen.port = 1000;
  x.add(2, std::move(c));
  x.world.run_for(10s);
  x.peers[1]->leave();
  x.world.run_for(5s);
  auto late = x.config(3, 1000);
  late.seeds = {{host(2), 1000}};
  auto& it = x.add(3, std::move(late));
  x.world.run_for(1min);
  CHECK(it.step() == 0);
  CHECK_FALSE(it.over());
  CHECK(it.observer->last<run_status>().trouble.find("nobody here has them")
        != std::string::npos);
}
