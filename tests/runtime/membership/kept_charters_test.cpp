#include "runtime/membership/kept_charters.hpp"

#include <doctest/doctest.h>

#include "runtime/state/charter.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id peer(std::uint8_t number, std::uint8_t more = 0) {
  peer_id x;
  x.bytes[0] = number;
  x.bytes[1] = more;
  return x;
}

charter charter_of(const std::string& run, std::uint64_t seed = 1,
                   std::size_t bytes = 10) {
  run_settings s;
  s.run = run;
  s.seed = seed;
  return {s, std::string(bytes, 'x')};
}

bool has(const kept_charters::answer& x) {
  return x.what != nullptr;
}

} // namespace

TEST_CASE("a bootstrap asks whoever names a charter, and gives it to joiners") {
  kept_charters it;
  time_point now{1h};
  auto soup = charter_of("soup");
  CHECK(it.joined(peer(1), "soup", soup.digest(), now)
        == kept_charters::peers{peer(1)});
  CHECK(it.answered(peer(1), soup.to_bytes(), now) == "");
  CHECK(it.size() == 1);
  it.joined(peer(2), "soup", {}, now);
  auto answer = it.requested(peer(2), "soup", now);
  REQUIRE(has(answer));
  CHECK(*answer.what == soup.to_bytes());
  CHECK_FALSE(answer.again);
  // Not again at once, and not to those of other runs.
  answer = it.requested(peer(2), "soup", now + 1s);
  CHECK_FALSE(has(answer));
  CHECK(answer.again); // "None" would be a lie.
  CHECK(has(it.requested(peer(2), "soup", now + answer_pauses::pause)));
  it.joined(peer(3), "salad", {}, now);
  CHECK_FALSE(has(it.requested(peer(3), "soup", now)));
  CHECK_FALSE(has(it.requested(peer(4), "soup", now)));
  // The run is over for all that is known here.
  it.left(peer(1));
  CHECK(it.size() == 0);
  CHECK(it.total_bytes() == 0);
}

TEST_CASE("a founder that came before it founded is asked when somebody asks") {
  kept_charters it;
  time_point now{1h};
  auto soup = charter_of("soup");
  CHECK(it.joined(peer(1), "soup", {}, now).empty());
  it.joined(peer(2), "soup", {}, now);
  auto answer = it.requested(peer(2), "soup", now);
  CHECK_FALSE(has(answer));
  CHECK(answer.ask == kept_charters::peers{peer(1)});
  CHECK(it.answered(peer(1), "", now) == "");
  CHECK(it.requested(peer(2), "soup", now).ask.empty());
  now += 1s;
  CHECK(it.requested(peer(2), "soup", now).ask
        == kept_charters::peers{peer(1)});
  CHECK(it.answered(peer(1), soup.to_bytes(), now) == "");
  CHECK(has(it.requested(peer(2), "soup", now)));
}

TEST_CASE("what is not the run's charter is not kept") {
  kept_charters it;
  time_point now{1h};
  auto soup = charter_of("soup");
  it.joined(peer(1), "soup", soup.digest(), now);
  std::string wrong;
  SUBCASE("of another run") {
    wrong = charter_of("salad").to_bytes();
  }
  SUBCASE("not the one that was named") {
    wrong = charter_of("soup", 2).to_bytes();
  }
  SUBCASE("no charter") {
    wrong = "nonsense";
  }
  CHECK(it.answered(peer(1), wrong, now) != "");
  CHECK(it.size() == 0);
  // Nor what nobody asked for.
  CHECK(it.answered(peer(1), soup.to_bytes(), now) == "");
  it.answered(peer(2), soup.to_bytes(), now);
  CHECK(it.size() == 0);
}

TEST_CASE("the charter that most name is the run's") {
  kept_charters it;
  time_point now{1h};
  auto false_one = charter_of("soup", 2);
  auto soup = charter_of("soup");
  it.joined(peer(1), "soup", false_one.digest(), now);
  it.answered(peer(1), false_one.to_bytes(), now);
  for (std::uint8_t i : {2, 3})
    for (auto& id : it.joined(peer(i), "soup", soup.digest(), now))
      CHECK(it.answered(id, soup.to_bytes(), now) == "");
  it.joined(peer(4), "soup", {}, now);
  auto answer = it.requested(peer(4), "soup", now);
  REQUIRE(has(answer));
  CHECK(*answer.what == soup.to_bytes());
  // Others sent the bytes once, and do not any more.
  for (std::uint8_t i : {5, 6, 7})
    it.joined(peer(i), "soup", false_one.digest(), now);
  now += answer_pauses::pause;
  answer = it.requested(peer(4), "soup", now);
  CHECK_FALSE(has(answer));
  CHECK(answer.ask == kept_charters::peers{peer(1)});
  SUBCASE("one says so") {
    it.answered(peer(1), "", now);
  }
  SUBCASE("one says nothing") {
    now += kept_charters::patience;
  }
  answer = it.requested(peer(4), "soup", now);
  REQUIRE(has(answer));
  CHECK(*answer.what == soup.to_bytes());
}

TEST_CASE("no charter is withheld because strangers name another") {
  kept_charters it;
  time_point now{1h};
  auto soup = charter_of("soup");
  it.joined(peer(9), "soup", soup.digest(), now);
  CHECK(it.answered(peer(9), soup.to_bytes(), now) == "");
  for (std::uint8_t i = 1; i < 8; ++i) // They never answer.
    it.joined(peer(i), "soup", digest_of("x", 1), now);
  it.joined(peer(8), "soup", {}, now);
  CHECK(has(it.requested(peer(8), "soup", now)));
  // Nor is the only one that has it never asked.
  kept_charters other;
  for (std::uint8_t i = 1; i < 8; ++i)
    other.joined(peer(i), "soup", digest_of("x", 1), now);
  for (std::uint8_t i = 10; i < 20; ++i) // These always say no.
    other.joined(peer(i), "soup", {}, now);
  other.joined(peer(20), "soup", {}, now);
  other.joined(peer(8), "soup", {}, now);
  bool asked = false;
  for (int tries = 0; tries < 5 && !asked; ++tries) {
    for (auto& id : other.requested(peer(8), "soup", now += 1s).ask) {
      asked = asked || id == peer(20);
      other.answered(id, "", now);
    }
  }
  CHECK(asked);
}

TEST_CASE("strangers cannot fill more than the shelf") {
  kept_charters it;
  time_point now{1h};
  SUBCASE("by many runs") {
    for (std::uint8_t i = 0; i < 200; ++i) {
      auto c = charter_of("run" + std::to_string(i));
      it.joined(peer(1, i), c.settings().run, c.digest(), now += 1s);
      it.answered(peer(1, i), c.to_bytes(), now);
      CHECK(it.size() <= kept_charters::most_runs);
    }
    CHECK(it.size() == kept_charters::most_runs);
    // The one used longest ago is gone, and is asked for anew.
    it.joined(peer(2), "run0", {}, now);
    CHECK(it.requested(peer(2), "run0", now).ask.size() == 1);
  }
  SUBCASE("by large ones") {
    for (std::uint8_t i = 0; i < 8; ++i) {
      auto c = charter_of("run" + std::to_string(i), 1, 14u << 20);
      it.joined(peer(1, i), c.settings().run, c.digest(), now += 1s);
      it.answered(peer(1, i), c.to_bytes(), now);
      CHECK(it.total_bytes() <= kept_charters::most_bytes);
    }
    CHECK(it.size() == 4);
  }
}
