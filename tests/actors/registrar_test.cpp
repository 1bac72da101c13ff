#include "actors/registrar.hpp"

#include <doctest/doctest.h>

#include "actors/charter_shelf.hpp"
#include "runtime/membership/limits.hpp"
#include "tests/actors/node.hpp"
#include "tests/support/tiny_trainer.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

/// A node with a registrar; the charter that it would found has its number as
/// the seed.
struct applicant : node {
  applicant(test_world& world, std::uint8_t number,
            std::vector<std::uint8_t> seeds = {},
            std::vector<setting> demanded = {}, potluck::role r = role::trainer)
      : node(world, number, seeds, r) {
    registrar_config c;
    c.self = id;
    c.role = r;
    c.run = "soup";
    if (r == role::trainer)
      c.propose = [number] { return tiny_charter(10, 64, number); };
    c.demanded = std::move(demanded);
    c.has_seeds = !seeds.empty();
    c.mode = worker_mode::immediate;
    replace(&wiring::registrar, (*system).spawn(potluck::registrar, c));
  }
  bool agreed() const {
    return parent->count<charter_agreed>() != 0;
  }
  digest charter() const {
    return parent->last<charter_agreed>().agreed.digest();
  }
  bool founded() const {
    return parent->last<charter_agreed>().founded;
  }
};

} // namespace

TEST_CASE("a peer that names no others founds at once") {
  test_world world;
  applicant a{world, 1};
  world.run_for(2 * limits::registrar_interval);
  REQUIRE(a.agreed());
  CHECK(a.founded());
  CHECK(a.charter() == tiny_charter(10, 64, 1).digest());
}

TEST_CASE("a joiner takes the charter of the run") {
  test_world world;
  applicant a{world, 5};
  world.run_for(1s);
  applicant b{world, 2, {5}};
  REQUIRE(world.run_until([&] { return b.agreed(); }, 10s));
  CHECK_FALSE(b.founded());
  CHECK(b.charter() == a.charter());
}

TEST_CASE("two that reach nobody but the same bootstrap end in one run") {
  for (std::uint8_t other : {std::uint8_t{1}, std::uint8_t{9}})
    for (auto later : {0ms, 100ms, 700ms, 1300ms, 5000ms, 40000ms}) {
      CAPTURE(int{other});
      CAPTURE(later.count());
      test_world world;
      world.network.cut(host(5), host(other));
      node bootstrap{world, 7, {}, role::bootstrap};
      bootstrap.wired.registrar = registrar_actor{};
      bootstrap.replace(
          &wiring::charter_shelf,
          (*bootstrap.system).spawn(charter_shelf, charter_shelf_config{}));
      applicant a{world, 5, {7}};
      world.run_for(later);
      applicant b{world, other, {7}};
      REQUIRE(world.run_until([&] { return a.agreed() && b.agreed(); }, 30s));
      CHECK(a.charter() == b.charter());
      CHECK(a.founded() != b.founded());
      // A word of the wait is in order, when records are late.
      for (auto* x : {&a, &b})
        for (auto& fault : x->observer->events("fault"))
          CHECK(field<std::string>(fault, "what") == "waiting for the run");
    }
}

TEST_CASE("two that start together agree on one charter") {
  for (std::uint8_t other : {std::uint8_t{1}, std::uint8_t{9}})
    for (auto later : {0ms, 100ms, 500ms, 1000ms, 1100ms, 1300ms, 2500ms})
      for (auto delay : {0ms, 80ms}) {
        CAPTURE(int{other});
        CAPTURE(later.count());
        CAPTURE(delay.count());
        test_world world;
        for (auto& [x, y] : {std::pair{7, 5}, {7, int{other}}, {5, int{other}}})
          world.network.delay(host(static_cast<std::uint8_t>(x)),
                              host(static_cast<std::uint8_t>(y)), delay);
        node bootstrap{world, 7, {}, role::bootstrap};
        applicant a{world, 5, {7}};
        world.run_for(later);
        applicant b{world, other, {7}};
        REQUIRE(world.run_until([&] { return a.agreed() && b.agreed(); }, 30s));
        CHECK(a.charter() == b.charter());
        CHECK(a.founded() != b.founded());
      }
}

TEST_CASE("five that start together agree on one charter") {
  test_world world;
  node bootstrap{world, 7, {}, role::bootstrap};
  std::vector<std::unique_ptr<applicant>> all;
  for (std::uint8_t number : {30, 10, 50, 20, 40})
    all.push_back(std::make_unique<applicant>(world, number,
                                              std::vector<std::uint8_t>{7}));
  REQUIRE(world.run_until(
      [&] {
        return std::all_of(all.begin(), all.end(),
                           [](auto& x) { return x->agreed(); });
      },
      30s));
  int founders = 0;
  for (auto& x : all) {
    CHECK(x->charter() == all.front()->charter());
    founders += x->founded();
  }
  CHECK(founders == 1);
}

TEST_CASE("a charter that the user did not want ends the joiner") {
  test_world world;
  applicant a{world, 1};
  world.run_for(1s);
  applicant b{world, 2, {1}, {{"target-batch", "512"}}};
  REQUIRE(world.run_until([&] { return b.observer->count<peer_over>() != 0; },
                          10s));
  auto over = b.observer->last<peer_over>();
  CHECK(over.users_mistake);
  CHECK(over.problem.find("target-batch is 512 here and 64 there")
        != std::string::npos);
  CHECK_FALSE(b.agreed());
  // Saying it once is enough.
  world.run_for(10s);
  CHECK(b.observer->count<peer_over>() == 1);
}

