#include "runtime/dht/notary.hpp"

#include <doctest/doctest.h>

#include "runtime/dht/swarm_clock.hpp"
#include "runtime/random.hpp"
#include "tests/runtime/dht/sealed_records.hpp"

using namespace potluck;
using namespace potluck::sealed;
using namespace std::chrono_literals;

using verdict = notary::verdict;

namespace {

constexpr std::uint64_t now_ms = 1'800'000'000'000;
constexpr time_point now{1000s};

notary reader() {
  notary x{made_up(peer(9))};
  x.clocks(now_ms, now_ms);
  return x;
}

/// In a network of its own.
contact at(std::uint8_t number) {
  return {peer(number), {"11.0." + std::to_string(number) + ".1", 7000}};
}

std::optional<std::uint64_t> nothing(const record_key&, const std::string&) {
  return std::nullopt;
}

std::size_t read(notary& x, std::uint8_t from, std::vector<dht_record> said,
                 time_point at = now) {
  return x.read(peer(from), std::move(said), nothing, at).size();
}

dht_record fresh(std::uint8_t who) {
  return report_of(peer(who), now_ms);
}

} // namespace

TEST_CASE("a record that its owner has sealed counts, and names its owner") {
  auto x = reader();
  auto said = fresh(1);
  said.subkey = "somebody"; // Not on the wire.
  auto read = x.read(peer(2), {said}, nothing, now);
  REQUIRE(read.size() == 1);
  CHECK(read[0].subkey == subkey_of(peer(1)));
}

