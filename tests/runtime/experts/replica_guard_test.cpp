#include "runtime/experts/expert_records.hpp"
#include "runtime/experts/replica_guard.hpp"

#include <doctest/doctest.h>

#include "messages/limits.hpp"
#include "runtime/experts/replica_intake.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id peer(std::uint8_t number) {
  peer_id x;
  x.bytes[31] = number;
  return x;
}

contact who(std::uint8_t number) {
  return {peer(number), {"10.0.0." + std::to_string(number), 1000}};
}

digest sum(std::uint8_t number) {
  digest x;
  x.bytes[0] = number;
  return x;
}

replica_offer offer(const std::string& uid, std::uint8_t owner,
                    std::uint64_t bytes = 100) {
  replica_offer x;
  x.uid = uid;
  x.version = 7;
  x.bytes = bytes;
  x.sum = sum(1);
  x.kind = sum(9);
  x.owner = who(owner);
  return x;
}

template <class Action>
const Action* find(const replica_guard::actions& all) {
  for (auto& x : all)
    if (auto result = std::get_if<Action>(&x))
      return result;
  return nullptr;
}

using outcome = replica_standing;

/// Guard 5 with room for one.
struct guard {
  guard() {
    all.reachable({"10.0.0.5", 1000});
  }

  outcome offered(const replica_offer& x, std::uint8_t from) {
    auto said = all.offered(peer(from), x, now);
    auto reply = find<replica_guard::answer>(said);
    REQUIRE(reply);
    CHECK(reply->to == peer(from));
    CHECK(reply->what.uid == x.uid);
    return reply->what.standing;
  }
  replica_guard::actions chunk(const std::string& uid, std::uint8_t from,
                               std::uint64_t offset, std::size_t size) {
    bytes.resize(size);
    return all.chunk(peer(from), {uid, 1, 7, offset},
                     {nullptr, bytes.data(), size}, now);
  }
  /// Takes a replica in.
  replica_guard::actions keep(const replica_offer& x) {
    auto from = x.owner.id.bytes[31];
    REQUIRE(offered(x, from) == outcome::wanted);
    auto whole = chunk(x.uid, from, 0, x.bytes);
    auto store = find<replica_guard::store>(whole);
    REQUIRE(store);
    CHECK(store->bytes->size() == x.bytes);
    return all.written(store->what, store->from, true, now);
  }
  /// The owner's lease is missed, and nobody else has the expert.
  replica_guard::actions orphan(std::uint8_t owner) {
    for (unsigned i = 0; i < limits::expert_lease_misses; ++i)
      all.lease(peer(owner), false, false, now);
    auto questions = all.questions(now, 9);
    REQUIRE(questions.size() == 1);
    return all.found(questions[0], {}, {}, now);
  }

  replica_guard all{peer(5), sum(9), 1};
  std::vector<std::uint8_t> bytes;
  time_point now{1h};
};

} // namespace

TEST_CASE("a replica is no longer than several of this host's own experts") {
  guard g;
  CHECK(g.offered(offer("ffn.1", 2, max_replica_bytes), 2) == outcome::refused);
  constexpr auto first = limits::first_replica_bytes;
  CHECK(g.offered(offer("ffn.1", 2, first + 1), 2) == outcome::refused);
  g.all.own_bytes(first);
  const auto most = limits::replica_slack * first;
  CHECK(g.offered(offer("ffn.1", 2, most + 1), 2) == outcome::refused);
  // However many offer theirs, so much is on its way at a time.
  for (std::uint8_t i = 1; i <= limits::replicas_on_their_way; ++i)
    CHECK(g.offered(offer("ffn." + std::to_string(i), i, most), i)
          == outcome::wanted);
  CHECK(g.offered(offer("ffn.9", 4, most), 4) == outcome::refused);
}

TEST_CASE("a replica arrives by windows, is kept and announced") {
  guard g;
  auto x = offer("ffn.1", 2, replica_window_bytes + 10);
  REQUIRE(g.offered(x, 2) == outcome::wanted);
  auto next = g.chunk("ffn.1", 2, 0, replica_window_bytes);
  auto more = find<replica_guard::answer>(next);
  REQUIRE(more);
  CHECK(more->what.offset == replica_window_bytes);
  CHECK(more->what.length == 10);
  CHECK(g.chunk("ffn.1", 2, 5, 10).empty()); // Not asked for.
  CHECK(g.chunk("ffn.1", 3, replica_window_bytes, 10).empty()); // Not its own.
  auto whole = g.chunk("ffn.1", 2, replica_window_bytes, 10);
  auto store = find<replica_guard::store>(whole);
  REQUIRE(store);
  auto said = g.all.written(store->what, store->from, true, g.now);
  CHECK(find<replica_guard::answer>(said)->what.standing == outcome::held);
  auto due = g.all.due(g.now);
  auto record = find<replica_guard::publish>(due);
  REQUIRE(record);
  CHECK(record->uid == "ffn.1");
  CHECK(record->what.host.id == peer(5));
  CHECK(record->what.version == 7);
  CHECK(g.all.due(g.now).empty());
  CHECK(g.all.due(g.now + limits::announcement_renewal).size() == 1);
  CHECK(g.offered(x, 2) == outcome::held);
}