TEST_CASE("demands that the charter meets are no obstacle") {
  test_world world;
  applicant a{world, 1};
  world.run_for(1s);
  applicant b{world, 2, {1}, {{"target-batch", "64"}}};
  CHECK(world.run_until([&] { return b.agreed(); }, 10s));
}

TEST_CASE("when the founder dies while founding, another one founds") {
  test_world world;
  node bootstrap{world, 7, {}, role::bootstrap};
  // A founder that never ends founding: its registrar is a fake.
  node founder{world, 1, {7}};
  own_report founding;
  founding.report.phase = phase::founding;
  founding.urgent = true;
  caf::anon_send(founder.wired.roster, founding);
  applicant b{world, 2, {7}};
  REQUIRE(world.run_until([&] { return b.companions() == 2; }, 10s));
  world.run_for(20s);
  CHECK_FALSE(b.agreed());
  founder.crash();
  REQUIRE(world.run_until([&] { return b.agreed(); },
                          2 * limits::report_life + 5s));
  CHECK(b.founded());
}

TEST_CASE("who comes when the run is finished does not found it anew") {
  test_world world;
  node bootstrap{world, 7, {}, role::bootstrap};
  // One that gives its charter to nobody any more: its registrar is a fake.
  node a{world, 1, {7}};
  own_report last;
  last.report.charter = digest_of("x", 1);
  last.report.phase = phase::finished;
  last.urgent = true;
  caf::anon_send(a.wired.roster, last);
  world.run_for(1s);
  applicant c{world, 3, {7, 1}};
  REQUIRE(world.run_until([&] { return c.companions() == 2; }, 10s));
  world.run_for(1s);
  a.crash();
  REQUIRE(world.run_until([&] { return c.observer->count<peer_over>() != 0; },
                          2 * limits::report_life + 10s));
  auto over = c.observer->last<peer_over>();
  CHECK(over.users_mistake);
  CHECK(over.problem.find("has been finished") != std::string::npos);
  CHECK_FALSE(c.agreed());
  world.run_for(10s);
  CHECK(c.observer->count<peer_over>() == 1);
}

TEST_CASE("a proposal that fails ends the peer with its sentence") {
  test_world world;
  node n{world, 1};
  registrar_config c;
  c.self = n.id;
  c.run = "soup";
  c.propose = []() -> charter { throw std::runtime_error("No such file."); };
  c.mode = worker_mode::immediate;
  n.replace(&wiring::registrar, (*n.system).spawn(registrar, c));
  world.run_for(1s);
  CHECK(n.observer->last<peer_over>().problem == "No such file.");
  CHECK(n.parent->count<charter_agreed>() == 0);
}

TEST_CASE("a helper waits until somebody founds") {
  test_world world;
  applicant helper{world, 1, {}, {}, role::auxiliary};
  world.run_for(20s);
  CHECK_FALSE(helper.agreed());
  CHECK(helper.observer->count<peer_over>() == 0);
  applicant a{world, 2, {1}};
  CHECK(world.run_until([&] { return helper.agreed() && a.agreed(); }, 20s));
  CHECK(helper.charter() == a.charter());
}

TEST_CASE("a reply that is no charter of this run is refused") {
  test_world world;
  applicant b{world, 2, {1}};
  node liar{world, 1};
  own_report has_one;
  has_one.report.charter = digest_of("x", 1);
  has_one.urgent = true;
  REQUIRE(world.run_until([&] { return b.companions() == 1; }, 10s));
  caf::anon_send(liar.wired.roster, has_one);
  REQUIRE(world.run_until(
      [&] {
        return !liar.registrar->contents<charter_request, letter>().empty();
      },
      10s));
  run_settings other;
  other.run = "salad";
  auto bytes = std::make_shared<std::string>(charter{other, ""}.to_bytes());
  shared_bytes body{bytes, reinterpret_cast<const std::uint8_t*>(bytes->data()),
                    bytes->size()};
  caf::anon_send(liar.wired.gateway, parcel{peer(2), charter_reply{}, body});
  world.run_for(1s);
  CHECK_FALSE(b.agreed());
}

TEST_CASE("whoever asks for the charter again and again gets it once in a "
          "while") {
  test_world world;
  applicant a{world, 5};
  world.run_for(1s);
  REQUIRE(a.agreed());
  node asker{world, 2, {5}};
  REQUIRE(world.run_until([&] { return asker.companions() == 1; }, 10s));
  auto answers = [&] {
    return asker.registrar->contents<charter_reply, letter>().size();
  };
  for (int i = 0; i < 20; ++i)
    caf::anon_send(asker.wired.gateway,
                   parcel{peer(5), charter_request{0, "soup"}, {}});
  REQUIRE(world.run_until([&] { return answers() != 0; }, 10s));
  world.run_for(1s);
  CHECK(answers() == 1);
  world.run_for(answer_pauses::pause);
  caf::anon_send(asker.wired.gateway,
                 parcel{peer(5), charter_request{0, "soup"}, {}});
  CHECK(world.run_until([&] { return answers() == 2; }, 10s));
}
