#include "actors/address_keeper.hpp"

#include <doctest/doctest.h>

#include "tests/actors/whole_peer.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

/// Keeps what was written last.
struct one_file : disk {
  expected<bool> replace(const std::string&,
                         const std::vector<file_section>& sections) override {
    text.clear();
    for (auto& x : sections)
      text.append(static_cast<const char*>(x.data), x.size);
    ++writings;
    return true;
  }
  bool names(std::uint8_t number) const {
    return text.find(host(number) + ":1000") != std::string::npos;
  }
  std::string text;
  int writings = 0;
};

peer_config keeping_peer(test_world& world, one_file& file, std::uint8_t number,
                         std::vector<std::uint8_t> seeds) {
  auto c = tiny_peer(world.network, number, std::move(seeds), 1000000);
  address_keeping keeping;
  keeping.path = "soup.peers";
  keeping.where = &file;
  keeping.unix_seconds = [] { return std::uint64_t{1000000}; };
  if (!file.text.empty())
    keeping.known = *kept_addresses::read(file.text);
  c.keeping = keeping;
  return c;
}

peer_config bootstrap_peer(test_world& world, std::uint8_t number,
                           std::vector<std::uint8_t> seeds = {}) {
  auto c = tiny_peer(world.network, number, std::move(seeds), 1);
  c.role = role::bootstrap;
  c.run.clear();
  return c;
}

} // namespace

TEST_CASE("a run outlives its bootstraps, and who was there comes back") {
  test_world world;
  std::optional<whole_peer> bootstrap;
  bootstrap.emplace(world, bootstrap_peer(world, 9));
  one_file first, second, third;
  whole_peer a{world, keeping_peer(world, first, 1, {9})};
  REQUIRE(world.run_until([&] { return a.step() > 0; }, 60s));
  whole_peer b{world, keeping_peer(world, second, 2, {9})};
  std::optional<whole_peer> c;
  c.emplace(world, keeping_peer(world, third, 3, {9}));
  REQUIRE(world.run_until([&] { return b.step() > 0 && c->step() > 0; }, 60s));
  world.run_for(10s);
  // No peer writes more than once a minute, but at its end.
  CHECK(third.writings == 1);
  c.reset();
  CHECK(third.writings == 2);
  CHECK((third.names(1) || third.names(2)));
  CHECK(third.text.find("port 1000\n") != std::string::npos);

  bootstrap->children.forget();
  for (std::uint8_t other = 1; other <= 3; ++other)
    world.network.cut(host(9), host(other));
  bootstrap.reset();
  auto step = std::max(a.step(), b.step());
  REQUIRE(world.run_until(
      [&] { return a.step() > step + 5 && b.step() > step + 5; }, 60s));
  // Nobody answers at the only address that its user names.
  c.emplace(world, keeping_peer(world, third, 3, {9}));
  REQUIRE(world.run_until([&] { return c->step() > step + 5; }, 60s));
  CHECK_FALSE(c->over());
  auto charter = c->observer->events("charter");
  REQUIRE(charter.size() == 1);
  CHECK_FALSE(field<bool>(charter[0], "founded"));
}

TEST_CASE("bootstraps that nobody named are found in the DHT, and kept") {
  test_world world;
  whole_peer named{world, bootstrap_peer(world, 9)};
  whole_peer other{world, bootstrap_peer(world, 8, {9})};
  one_file file;
  whole_peer a{world, keeping_peer(world, file, 1, {9})};
  REQUIRE(world.run_until([&] { return file.names(8); }, 3min));
}
