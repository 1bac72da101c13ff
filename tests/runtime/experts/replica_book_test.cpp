#include "runtime/experts/expert_records.hpp"
#include "runtime/experts/replica_book.hpp"

#include <doctest/doctest.h>

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
                    std::uint64_t version, std::uint32_t term = 1) {
  replica_offer x;
  x.uid = uid;
  x.term = term;
  x.version = version;
  x.bytes = 100;
  x.sum = sum(static_cast<std::uint8_t>(version + 1));
  x.kind = sum(9);
  x.owner = who(owner);
  return x;
}

expert_announcement says(std::uint8_t host, std::uint32_t term,
                         std::uint64_t version) {
  return {who(host), 1, 1, version, term};
}

/// Guard 5 with room for two.
struct guard {
  replica_book book{peer(5), sum(9), 2};
  const std::string home = "192.0.2.7";
  time_point now{};

  void keep(const replica_offer& x) {
    REQUIRE(book.offered(x, home, now) == replica_book::verdict::wanted);
    CHECK(book.keep(x, home, now).empty());
  }
  void lose(std::uint8_t owner) {
    for (unsigned i = 0; i < limits::expert_lease_misses; ++i)
      book.lease(peer(owner), false, false, now);
  }
  /// Asks about all orphans and answers.
  std::size_t ask(const std::vector<expert_announcement>& hosts,
                  const std::vector<expert_announcement>& guards) {
    auto all = book.questions(now, 100);
    for (auto& q : all)
      book.answered(q, hosts, guards, now);
    return all.size();
  }
  std::string take() {
    auto x = book.take(now);
    return x ? x->first : "";
  }
};

using verdict = replica_book::verdict;

} // namespace

TEST_CASE("a guard keeps what is newer, of its kind, as far as it has room") {
  guard g;
  g.keep(offer("ffn.1", 2, 7));
  CHECK(g.book.offered(offer("ffn.1", 2, 7), g.home, g.now) == verdict::held);
  CHECK(g.book.offered(offer("ffn.1", 2, 8), g.home, g.now) == verdict::wanted);
  // Its owner may have gone back to what it had saved.
  CHECK(g.book.offered(offer("ffn.1", 2, 6), g.home, g.now) == verdict::wanted);
  // A higher tenure is a new owner; a lower one is none.
  CHECK(g.book.offered(offer("ffn.1", 1, 9), g.home, g.now)
        == verdict::refused);
  CHECK(g.book.offered(offer("ffn.1", 1, 9, 2), g.home, g.now)
        == verdict::wanted);
  auto other = offer("ffn.2", 2, 7);
  other.kind = sum(8);
  CHECK(g.book.offered(other, g.home, g.now) == verdict::refused);
  CHECK(g.book.offered(offer("ffn.2", 5, 7), g.home, g.now)
        == verdict::refused);
  for (int i = 2; i <= 8; ++i)
    g.keep(offer("ffn." + std::to_string(i), 2, 1));
  CHECK(g.book.offered(offer("ffn.9", 2, 7), g.home, g.now)
        == verdict::refused);
}

TEST_CASE("an owner is given up when neither a lease nor a connection is "
          "there, twice in a row") {
  guard g;
  g.keep(offer("ffn.1", 2, 7));
  g.book.lease(peer(2), false, false, g.now);
  g.book.lease(peer(2), true, false, g.now);
  g.book.lease(peer(2), false, false, g.now);
  g.book.lease(peer(2), false, true, g.now);
  g.book.lease(peer(2), false, false, g.now);
  CHECK_FALSE(g.book.vanished(peer(2)));
  CHECK(g.ask({}, {}) == 0);
  g.book.lease(peer(2), false, false, g.now);
  CHECK(g.book.vanished(peer(2)));
  CHECK(g.ask({says(2, 1, 7)}, {says(5, 1, 7)}) == 1);
  CHECK(g.take() == "ffn.1");
  CHECK(g.book.held().empty());
}

TEST_CASE("the guard with the newest replica comes first, the next one a turn "
          "later, if nobody has it then") {
  guard g;
  g.keep(offer("ffn.1", 2, 7));
  g.lose(2);
  g.ask({says(2, 1, 7)}, {says(5, 1, 7), says(4, 1, 7), says(6, 1, 9)});
  CHECK(g.take().empty());
  g.now += 2 * duration{limits::expert_turn} - 1ms;
  CHECK(g.ask({}, {}) == 0);
  g.now += 1ms;
  SUBCASE("nobody has it") {
    CHECK(g.ask({says(2, 1, 7)}, {}) == 1);
    CHECK(g.take() == "ffn.1");
  }
  SUBCASE("another guard has it") {
    CHECK(g.ask({says(2, 1, 7), says(6, 2, 9)}, {}) == 1);
    CHECK(g.take().empty());
    CHECK(g.book.held().at("ffn.1").owner.id == peer(6));
    CHECK(g.book.held().at("ffn.1").term == 2);
    // And is watched from now on.
    g.now += 3s;
    CHECK(g.book.owners_due(g.now, 9) == std::vector<peer_id>{peer(6)});
    g.lose(6);
    g.ask({says(2, 1, 7), says(6, 2, 9)}, {});
    CHECK(g.take() == "ffn.1");
  }
}

