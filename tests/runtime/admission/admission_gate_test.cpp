#include "runtime/admission/admission_gate.hpp"

#include <doctest/doctest.h>

#include "tests/runtime/admission/parties.hpp"

using namespace potluck;

namespace {

using standing = admission_gate::standing;

struct scene {
  parties all;
  std::uint64_t now = noon_ms;
  admission_gate gate{all.bob.id(), run_key("poems", all.at.run), all.bob.signs,
                      [this] { return now; }};
};

} // namespace

TEST_CASE("until a run's rules are known, and where it is open, all are in") {
  scene s;
  CHECK(s.gate.of(s.all.ann.id()) == standing::open);
  CHECK(s.gate.show(s.all.ann.id(), "nonsense") == "");
  CHECK(s.gate.is_inside());
  s.gate.lay_down({});
  CHECK(s.gate.of(s.all.ann.id()) == standing::open);
  CHECK(s.gate.show(s.all.ann.id(), "nonsense") == "");
  CHECK(s.gate.refused() == 0);
}

TEST_CASE("what was shown before the rules were known counts from then on") {
  scene s;
  CHECK(s.gate.show(s.all.ann.id(), to_bytes(s.all.token(s.all.ann))) == "");
  s.gate.show(s.all.stranger.id(), to_bytes(s.all.token(s.all.ann)));
  s.gate.lay_down(s.all.at.rules);
  CHECK(s.gate.of(s.all.ann.id()) == standing::inside);
  CHECK(s.gate.of(s.all.stranger.id()) == standing::outside);
  CHECK(s.gate.sentence_for(s.all.stranger.id()).find("another peer's key")
        != std::string::npos);
}

TEST_CASE(
    "an amendment closes a run to those without admission, and opens it") {
  scene s;
  s.gate.lay_down(s.all.at.rules);
  const auto ann = s.all.ann.id();
  s.gate.amend(admission_rules::mode::open);
  CHECK(s.gate.of(ann) == standing::open);
  CHECK(s.gate.show(ann, to_bytes(s.all.token(s.all.ann))) == "");
  CHECK(s.gate.show(s.all.stranger.id(), "") == "");
  s.gate.amend(admission_rules::mode::token);
  CHECK(s.gate.of(ann) == standing::inside);
  CHECK(s.gate.of(s.all.stranger.id()) == standing::outside);
}

TEST_CASE("a hub passes on for those of its runs that these have admitted") {
  scene s;
  const auto poems = run_key("poems", s.all.at.run);
  const auto ann = s.all.ann.id();
  admission_gate hub{s.all.stranger.id(), "", s.all.stranger.signs,
                     [&] { return s.now; }};
  CHECK(hub.passes(ann, poems));
  SUBCASE("of nothing but closed runs") {
    hub.passes_for({{poems, {s.all.at.rules}}});
    CHECK_FALSE(hub.passes(ann, poems));
    hub.show(ann, to_bytes(s.all.token(s.all.ann)));
    CHECK(hub.passes(ann, poems));
    CHECK_FALSE(hub.passes(s.all.bob.id(), poems));
    CHECK_FALSE(hub.passes(s.all.bob.id(), "trial"));
    s.now += 2 * hour_ms;
    CHECK_FALSE(hub.passes(ann, poems));
  }
  SUBCASE("of open ones, too") {
    hub.passes_for({{poems, {s.all.at.rules}}, {"trial", {}}});
    CHECK_FALSE(hub.passes(ann, poems));
    CHECK(hub.passes(ann, "trial"));
    CHECK(hub.passes(ann, "another"));
    hub.show(ann, to_bytes(s.all.token(s.all.ann)));
    CHECK(hub.passes(ann, poems));
    hub.left(ann);
    CHECK_FALSE(hub.passes(ann, poems));
  }
}

TEST_CASE("a run without an authority stays open, whatever is amended") {
  scene s;
  s.gate.lay_down({});
  s.gate.amend(admission_rules::mode::list);
  CHECK(s.gate.of(s.all.ann.id()) == standing::open);
  CHECK(s.gate.is_inside());
}

TEST_CASE("organisers' tokens count from when their keys are known") {
  scene s;
  s.gate.lay_down(s.all.at.rules);
  const auto ann = s.all.ann.id();
  const auto token
      = to_bytes(issue({s.all.at.run, ann, noon_ms, noon_ms + hour_ms, {}, {}},
                       *s.all.stranger.signs));
  CHECK(s.gate.show(ann, token) != "");
  CHECK(s.gate.of(ann) == standing::outside);
  s.gate.organisers_are({s.all.stranger.signs->key()});
  CHECK(s.gate.of(ann) == standing::inside);
}