TEST_CASE("a replica that is not good on the shelf is refused, and may come "
          "again") {
  guard g;
  auto x = offer("ffn.1", 2);
  REQUIRE(g.offered(x, 2) == outcome::wanted);
  g.chunk("ffn.1", 2, 0, 100);
  auto said = g.all.written(x, peer(2), false, g.now);
  CHECK(find<replica_guard::answer>(said)->what.standing == outcome::refused);
  CHECK(g.all.due(g.now).empty());
  CHECK(g.offered(x, 2) == outcome::wanted);
}

TEST_CASE(
    "what is offered must be the sender's, to be dialled, and well named") {
  guard g;
  CHECK(g.offered(offer("ffn.1", 2), 3) == outcome::refused);
  CHECK(g.offered(offer("no uid", 2), 2) == outcome::refused);
  auto x = offer("ffn.1", 2);
  x.owner.where = {};
  CHECK(g.offered(x, 2) == outcome::refused);
  CHECK(g.offered(offer("ffn.1", 2), 2) == outcome::wanted);
  // Whoever else offers the same meanwhile, under its own name.
  CHECK(g.offered(offer("ffn.1", 3), 3) == outcome::refused);
  CHECK(g.offered(offer("ffn.1", 2), 2) == outcome::wanted); // Begun anew.
}

TEST_CASE("what this host serves by right is not kept for another") {
  guard g;
  g.all.serves("ffn.1", 2, 9, false, g.now);
  CHECK(g.offered(offer("ffn.1", 2), 2) == outcome::refused);
  auto newer = offer("ffn.1", 2);
  newer.term = 3;
  CHECK(g.offered(newer, 2) == outcome::wanted);
}

TEST_CASE("what has no next term is not taken, since it could not be served") {
  guard x;
  auto last = offer("ffn.0.1", 2);
  last.term = max_term;
  CHECK(x.offered(last, 2) == outcome::refused);
  last.hand_over = true;
  CHECK(x.offered(last, 2) == outcome::refused);
  last.term = max_term - 1;
  CHECK(x.offered(last, 2) == outcome::wanted);
}

TEST_CASE("few replicas arrive at once, and those that stand still end") {
  guard g{};
  replica_guard many{peer(5), sum(9), 100};
  g.all = many;
  const auto of_a_home = limits::replicas_of_a_home_at_once;
  for (std::uint8_t from : {2, 3})
    for (std::size_t i = 0; i < of_a_home; ++i)
      CHECK(g.offered(offer("ffn." + std::to_string(from * 10 + i), from), from)
            == outcome::wanted);
  CHECK(g.offered(offer("ffn.99", 4), 4) == outcome::refused);
  SUBCASE("in time") {
    g.now += limits::replica_patience;
    g.all.due(g.now);
  }
  SUBCASE("with their connection") {
    g.all.lost(peer(2));
  }
  CHECK(g.offered(offer("ffn.99", 4), 4) == outcome::wanted);
}

TEST_CASE("one home takes half of the ways in, whatever keys it makes") {
  guard g{};
  g.all = replica_guard{peer(5), sum(9), 100};
  for (std::uint8_t i = 0; i < limits::replicas_of_a_home_at_once; ++i) {
    g.all.joined(peer(10 + i), "192.0.2.7");
    CHECK(g.offered(offer("ffn." + std::to_string(i), 10 + i), 10 + i)
          == outcome::wanted);
  }
  g.all.joined(peer(30), "192.0.2.7");
  CHECK(g.offered(offer("ffn.30", 30), 30) == outcome::refused);
  CHECK(g.offered(offer("ffn.31", 31), 31) == outcome::wanted);
}