TEST_CASE("what is not its owner's word is judged so") {
  auto x = reader();
  auto said = fresh(1);
  auto expected = verdict::forged;
  SUBCASE("another value") {
    progress_report other;
    other.id = peer(1);
    other.phase = phase::finished;
    said.value = encode_progress(other);
  }
  SUBCASE("under another key") {
    said.key = key_of("run/stew");
  }
  SUBCASE("with a higher number") {
    ++said.seal.number;
  }
  SUBCASE("of another kind") {
    said.kind = record_kind::bootstrap;
    expected = verdict::ill_typed; // Its peer is none.
  }
  SUBCASE("by another peer about this one") {
    said.seal.signer = made_up(peer(3))->key();
    expected = verdict::ill_typed;
  }
  SUBCASE("garbage, well sealed") {
    said.value = "garbage";
    expected = verdict::ill_typed;
  }
  SUBCASE("too large") {
    said.value.resize(rule_of(said.kind)->most_bytes + 1);
    expected = verdict::ill_typed;
  }
  SUBCASE("for longer than its kind lives") {
    said.seal.life_ms = 15'001;
    expected = verdict::ill_typed;
  }
  SUBCASE("for longer than it was sealed for") {
    said.lives_ms = said.seal.life_ms + 1;
    expected = verdict::ill_typed;
  }
  SUBCASE("long ago") {
    said = report_of(peer(1), now_ms - 15'001 - notary::tolerance_ms);
    expected = verdict::expired;
  }
  SUBCASE("in times to come") {
    said = report_of(peer(1), now_ms + 1 + notary::tolerance_ms);
    expected = verdict::early;
  }
  CHECK(x.judge(said) == expected);
  CHECK(read(x, 2, {said}) == 0);
}

TEST_CASE("nobody seals what is against the rules, or without a key") {
  notary none{nullptr};
  auto said = fresh(1);
  CHECK_FALSE(none.seal(said));
  CHECK(read(none, 2, {said}) == 0);
  auto x = reader();
  CHECK_FALSE(x.seal(said)); // It speaks for somebody else.
}

TEST_CASE("every seal has a higher number, though the clock is set back") {
  notary x{made_up(peer(1))};
  x.clocks(now_ms, now_ms);
  auto said = fresh(1);
  REQUIRE(x.seal(said));
  const auto first = said.seal.number;
  x.clocks(now_ms - 60'000, now_ms - 60'000);
  REQUIRE(x.seal(said));
  CHECK(said.seal.number > first);
}

TEST_CASE("what is known already costs no arithmetic, even from a flood") {
  auto x = reader();
  const auto old = fresh(1);
  const auto known = [](const record_key&, const std::string&) {
    return std::optional<std::uint64_t>{now_ms + 1};
  };
  for (int i = 0; i < 10'000; ++i)
    CHECK(x.read(peer(2), {old}, known, now).empty()); // Replayed.
  CHECK(read(x, 2, {fresh(3)}) == 1);
}

TEST_CASE("who passes a forgery on is not read for a while, others are") {
  auto x = reader();
  auto forged = fresh(1);
  ++forged.seal.number;
  CHECK(read(x, 2, {fresh(3), forged, fresh(4)}) == 1);
  CHECK(x.forgeries() == 1);
  CHECK(read(x, 2, {fresh(4)}, now + 1s) == 0);
  CHECK(read(x, 3, {fresh(4)}, now + 1s) == 1);
  CHECK(read(x, 2, {fresh(4)}, now + notary::shunned_for) == 1);
}

TEST_CASE("a sender's checks are bounded, and those of all") {
  auto x = reader();
  std::vector<dht_record> many;
  for (std::size_t i = 0; i < 2 * notary::checks_at_once; ++i) {
    auto id = peer(1);
    id.bytes[1] = static_cast<std::uint8_t>(i);
    id.bytes[2] = static_cast<std::uint8_t>(i >> 8);
    many.push_back(report_of(id, now_ms));
  }
  CHECK(read(x, 2, many) == notary::checks_at_once);
  CHECK(read(x, 2, many, now + 1s) == notary::checks_a_second);
  CHECK(read(x, 3, {fresh(1)}) == 1); // Somebody else is read meanwhile.
  std::size_t all = 0;
  for (std::uint8_t from = 10; from < 60; ++from)
    all += read(x, from, many, now + 1s);
  CHECK(all <= notary::all_checks_at_once + notary::all_checks_a_second);
}

TEST_CASE("a clock that is hours off is set by those that were called") {
  swarm_clock mine;
  CHECK(mine.ahead_ms() == 0);
  mine.says(at(1), 7'200'000, true);
  CHECK(mine.ahead_ms() == 7'200'000);
  mine.says(at(2), 100, true);
  mine.says(at(3), 300, true);
  CHECK(mine.ahead_ms() == 300);
  mine.says(at(4), 1'000 * swarm_clock::farthest_ms, true); // No clock.
  CHECK(mine.ahead_ms() == 300);
  mine.left(peer(3));
  mine.left(peer(1));
  CHECK(mine.ahead_ms() == 100);

  // Its own clock says two hours too early: it believes, and is believed.
  notary x{made_up(peer(9))};
  x.clocks(now_ms - 7'200'000, now_ms);
  CHECK(read(x, 2, {fresh(1)}) == 1);
  progress_report said;
  said.id = peer(9);
  dht_record own{key_of("run/soup"), "", encode_progress(said), 15'000,
                 record_kind::progress};
  REQUIRE(x.seal(own));
  CHECK(reader().judge(own) == verdict::sound);
}

TEST_CASE("callers set the clock of who has called nobody, a network a voice") {
  swarm_clock mine;
  for (std::uint8_t i = 1; i < swarm_clock::fewest_strangers; ++i)
    mine.says(at(i), 600'000 + i, false);
  CHECK(mine.ahead_ms() == 0); // Too few.
  for (std::uint8_t i = 20; i < 40; ++i) {
    auto crowd = at(1); // Of one network,
    crowd.id = peer(i);
    mine.says(crowd, 3'000'000, false);
    mine.says(at(i), 9'000'000, false); // or no clock.
  }
  CHECK(mine.ahead_ms() == 0);
  mine.says(at(9), 600'000, false);
  CHECK(mine.ahead_ms() == 600'002);
  mine.says(at(10), -5, true);
  CHECK(mine.ahead_ms() == -5);
  mine.left(peer(10));
  mine.says(at(1), 1, true); // It was a caller.
  mine.left(peer(1));
  CHECK(mine.ahead_ms() == 0);
}

TEST_CASE("peers whose clocks are ten minutes off and others read each other") {
  random_stream random{5};
  std::vector<std::int64_t> off;
  for (int i = 0; i < 20; ++i) // Each fourth one.
    off.push_back(i % 4 == 0 ? (i % 8 == 0 ? 600'000 : -600'000)
                             : static_cast<std::int64_t>(random.below(2'000)));
  std::vector<notary> all;
  std::vector<dht_record> said;
  for (std::uint8_t i = 0; i < 20; ++i) {
    swarm_clock swarm;
    for (int n = 0; n < 11; ++n) {
      const auto other = static_cast<std::uint8_t>(random.below(20));
      if (other != i)
        swarm.says(at(other), off[other] - off[i], true);
    }
    const auto own = now_ms + static_cast<std::uint64_t>(off[i]);
    all.emplace_back(made_up(peer(i)));
    all.back().clocks(own, own + static_cast<std::uint64_t>(swarm.ahead_ms()));
    progress_report x;
    x.id = peer(i);
    said.push_back({key_of("run/soup"), "", encode_progress(x), 15'000,
                    record_kind::progress});
    REQUIRE(all.back().seal(said.back()));
  }
  std::size_t sound = 0;
  for (auto& reader : all)
    for (auto x : said)
      sound += reader.judge(x) == verdict::sound;
  CHECK(sound == 400);
}

TEST_CASE(
    "a peer that believed a wrong clock is believed when it is put right") {
  notary x{made_up(peer(1))};
  x.clocks(now_ms, now_ms + 36'000'000);
  dht_record said = fresh(1);
  REQUIRE(x.seal(said));
  CHECK(reader().judge(said) == verdict::early);
  x.clocks(now_ms, now_ms);
  REQUIRE(x.seal(said));
  CHECK(reader().judge(said) == verdict::sound);
  // By seconds, its words still count on.
  const auto last = said.seal.number;
  x.clocks(now_ms - 60'000, now_ms - 60'000);
  REQUIRE(x.seal(said));
  CHECK(said.seal.number == last + 1);
}

TEST_CASE("strangers' clocks do not make honest words old") {
  notary x{made_up(peer(9))};
  x.clocks(now_ms, now_ms + 7'200'000);
  CHECK(read(x, 2, {fresh(1)}) == 1);
}

TEST_CASE("every kind has a rule that holds its owner to its own name") {
  const expert_announcement hosted{{peer(1), {"10.0.0.1", 7000}}, 3, 4, 5};
  const expert_host_notice alive{{peer(1), {"10.0.0.1", 7000}}, {}, 2};
  progress_report bootstrap;
  bootstrap.id = peer(1);
  bootstrap.role = role::bootstrap;
  auto notice = alive;
  notice.kind.bytes[0] = 1;
  const std::pair<record_kind, std::string> all[] = {
      {record_kind::progress, fresh(1).value},
      {record_kind::bootstrap, encode_progress(bootstrap)},
      {record_kind::expert_host, encode_announcement(hosted)},
      {record_kind::replica, encode_announcement(hosted)},
      {record_kind::host_notice, encode_notice(notice)},
  };
  for (const auto& [kind, value] : all) {
    const auto shown = static_cast<int>(kind);
    CAPTURE(shown);
    dht_record x{key_of("k"), "", value, 1000, kind};
    x.seal.life_ms = 1000;
    CHECK(problem_with(x, peer(1)) == "");
    CHECK(problem_with(x, peer(2)) != "");
    x.value = "garbage";
    CHECK(problem_with(x, peer(1)) != "");
  }
  dht_record x{key_of("k"), "", "\x01\x02\xff", 1000, record_kind::coordinates};
  x.seal.life_ms = 1000;
  CHECK(problem_with(x, peer(1)) == "");
  x.value = "\x02\x01";
  CHECK(problem_with(x, peer(1)) != "");
  x.kind = record_kind::none;
  CHECK(problem_with(x, peer(1)) != "");
}
