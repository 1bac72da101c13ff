/// Registrars of a run that an organiser created.
#include "actors/registrar.hpp"

#include <doctest/doctest.h>

#include "actors/charter_shelf.hpp"
#include "runtime/state/run_manifest.hpp"
#include "tests/actors/node.hpp"
#include "tests/support/tiny_trainer.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

manifest soup_by(const key_pair& organiser) {
  return unwrap(sign_charter(tiny_charter(10, 64), organiser));
}

/// A node with a registrar that was invited to a run.
struct guest : node {
  guest(test_world& world, std::uint8_t number, std::vector<std::uint8_t> seeds,
        const manifest& to, std::string bytes = "")
      : node(world, number, seeds, role::trainer, to.run()) {
    config.self = id;
    config.run = to.run();
    *config.manifest = std::move(bytes);
    config.has_seeds = !seeds.empty();
    config.mode = worker_mode::immediate;
    start();
  }
  void start() {
    replace(&wiring::registrar, (*system).spawn(potluck::registrar, config));
  }
  bool agreed() const {
    return parent->count<charter_agreed>() != 0;
  }
  potluck::charter charter() const {
    return parent->last<charter_agreed>().agreed;
  }

  registrar_config config;
};

} // namespace

TEST_CASE("a manifest goes from a bootstrap to those of its run") {
  test_world world;
  const auto soup = soup_by(key_pair::generate());
  const auto other = soup_by(key_pair::generate());
  node bootstrap{world, 7, {}, role::bootstrap};
  bootstrap.wired.registrar = registrar_actor{};
  bootstrap.replace(
      &wiring::charter_shelf,
      (*bootstrap.system)
          .spawn(charter_shelf,
                 charter_shelf_config{{{soup.run(), soup.to_bytes()}}}));
  guest a{world, 5, {7}, soup};
  guest b{world, 9, {7}, soup};
  guest stranger{world, 3, {7}, other};
  REQUIRE(world.run_until([&] { return a.agreed() && b.agreed(); }, 10s));
  CHECK(a.charter().settings().run == soup.run());
  CHECK(a.charter().digest() == b.charter().digest());
  CHECK_FALSE(a.parent->last<charter_agreed>().founded);
  world.run_for(30s);
  CHECK_FALSE(stranger.agreed());
  CHECK(stranger.observer->count<peer_over>() == 0);
}

TEST_CASE("a manifest goes from peer to peer, after a restart too") {
  test_world world;
  const auto soup = soup_by(key_pair::generate());
  guest a{world, 5, {}, soup, soup.to_bytes()};
  REQUIRE(world.run_until([&] { return a.agreed(); }, 2s));
  guest b{world, 2, {5}, soup};
  REQUIRE(world.run_until([&] { return b.agreed(); }, 10s));
  CHECK(*b.config.manifest == soup.to_bytes());
  b.config.known = b.charter();
  b.start();
  a.crash();
  guest c{world, 9, {2}, soup};
  REQUIRE(world.run_until([&] { return c.agreed(); }, 10s));
  CHECK(c.charter().digest() == a.charter().digest());
}
