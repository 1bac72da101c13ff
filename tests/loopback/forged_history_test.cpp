/// An unmodified peer that resumes a forged checkpoint: random parameters, and
/// a billion samples more than anybody has.

#include "tests/loopback/scene.hpp"

#include <csignal>
#include <random>

#include <doctest/doctest.h>

#include "runtime/state/checkpoint.hpp"

using namespace potluck::loopback;
using potluck::load_checkpoint;
using potluck::save_checkpoint;

namespace {

constexpr std::uint64_t steps = 1'000'000;

/// Three that train together, each with a checkpoint every five steps.
struct honest_three {
  honest_three()
      : settings(tiny_run(128, steps) + words{"--checkpoint-every", "5"}),
        a(s.join("a", settings)),
        b(s.join("b", words{"--peer", a.address()} + settings)),
        c(s.join("c", words{"--peer", a.address()} + settings)) {
    for (auto p : all())
      p->await("checkpoint");
    check_agree(a, b, 3);
    check_agree(a, c, 3);
  }
  std::vector<peer*> all() {
    return {&a, &b, &c};
  }
  /// Their newest checkpoint, with other contents.
  std::string forged(std::uint64_t step) {
    auto lie = load_checkpoint(s.path("a/potluck.checkpoint"));
    REQUIRE(static_cast<bool>(lie));
    std::mt19937 random{1};
    for (auto& x : lie->state.parameters)
      x = static_cast<float>(random() % 1000) / 500 - 1;
    lie->state.history_samples += 1'000'000'000;
    if (step > 0)
      lie->state.step = step;
    lie->state.recent.clear();
    potluck::remember_digest(lie->state);
    lied = to_string(digest_of_state(lie->state));
    const auto path = s.path("forged.checkpoint");
    REQUIRE(static_cast<bool>(save_checkpoint(path, lie->charter, lie->state)));
    return path;
  }
  /// They make some more steps, and all that they have is theirs.
  void check_unmoved() {
    std::map<peer*, std::size_t> lines;
    for (auto p : all()) {
      lines[p] = p->log.lines().size();
      p->await_step(p->last_step() + 12);
    }
    for (auto p : {&b, &c})
      check_agree(a, *p, 5, lines[p]);
    for (auto p : all()) {
      CHECK(p->process.running());
      CHECK(p->log.named("island").empty());
      CHECK(p->log.named("finished").empty());
      for (auto& x : p->log.named("state_download"))
        CHECK(x.at("digest") != lied);
    }
    for (auto name : {"a", "b", "c"}) {
      auto saved
          = load_checkpoint(s.path(std::string{name} + "/potluck.checkpoint"));
      REQUIRE(static_cast<bool>(saved));
      CHECK(saved->state.step < steps);
      CHECK(saved->state.history_samples < 1'000'000'000);
      auto digests = a.digests();
      if (digests.count(saved->state.step))
        CHECK(to_string(digest_of_state(saved->state))
              == digests.at(saved->state.step));
    }
  }

  scene s;
  words settings;
  peer& a;
  peer& b;
  peer& c;
  std::string lied;
};

} // namespace

TEST_CASE("a forged checkpoint with more samples moves nobody, and its peer "
          "joins the others") {
  honest_three x;
  auto& liar
      = x.s.join("liar", {"--peer", x.a.address(), "--peer", x.b.address(),
                          "--peer", x.c.address(), "--resume", x.forged(0)});
  liar.await("join");
  x.check_unmoved();
  // Unmodified, it goes with most, too.
  check_agree(x.a, liar, 3);
}

TEST_CASE("a forged end of the run ends it for nobody") {
  honest_three x;
  const words members{"--peer",      x.a.address(), "--peer",
                      x.b.address(), "--peer",      x.c.address()};
  // A trial that is over goes on by other settings only.
  auto& late = x.s.join("late", members + words{"--resume", x.forged(steps)});
  auto end = late.process.wait(run_patience);
  REQUIRE(end);
  CHECK(end->status == 2);
  CHECK(late.process.output().find("the end of run") != std::string::npos);
  auto& liar
      = x.s.join("liar", members + words{"--resume", x.forged(steps - 1)});
  liar.await("join");
  x.check_unmoved();
  // Nor for who comes later and sees all of them.
  auto& guest = x.s.join(
      "guest", words{"--peer", x.a.address(), "--peer", liar.address()}
                   + words{"--checkpoint-every", "5"});
  check_agree(x.a, guest, 3);
  CHECK(guest.log.named("finished").empty());
  x.check_unmoved();
}

TEST_CASE("a newcomer goes by the peer that its invitation names, though it "
          "meets five liars first") {
  honest_three x;
  // They are bound to each other by now, so five do not lead them away.
  const double together = x.c.await("step").at("time");
  for (auto p : x.all())
    REQUIRE_FALSE(p->log
                      .await(
                          [&](const nlohmann::json& e) {
                            return e.at("event") == "step"
                                   && e.at("time") > together + 16;
                          },
                          run_patience)
                      .is_null());
  const auto lie = x.forged(0);
  words liars;
  for (int i = 1; i <= 5; ++i) {
    auto& liar
        = x.s.join("liar" + std::to_string(i), liars + words{"--resume", lie});
    liars = liars + words{"--peer", liar.address()};
  }
  auto& guest = x.s.join(
      "guest", liars + words{"--peer", x.a.id() + "@" + x.a.address()});
  guest.await("history");
  check_agree(x.a, guest, 3);
  for (auto& download : guest.log.named("state_download"))
    CHECK(download.at("digest") != x.lied);
  x.check_unmoved();
}