TEST_CASE("a guest is out at the moment when its admission ends") {
  scene s;
  s.gate.lay_down(s.all.at.rules);
  const auto ann = s.all.ann.id();
  CHECK(s.gate.of(ann) == standing::outside);
  CHECK(s.gate.show(ann, to_bytes(s.all.token(s.all.ann))) == "");
  s.now += hour_ms + 3 * minute_ms;
  CHECK(s.gate.of(ann) == standing::inside);
  ++s.now;
  CHECK(s.gate.of(ann) == standing::outside);
  CHECK(s.gate.sentence_for(ann).find("expired") != std::string::npos);
  CHECK(s.gate.show(ann, to_bytes(s.all.token(s.all.ann, s.now))) == "");
  CHECK(s.gate.of(ann) == standing::inside);
  s.gate.left(ann);
  CHECK(s.gate.of(ann) == standing::outside);
}

TEST_CASE("nonsense does not undo what was good, and is counted") {
  scene s;
  s.gate.lay_down(s.all.at.rules);
  const auto ann = s.all.ann.id();
  REQUIRE(s.gate.show(ann, to_bytes(s.all.token(s.all.ann))) == "");
  CHECK(s.gate.show(ann, "\x1b[2J\u202e") != "");
  CHECK(s.gate.show(ann, to_bytes(s.all.token(s.all.stranger))) != "");
  CHECK(s.gate.refused() == 2);
  CHECK(s.gate.of(ann) == standing::inside);
}

TEST_CASE("whoever is banned is out, whatever it shows") {
  scene s;
  s.gate.lay_down(s.all.at.rules);
  const auto ann = s.all.ann.id();
  s.gate.show(ann, to_bytes(s.all.token(s.all.ann)));
  s.gate.ban(ann);
  CHECK(s.gate.of(ann) == standing::outside);
  CHECK(s.gate.sentence_for(ann).find("is banned") != std::string::npos);
  s.gate.show(ann, to_bytes(s.all.token(s.all.ann)));
  CHECK(s.gate.of(ann) == standing::outside);
}

TEST_CASE("whom a banned peer vouches for is out") {
  scene s;
  s.gate.lay_down(s.all.at.rules);
  const auto& all = s.all;
  const auto ann = all.ann.id();
  const auto voucher
      = to_bytes(all.voucher(all.stranger, all.token(all.stranger), all.ann));
  CHECK(s.gate.show(ann, voucher) == "");
  CHECK(s.gate.of(ann) == standing::inside);
  s.gate.ban(all.stranger.id());
  CHECK(s.gate.of(ann) == standing::outside);
  CHECK(s.gate.show(ann, voucher) == "is a voucher of a banned peer");
  CHECK(s.gate.show(ann, to_bytes(all.token(all.ann))) == "");
  CHECK(s.gate.of(ann) == standing::inside);
}

TEST_CASE("a peer whose clock is hours off goes by those that it has chosen") {
  scene s;
  s.gate.lay_down(s.all.at.rules);
  s.now = noon_ms - 5 * hour_ms;
  const auto token = to_bytes(s.all.token(s.all.ann));
  CHECK(s.gate.show(s.all.ann.id(), token).find("future") != std::string::npos);
  s.gate.clock_is_behind(static_cast<std::int64_t>(5 * hour_ms));
  CHECK(s.gate.show(s.all.ann.id(), token) == "");
}

TEST_CASE("a peer shows what lets it in, and nothing else") {
  scene s;
  const auto own = to_bytes(s.all.token(s.all.bob));
  CHECK(s.gate.take("nonsense") != "");
  CHECK(s.gate.take(to_bytes(s.all.token(s.all.ann))) != "");
  CHECK(s.gate.take(to_bytes(s.all.token(s.all.bob, noon_ms - 3 * hour_ms)))
        != "");
  SUBCASE("of the run's authority") {
    CHECK(s.gate.take(own) == "");
    s.gate.lay_down(s.all.at.rules);
    CHECK(s.gate.is_inside());
    CHECK(s.gate.own() == own);
    CHECK(s.gate.own_left() == std::chrono::hours{1});
    s.now += 2 * hour_ms;
    CHECK_FALSE(s.gate.is_inside());
  }
  SUBCASE("of one that the manifest does not name") {
    const auto other = to_bytes(
        issue({s.all.at.run, s.all.bob.id(), noon_ms, noon_ms + hour_ms, {}},
              *s.all.stranger.signs));
    CHECK(s.gate.take(other) == "");
    s.gate.lay_down(s.all.at.rules);
    CHECK(s.gate.own() == "");
    CHECK_FALSE(s.gate.is_inside());
    CHECK(s.gate.take(other) != "");
    CHECK(s.gate.take(own) == "");
    CHECK(s.gate.is_inside());
  }
}