TEST_CASE("the places of a home that has most are for those that have fewer") {
  guard g{};
  for (std::uint8_t i = 0; i < limits::replicas_per_spare; ++i) {
    g.all.joined(peer(10 + i), "192.0.2.7");
    g.keep(offer("ffn." + std::to_string(i), 10 + i));
    g.now += 1s;
  }
  g.all.joined(peer(30), "192.0.2.7");
  CHECK(g.offered(offer("ffn.30", 30), 30) == outcome::refused);
  // The one that was offered longest ago goes, and its file with it.
  const auto said = g.keep(offer("ffn.31", 31));
  const auto gone = find<replica_guard::forget_replica>(said);
  REQUIRE(gone);
  CHECK(gone->uid == "ffn.0");
  const auto held = find<replica_guard::answer>(said);
  REQUIRE(held);
  CHECK(held->what.standing == replica_standing::held);
  CHECK(g.offered(offer("ffn.1", 11), 11) == outcome::held);
  CHECK(g.offered(offer("ffn.0", 10), 10) == outcome::refused);
}

TEST_CASE("an orphan is claimed, moved, served, and announced no more") {
  guard g;
  g.keep(offer("ffn.1", 2));
  auto begun = g.orphan(2);
  auto claim = find<replica_guard::publish>(begun);
  REQUIRE(claim);
  CHECK(claim->what.term == 2);
  auto move = find<replica_guard::move_replica>(begun);
  REQUIRE(move);
  CHECK(move->uid == "ffn.1");
  CHECK(move->term == 2);
  CHECK(g.all.room() == 0);
  CHECK(g.offered(offer("ffn.1", 3), 3) == outcome::refused);
  SUBCASE("it can be served") {
    auto moved = g.all.moved("ffn.1", true, g.now);
    CHECK(find<replica_guard::serve>(moved)->uid == "ffn.1");
    auto done = g.all.serves("ffn.1", 2, 7, true, g.now);
    auto told = find<replica_guard::taken_over>(done);
    REQUIRE(told);
    CHECK(told->term == 2);
    CHECK_FALSE(find<replica_guard::publish>(done));
    CHECK(g.all.room() == 0);
    CHECK(g.all.due(g.now + 1h).empty());
    // A save of it is no news.
    CHECK(g.all.serves("ffn.1", 2, 8, true, g.now).empty());
    g.all.dropped("ffn.1", g.now);
    CHECK(g.all.room() == 1);
  }
  SUBCASE("it cannot be moved") {
    auto moved = g.all.moved("ffn.1", false, g.now);
    auto back = find<replica_guard::publish>(moved);
    REQUIRE(back);
    CHECK(back->what.term == 1);
    CHECK(back->what.version == 0);
    CHECK(g.all.room() == 1);
  }
  SUBCASE("it cannot be made") {
    g.all.moved("ffn.1", true, g.now);
    auto dropped = g.all.dropped("ffn.1", g.now);
    CHECK(find<replica_guard::publish>(dropped)->what.version == 0);
    CHECK(g.all.room() == 0); // It stays on the shelf.
  }
}

TEST_CASE("an expert that is handed over is served, and its former host told") {
  guard g;
  auto x = offer("ffn.1", 2);
  x.hand_over = true;
  auto begun = g.keep(x);
  CHECK_FALSE(find<replica_guard::answer>(begun)); // Not before it is served.
  CHECK_FALSE(find<replica_guard::publish>(begun));
  CHECK(find<replica_guard::move_replica>(begun)->term == 2);
  g.all.moved("ffn.1", true, g.now);
  SUBCASE("served") {
    auto done = g.all.serves("ffn.1", 2, 7, true, g.now);
    auto reply = find<replica_guard::answer>(done);
    REQUIRE(reply);
    CHECK(reply->to == peer(2));
    CHECK(reply->what.standing == outcome::serving);
    CHECK(reply->what.term == 1); // As it was offered.
    auto other = offer("ffn.2", 2);
    other.hand_over = true;
    CHECK(g.offered(other, 2) == outcome::refused); // No more room.
  }
  SUBCASE("given up") {
    auto done = g.all.dropped("ffn.1", g.now);
    CHECK(find<replica_guard::answer>(done)->what.standing == outcome::refused);
  }
}

TEST_CASE("a host that leaves takes nothing in and nothing over") {
  guard g;
  g.keep(offer("ffn.1", 2));
  g.all.leave();
  CHECK(g.all.room() == 0);
  CHECK(g.offered(offer("ffn.2", 2), 2) == outcome::refused);
  CHECK_FALSE(find<replica_guard::move_replica>(g.orphan(2)));
}

