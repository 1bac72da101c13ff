#include "runtime/admission/admission_claim.hpp"

#include <doctest/doctest.h>

#include "messages/limits.hpp"
#include "tests/runtime/admission/parties.hpp"

using namespace potluck;

TEST_CASE("a claim comes back whole, and half of one is none") {
  const parties all;
  admission_claim x;
  x.code.bytes.fill(3);
  x.of = delegate_to(all.ann.id(), noon_ms, *all.bob.signs);
  x.words = std::string("pass\0word", 9);
  x.last = to_bytes(all.token(all.ann));
  const auto bytes = to_bytes(x);
  auto back = read_claim(bytes);
  REQUIRE(back);
  CHECK(back->code == x.code);
  CHECK(back->words == x.words);
  CHECK(back->last == x.last);
  REQUIRE(back->of);
  CHECK(back->of->machine == all.ann.id());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(read_claim(bytes.substr(0, size)));
  CHECK_FALSE(read_claim(bytes + "x"));
  x.words.assign(max_claim_words, 'w');
  x.last.assign(1000, 'l');
  CHECK(to_bytes(x).size() <= max_claim_bytes);
  CHECK(read_claim(to_bytes(x)));
  x.words += 'w';
  CHECK_FALSE(read_claim(to_bytes(x)));
}

TEST_CASE("a person says which machine is theirs, and until when") {
  const parties all;
  const auto x = delegate_to(all.ann.id(), noon_ms, *all.bob.signs);
  auto problem
      = [&](const delegation& what, const party& machine, std::uint64_t now) {
          return problem_with(what, machine.id(), now, *all.stranger.signs);
        };
  CHECK(problem(x, all.ann, noon_ms) == "");
  CHECK(problem(x, all.ann, noon_ms + 1) == "has expired");
  CHECK(problem(x, all.stranger, noon_ms) == "is for another machine");
  auto moved = x;
  moved.machine = all.stranger.id();
  CHECK(problem(moved, all.stranger, noon_ms)
        == "is not signed by the person that it names");
  auto longer = x;
  ++longer.until_ms;
  CHECK(problem(longer, all.ann, noon_ms)
        == "is not signed by the person that it names");

  const auto text = to_text(x);
  auto back = read_delegation(text);
  REQUIRE(back);
  CHECK(problem(*back, all.ann, noon_ms) == "");
  auto typo = text;
  typo[40] = typo[40] == 'q' ? 'p' : 'q';
  CHECK_FALSE(read_delegation(typo));
  CHECK_FALSE(read_delegation(text.substr(0, 90)));
  CHECK_FALSE(read_delegation("\u202epotluck-delegate:q"));
}