TEST_CASE("before a claim to an expert its other guards wait until it serves, "
          "its claim ends or it has vanished") {
  guard g;
  g.keep(offer("ffn.1", 2, 7));
  g.lose(2);
  SUBCASE("one with a newer replica whose turn is over") {
    g.ask({}, {says(6, 1, 9)});
    g.now += limits::expert_turn;
  }
  SUBCASE("one that was faster") {
  }
  CHECK(g.ask({says(2, 1, 7)}, {says(6, 2, 9)}) == 1);
  CHECK(g.take().empty());
  g.now += limits::expert_turn;
  CHECK(g.ask({says(2, 1, 7)}, {says(6, 2, 9)}) == 1);
  CHECK(g.take().empty());
  // The claimer is watched as an owner is.
  CHECK(g.book.owners_due(g.now, 9) == std::vector<peer_id>{peer(2), peer(6)});
  g.now += limits::expert_turn;
  SUBCASE("it serves") {
    CHECK(g.ask({says(6, 2, 9)}, {says(6, 2, 9)}) == 1);
    CHECK(g.take().empty());
    CHECK(g.book.held().at("ffn.1").owner.id == peer(6));
  }
  SUBCASE("it could not") {
    CHECK(g.ask({says(2, 1, 7)}, {says(6, 1, 0)}) == 1);
    CHECK(g.take() == "ffn.1");
  }
  SUBCASE("it has vanished") {
    g.lose(6);
    CHECK(g.ask({says(2, 1, 7)}, {says(6, 2, 9)}) == 1);
    CHECK(g.take() == "ffn.1");
  }
  SUBCASE("another claims it, and nothing comes of either") {
    auto patience = duration{limits::expert_claim_patience};
    for (auto left = patience; left > 2 * duration{limits::expert_turn};
         left -= duration{limits::expert_turn}) {
      CHECK(g.ask({says(2, 1, 7)}, {says(7, 2, 9)}) == 1);
      CHECK(g.take().empty());
      g.now += limits::expert_turn;
    }
    CHECK(g.ask({says(2, 1, 7)}, {says(7, 2, 9)}) == 1);
    CHECK(g.take() == "ffn.1");
  }
}

TEST_CASE("an owner that comes back keeps its experts") {
  guard g;
  g.keep(offer("ffn.1", 2, 7));
  g.lose(2);
  auto q = g.book.questions(g.now, 9);
  REQUIRE(q.size() == 1);
  g.book.lease(peer(2), true, false, g.now);
  g.book.answered(q[0], {}, {}, g.now);
  CHECK(g.take().empty());
  CHECK(g.book.held().count("ffn.1") == 1);
}

TEST_CASE("a guard takes no more than it has room for, and the rest when it "
          "has") {
  guard g;
  for (auto uid : {"ffn.1", "ffn.2", "ffn.3"})
    g.keep(offer(uid, 2, 7));
  g.lose(2);
  g.ask({}, {});
  CHECK(g.take() == "ffn.1");
  g.book.adopted(1);
  CHECK(g.take() == "ffn.2");
  g.book.adopted(2);
  CHECK(g.take().empty());
  CHECK(g.book.offered(
            [] {
              auto x = offer("ffn.4", 3, 1);
              x.hand_over = true;
              return x;
            }(),
            g.home, g.now)
        == verdict::refused);
  g.book.adopted(1);
  g.now += limits::orphan_again;
  g.ask({}, {});
  CHECK(g.take() == "ffn.3");
}

TEST_CASE("what a living owner does not offer any more is forgotten") {
  guard g;
  g.keep(offer("ffn.1", 2, 7));
  g.keep(offer("ffn.2", 2, 7));
  g.keep(offer("ffn.3", 3, 7));
  g.lose(3);
  g.now += limits::replica_life - 1ms;
  CHECK(g.book.offered(offer("ffn.2", 2, 7), g.home, g.now) == verdict::held);
  g.now += 1ms;
  CHECK(g.book.forget_old(g.now) == std::vector<std::string>{"ffn.1"});
  CHECK(g.book.held().size() == 2);
}

TEST_CASE("an orphan of the home that has most gives way when nobody has taken "
          "it for long") {
  guard g;
  for (int i = 0; i < 8; ++i)
    g.keep(offer("ffn." + std::to_string(i), 2, 7));
  g.lose(2);
  CHECK(g.book.offered(offer("ffn.9", 3, 7), "192.0.2.8", g.now)
        == verdict::refused);
  g.now += limits::replica_life;
  CHECK(g.book.offered(offer("ffn.9", 3, 7), "192.0.2.8", g.now)
        == verdict::wanted);
}