TEST_CASE("what its owner does not offer any more is forgotten") {
  guard g;
  g.keep(offer("ffn.1", 2));
  g.now += limits::replica_life;
  auto due = g.all.due(g.now);
  auto gone = find<replica_guard::forget_replica>(due);
  REQUIRE(gone);
  CHECK(gone->uid == "ffn.1");
  CHECK(g.all.due(g.now + 1h).empty());
}

TEST_CASE("nothing is announced before others can reach this host") {
  guard g;
  g.all.reachable({});
  g.keep(offer("ffn.1", 2));
  CHECK(g.all.due(g.now).empty());
  g.all.reachable({"10.0.0.5", 1000});
  CHECK(g.all.due(g.now).size() == 1);
}

TEST_CASE(
    "an expert that does not load takes the place of one, and no other is "
    "taken over beside it") {
  guard g{};
  auto x = offer("ffn.1", 2);
  x.hand_over = true;
  REQUIRE(find<replica_guard::move_replica>(g.keep(x)));
  CHECK(g.all.room() == 0);
  REQUIRE(find<replica_guard::serve>(g.all.moved("ffn.1", true, g.now)));
  const auto said = g.all.dropped("ffn.1", g.now);
  REQUIRE(find<replica_guard::answer>(said));
  CHECK(find<replica_guard::answer>(said)->what.standing == outcome::refused);
  CHECK(g.all.room() == 0);
  auto other = offer("ffn.2", 2);
  other.hand_over = true;
  CHECK(g.offered(other, 2) == outcome::refused);
  // It does load after all, and is handed on.
  g.all.serves("ffn.1", 1, 7, true, g.now);
  g.all.dropped("ffn.1", g.now);
  CHECK(g.all.room() == 1);
}

TEST_CASE("what does not load takes half of the places from one home") {
  guard g{};
  g.all = replica_guard{peer(5), sum(9), 4};
  auto handed_over = [&](std::uint8_t from) {
    auto x = offer("ffn." + std::to_string(from), from);
    x.hand_over = true;
    if (g.offered(x, from) == outcome::refused)
      return false;
    const auto whole = g.chunk(x.uid, from, 0, x.bytes);
    const auto* store = find<replica_guard::store>(whole);
    REQUIRE(store);
    g.all.written(store->what, store->from, true, g.now);
    g.all.moved(x.uid, true, g.now);
    g.all.dropped(x.uid, g.now);
    return true;
  };
  for (std::uint8_t i : {10, 11, 12})
    g.all.joined(peer(i), "192.0.2.7");
  CHECK(handed_over(10));
  CHECK(handed_over(11));
  CHECK_FALSE(handed_over(12));
  CHECK(handed_over(20));
  CHECK(g.all.room() == 1);
}

TEST_CASE("who leaves before its replica is written is still of its home") {
  guard g{};
  for (std::uint8_t i = 0; i <= limits::replicas_per_spare; ++i) {
    const std::uint8_t from = 10 + i;
    g.all.joined(peer(from), "192.0.2.7");
    const auto x = offer("ffn." + std::to_string(i), from);
    if (i == limits::replicas_per_spare) {
      CHECK(g.offered(x, from) == outcome::refused);
      break;
    }
    REQUIRE(g.offered(x, from) == outcome::wanted);
    g.chunk(x.uid, from, 0, x.bytes);
    g.all.lost(peer(from));
    g.all.written(x, peer(from), true, g.now);
  }
  CHECK(g.offered(offer("ffn.30", 30), 30) == outcome::wanted);
}

TEST_CASE("one home has half of the bytes on their way, and no more time by "
          "offering again") {
  guard g{};
  g.all = replica_guard{peer(5), sum(9), 100};
  auto large = [&](std::uint8_t from) {
    auto x = offer("ffn." + std::to_string(from), from);
    x.bytes = limits::first_replica_bytes;
    return g.offered(x, from);
  };
  g.all.joined(peer(10), "192.0.2.7");
  g.all.joined(peer(11), "192.0.2.7");
  CHECK(large(10) == outcome::wanted);
  CHECK(large(11) == outcome::refused);
  CHECK(large(20) == outcome::wanted);
  CHECK(large(30) == outcome::refused); // It is all that may come.
  g.now += limits::replica_patience - 1s;
  CHECK(large(10) == outcome::wanted);
  g.now += 1s;
  g.all.due(g.now);
  CHECK(large(30) == outcome::wanted);
}

TEST_CASE("an expert that does not get to the shelf takes no place") {
  guard g{};
  auto x = offer("ffn.1", 2);
  x.hand_over = true;
  REQUIRE(find<replica_guard::move_replica>(g.keep(x)));
  g.all.moved("ffn.1", false, g.now);
  CHECK(g.all.room() == 1);
}
