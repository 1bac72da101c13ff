#include "runtime/membership/first_contact.hpp"

#include <doctest/doctest.h>

#include "runtime/membership/limits.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{1h};
const address seed{"seed.example.org", 7000};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("nobody at the user's address is said with what to do about it") {
  first_contact x{{seed}, start};
  x.dial_failed("connection refused");
  CHECK_FALSE(x.look(1, start + limits::first_contact_patience - 1s));
  auto word = x.look(1, start + limits::first_contact_patience);
  REQUIRE(word);
  CHECK_FALSE(word->over);
  CHECK(contains(word->sentence, "trying again"));
  word = x.look(limits::first_contact_dials,
                start + limits::first_contact_patience + 1s);
  REQUIRE(word);
  CHECK(word->over);
  CHECK(contains(word->sentence, "seed.example.org:7000 (connection refused)"));
  CHECK(contains(word->sentence, "correct the peer's address"));
  // A short run is over soon.
  CHECK(contains(word->sentence, "have finished and left"));
  CHECK_FALSE(x.look(9, start + 1h));
}

TEST_CASE("who was reached once is not given up") {
  first_contact x{{seed}, start};
  x.reached();
  CHECK_FALSE(x.look(100, start + limits::longest_first_contact));
  CHECK_FALSE(x.is_refused_by_all(seed, "no"));
}

TEST_CASE("the last refusal of all that were named ends the peer") {
  const address other{"other.example.org", 7000};
  first_contact x{{seed, other}, start};
  CHECK_FALSE(x.is_refused_by_all({"stranger.example.org", 1}, "no"));
  CHECK_FALSE(x.is_refused_by_all(seed, "no"));
  CHECK_FALSE(x.is_refused_by_all(seed, "no"));
  CHECK(x.is_refused_by_all(other, "nor I"));
}
