#include "runtime/admission/admission_course.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id peer(std::uint8_t x) {
  peer_id id;
  id.bytes.fill(x);
  return id;
}

/// Looks every quarter of a second, and writes down what is done.
struct story {
  admission_course course{{peer(9), {"gate", 7000}}};
  admission_course::standing own{true, 0s, 0s, false};
  time_point now{};
  std::vector<peer_id> asked;
  std::vector<peer_id> asked_to_vouch;
  int dials = 0;
  std::vector<std::string> said;

  void pass(duration time) {
    for (const auto end = now + time; now < end; now += 250ms) {
      for (auto& x : course.look(own, now)) {
        if (auto ask = std::get_if<admission_course::ask>(&x))
          (ask->to_vouch ? asked_to_vouch : asked).push_back(ask->whom);
        else if (auto say = std::get_if<admission_course::say>(&x))
          said.push_back(say->sentence);
        else
          ++dials;
      }
      own.left = std::max<duration>(own.left - 250ms, 0s);
    }
  }
  void grant(duration life) {
    own.left = own.life = life;
    course.granted();
  }
};

} // namespace

TEST_CASE("the authority is asked at once, and a minute before a token ends") {
  story s;
  s.course.joined(peer(9), false);
  s.pass(1s);
  CHECK(s.asked == std::vector{peer(9)});
  CHECK(s.course.awaited(peer(9)));
  CHECK_FALSE(s.course.awaited(peer(9))); // One answer to one question.
  s.grant(1h);
  s.pass(59min);
  CHECK(s.asked.size() == 1);
  s.pass(1s);
  CHECK(s.asked.size() == 2);
  CHECK(s.said.empty());
}

TEST_CASE("an authority that is away is dialled less and less, and told of") {
  story s;
  s.pass(9s);
  CHECK(s.dials == 4); // After 1, 2, 4 and 8 seconds.
  CHECK(s.said.empty());
  s.pass(5min);
  CHECK(s.dials < 16);
  REQUIRE(s.said.size() == 1);
  CHECK(s.said[0].find("cannot be reached at gate:7000") != std::string::npos);
  CHECK(s.asked.empty());
  s.course.joined(peer(9), false);
  s.pass(1s);
  CHECK(s.asked.size() == 1);
}

TEST_CASE("a silent authority is asked again, without haste") {
  story s;
  s.course.joined(peer(9), false);
  s.pass(21s);
  CHECK(s.asked.size() == 5);
  REQUIRE(s.said.size() == 1);
  CHECK(s.said[0].find("does not answer") != std::string::npos);
}

TEST_CASE("members are asked to vouch once the authority is away, in turn") {
  story s;
  s.grant(1h);
  s.own.may_be_vouched_for = true;
  s.course.joined(peer(1), true);
  s.course.joined(peer(2), true);
  s.pass(59min + 29s);
  CHECK(s.asked_to_vouch.empty());
  s.pass(6s);
  CHECK(s.asked_to_vouch == std::vector{peer(1), peer(2), peer(1)});
  CHECK(s.course.awaited(peer(2)));
  CHECK_FALSE(s.course.awaited(peer(3)));
  s.grant(30min);
  s.pass(29min);
  CHECK(s.asked_to_vouch.size() == 3);
}

TEST_CASE("who was never admitted asks nobody to vouch") {
  story s;
  s.course.joined(peer(1), true);
  s.pass(1min);
  CHECK(s.asked_to_vouch.empty());
}

TEST_CASE("an open run asks nobody") {
  story s;
  s.own.needed = false;
  s.course.joined(peer(9), false);
  s.pass(1min);
  CHECK(s.asked.empty());
  CHECK(s.dials == 0);
}

TEST_CASE(
    "the manifest's authority counts, at the address that is known best") {
  story s;
  s.course.authority_is({peer(9), {"old", 1}});
  CHECK(s.course.authority().where.host == "gate");
  s.course.joined(peer(8), false);
  s.course.authority_is({peer(8), {"other", 1}});
  s.pass(1s);
  CHECK(s.dials == 0);
  CHECK(s.asked == std::vector{peer(8)});
}
