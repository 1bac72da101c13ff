#include "tools/lab/judge/expert_promises.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

struct case_of {
  ledger checks;
  sound_experts experts{checks, run()};

  static terms run() {
    terms x;
    x.expert_may_lose = 3;
    return x;
  }

  void teach(std::size_t host, std::uint64_t call, std::uint64_t version) {
    experts.applied(host, "e.1", {call}, version, 1s);
  }
  bool fine() const {
    return checks.violations().empty();
  }
};

} // namespace

TEST_CASE("a call that is applied twice, by whomever, is found") {
  case_of x;
  x.experts.made(1, "e.1", 0, 0s);
  x.teach(1, 100, 1);
  x.teach(1, 101, 2);
  CHECK(x.fine());
  SUBCASE("by the same host") {
    x.teach(1, 101, 3);
  }
  SUBCASE("by another one") {
    x.experts.applied(2, "e.2", {101}, 1, 1s);
  }
  CHECK(x.checks.violations().size() == 1);
}

TEST_CASE("an expert whose version jumps, or goes back too far, is found") {
  case_of x;
  x.experts.made(1, "e.1", 0, 0s);
  for (std::uint64_t i = 1; i <= 9; ++i)
    x.teach(1, i, i);
  SUBCASE("it goes back as far as it may after a crash") {
    x.experts.made(1, "e.1", 6, 1s);
    x.teach(1, 50, 7);
    CHECK(x.fine());
  }
  SUBCASE("further") {
    x.experts.made(1, "e.1", 5, 1s);
    CHECK_FALSE(x.fine());
  }
  SUBCASE("its host has lost its disk and is another one") {
    x.experts.forget(1);
    x.teach(1, 50, 1);
    CHECK(x.fine());
  }
  SUBCASE("it jumps") {
    x.teach(1, 50, 11);
    CHECK_FALSE(x.fine());
  }
  SUBCASE("it goes back as far as it may to another host") {
    x.experts.made(2, "e.1", 6, 1s);
    x.experts.taken_over(2, "e.1", 2, 6, 1s);
    x.teach(2, 50, 7);
    CHECK(x.fine());
    CHECK(x.experts.moves() == 1);
  }
  SUBCASE("further, to another host") {
    x.experts.taken_over(2, "e.1", 2, 5, 1s);
    CHECK_FALSE(x.fine());
  }
}

TEST_CASE("an expert that was taught and answers nobody is found") {
  case_of x;
  x.experts.made(1, "e.1", 0, 0s);
  x.teach(1, 1, 1);
  x.experts.answered("e.1", 5s);
  x.experts.all_answer(5s, 9s);
  CHECK(x.fine());
  x.experts.all_answer(6s, 9s);
  CHECK_FALSE(x.fine());
}
