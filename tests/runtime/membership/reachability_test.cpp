#include "runtime/membership/reachability.hpp"

#include <set>

#include <doctest/doctest.h>

#include "runtime/membership/limits.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id peer(std::uint8_t i) {
  peer_id x;
  x.bytes[0] = i;
  return x;
}

time_point at(duration x) {
  return time_point{} + x;
}

const std::vector<peer_id> everybody{peer(1), peer(2), peer(3), peer(4)};
using proof = reachability::proof;

/// Whoever is asked hears a number that tells who it was.
std::uint64_t nonce_of(const peer_id& x) {
  return 100 + x.bytes[0];
}
struct votes : reachability {
  std::optional<peer_id> ask(const std::vector<peer_id>& all, time_point now) {
    // The one that it is about to ask is the first that it has not.
    for (auto& id : all)
      if (asked.count(id) == 0) {
        auto whom = reachability::ask(all, nonce_of(id), now);
        if (whom)
          asked.insert(*whom);
        return whom;
      }
    return reachability::ask(all, 99, now);
  }
  /// An answer, and what comes with it if that is the truth.
  void answered(const peer_id& from, bool reached, time_point now) {
    if (reached)
      proven(nonce_of(from), proof::counts, now);
    reachability::answered(from, nonce_of(from), reached, now);
  }
  std::set<peer_id> asked;
};

} // namespace

TEST_CASE("a peer that nobody has tried to reach counts as reachable") {
  votes x;
  CHECK(x.reachable());
  CHECK_FALSE(x.ask({}, at(0s)));
  CHECK(x.reachable());
}

TEST_CASE("one who has reached us is enough, and nobody else is asked") {
  votes x;
  CHECK(x.ask(everybody, at(0s)) == peer(1));
  CHECK_FALSE(x.ask(everybody, at(1s))); // Until it has answered.
  x.answered(peer(1), true, at(1s));
  CHECK(x.reachable());
  CHECK_FALSE(x.ask(everybody, at(2s)));
}

TEST_CASE("most of three decide") {
  votes x;
  CHECK(x.ask(everybody, at(0s)) == peer(1));
  x.answered(peer(1), false, at(1s));
  CHECK(x.reachable()); // It may lie, or be unable to dial anybody.
  CHECK(x.ask(everybody, at(1s)) == peer(2));
  SUBCASE("could not") {
    x.answered(peer(2), false, at(2s));
    CHECK(x.ask(everybody, at(2s)) == peer(3));
    SUBCASE("two") {
      x.answered(peer(3), true, at(3s));
    }
    SUBCASE("three") {
      x.answered(peer(3), false, at(3s));
    }
    CHECK_FALSE(x.reachable());
  }
  SUBCASE("could") {
    x.answered(peer(2), true, at(2s));
    CHECK(x.ask(everybody, at(2s)) == peer(3));
    x.answered(peer(3), true, at(3s));
    CHECK(x.reachable());
  }
  CHECK_FALSE(x.ask(everybody, at(4s)));
}

TEST_CASE("where fewer are there to ask, they decide") {
  votes x;
  CHECK(x.ask({peer(1)}, at(0s)) == peer(1));
  CHECK_FALSE(x.ask({peer(1)}, at(1s)));
  x.answered(peer(1), false, at(2s));
  CHECK(x.reachable());
  CHECK_FALSE(x.ask({peer(1)}, at(3s)));
  CHECK_FALSE(x.reachable());
  // Who comes later is asked, too.
  CHECK(x.ask({peer(1), peer(2)}, at(4s)) == peer(2));
  x.answered(peer(2), true, at(5s));
  CHECK(x.reachable());
}

TEST_CASE("an answer that is lost is asked for again after a while") {
  votes x;
  CHECK(x.ask({peer(1)}, at(0s)) == peer(1));
  CHECK_FALSE(x.ask({peer(1)}, at(1min)));
  CHECK(x.reachable());
  CHECK(x.ask({peer(1)}, at(duration{reachability::validity})) == peer(1));
}

TEST_CASE("only who was asked has a vote, and only one") {
  votes x;
  x.answered(peer(1), false, at(0s));
  CHECK(x.reachable());
  CHECK(x.ask(everybody, at(0s)) == peer(1));
  x.answered(peer(2), false, at(1s));
  CHECK(x.reachable());
  x.answered(peer(1), true, at(1s));
  x.answered(peer(1), false, at(1s));
  CHECK(x.reachable());
}

TEST_CASE("who keeps silent is not waited for") {
  votes x;
  CHECK(x.ask(everybody, at(0s)) == peer(1));
  const auto later = duration{reachability::patience};
  CHECK_FALSE(x.ask(everybody, at(later - 1s)));
  CHECK(x.ask(everybody, at(later)) == peer(2));
  x.answered(peer(2), false, at(later));
  x.answered(peer(1), false, at(later + 1s)); // Late, but it is an answer.
  CHECK(x.ask({peer(1), peer(2)}, at(later + 2s)) == std::nullopt);
  CHECK_FALSE(x.reachable());
}

TEST_CASE("who connects by itself need not be asked") {
  votes x;
  x.came(peer(4), proof::counts, at(0s));
  CHECK_FALSE(x.ask(everybody, at(0s)));
  CHECK(x.reachable());
}

TEST_CASE("a crowd that connects does not outvote those who were asked") {
  votes x;
  for (auto id : {peer(1), peer(2), peer(3)}) {
    CHECK(x.ask(everybody, at(0s)) == id);
    x.answered(id, false, at(0s));
  }
  for (std::uint8_t i = 10; i < 100; ++i)
    x.came(peer(i), proof::counts, at(1s));
  CHECK_FALSE(x.reachable());
}

TEST_CASE("votes are taken again after a while, and where the peer moves") {
  votes x;
  CHECK(x.ask({peer(1)}, at(0s)) == peer(1));
  x.answered(peer(1), false, at(1s));
  CHECK_FALSE(x.ask({peer(1)}, at(2s))); // There is nobody else.
  CHECK_FALSE(x.reachable());
  duration later = reachability::validity;
  SUBCASE("after a while") {
    CHECK_FALSE(x.ask({peer(1)}, at(later - 1s)));
  }
  SUBCASE("where it moves") {
    later = 3s;
    x.moved();
  }
  x.asked.clear();
  CHECK(x.ask({peer(1)}, at(later)) == peer(1));
  CHECK_FALSE(x.reachable()); // Until there is an answer.
  x.answered(peer(1), true, at(later));
  CHECK(x.reachable());
}

TEST_CASE("the word that we were reached only ends a question") {
  votes x;
  CHECK(x.ask(everybody, at(0s)) == peer(1));
  CHECK(x.reachability::answered(peer(1), nonce_of(peer(1)), true, at(1s)));
  CHECK_FALSE(x.is_certain());
  CHECK(x.ask(everybody, at(1s)) == peer(2)); // Without a pause.
  SUBCASE("until the proof comes") {
    CHECK(x.proven(nonce_of(peer(1)), proof::counts, at(2s)));
    CHECK(x.is_certain());
  }
  SUBCASE("and others decide") {
    x.answered(peer(2), false, at(2s));
    CHECK(x.ask(everybody, at(2s)) == peer(3));
    x.answered(peer(3), false, at(2s));
    CHECK(x.ask(everybody, at(2s)) == peer(4));
    x.answered(peer(4), false, at(2s));
    CHECK_FALSE(x.reachable());
  }
}

TEST_CASE("an answer carries the number of its question") {
  votes x;
  CHECK(x.ask(everybody, at(0s)) == peer(1));
  CHECK_FALSE(x.reachability::answered(peer(1), 7, false, at(1s)));
  CHECK_FALSE(x.proven(7, proof::decisive, at(1s)));
  CHECK_FALSE(x.proven(0, proof::decisive, at(1s)));
  CHECK_FALSE(x.ask(everybody, at(1s)));
}

TEST_CASE("a decisive proof outweighs every answer") {
  votes x;
  for (auto id : {peer(1), peer(2), peer(3)}) {
    CHECK(x.ask(everybody, at(0s)) == id);
    x.answered(id, false, at(0s));
  }
  CHECK_FALSE(x.reachable());
  SUBCASE("by a late connection") {
    CHECK(x.proven(nonce_of(peer(2)), proof::decisive, at(1s)));
  }
  SUBCASE("by somebody that comes") {
    x.came(peer(9), proof::decisive, at(1s));
  }
  CHECK(x.reachable());
  CHECK(x.is_certain());
}

TEST_CASE("a hint lets others try, and does not make it certain") {
  votes x;
  CHECK(x.ask(everybody, at(0s)) == peer(1));
  CHECK(x.proven(nonce_of(peer(1)), proof::hint, at(1s)));
  CHECK(x.reachable());
  CHECK_FALSE(x.is_certain());
  CHECK(x.ask(everybody, at(1s)) == peer(2));
  x.answered(peer(2), false, at(2s));
  CHECK(x.ask(everybody, at(2s)) == peer(3));
  x.answered(peer(3), false, at(3s));
  CHECK_FALSE(x.reachable());
}

TEST_CASE("who came to hints alone is asked again, a few times") {
  reachability x;
  const std::vector<peer_id> one{peer(1)};
  std::uint64_t nonce = 1;
  for (unsigned i = 0; i < reachability::most_tries; ++i, ++nonce) {
    const auto now = at(i * limits::reach_pause);
    CHECK(x.ask(one, nonce, now) == peer(1));
    CHECK_FALSE(x.ask(one, nonce, now)); // It has not answered yet.
    CHECK(x.proven(nonce, proof::hint, now));
    x.answered(peer(1), nonce, true, now);
    CHECK_FALSE(x.ask(one, nonce, now + 1s)); // It would not try.
    CHECK(x.reachable());
    CHECK_FALSE(x.is_certain());
  }
  CHECK_FALSE(x.ask(one, nonce, at(1min)));
  SUBCASE("which may come to more") {
    reachability y;
    CHECK(y.ask(one, 1, at(0s)) == peer(1));
    CHECK(y.proven(1, proof::hint, at(0s)));
    CHECK(y.ask(one, 2, at(limits::reach_pause)) == peer(1));
    CHECK(y.proven(2, proof::decisive, at(limits::reach_pause)));
    CHECK(y.is_certain());
  }
}
