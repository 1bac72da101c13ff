#include "runtime/admission/admission_course.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

using guest = admission_course::guest;

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
  std::vector<std::string> dialled;
  int look_ups = 0;
  std::vector<std::string> said;

  void pass(duration time) {
    for (const auto end = now + time; now < end; now += 250ms) {
      for (auto& x : course.look(own, now)) {
        if (auto ask = std::get_if<admission_course::ask>(&x))
          (ask->to_vouch ? asked_to_vouch : asked).push_back(ask->whom);
        else if (auto say = std::get_if<admission_course::say>(&x))
          said.push_back(say->sentence);
        else if (auto dial = std::get_if<admission_course::dial>(&x))
          dialled.push_back(dial->who.where.host);
        else
          ++look_ups;
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
  s.course.joined(peer(9), guest::other);
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
  CHECK(s.dialled.size() == 4); // After 1, 2, 4 and 8 seconds.
  CHECK(s.said.empty());
  s.pass(5min);
  CHECK(s.dialled.size() < 16);
  CHECK(s.look_ups == int(s.dialled.size()) - 1);
  REQUIRE(s.said.size() == 1);
  CHECK(s.said[0].find("cannot be reached at gate:7000") != std::string::npos);
  CHECK(s.asked.empty());
  s.course.joined(peer(9), guest::other);
  s.pass(1s);
  CHECK(s.asked.size() == 1);
}

TEST_CASE("an authority that has moved is dialled where it says that it is") {
  story s;
  s.pass(3s);
  CHECK(s.dialled == std::vector<std::string>{"gate", "gate"});
  CHECK(s.look_ups == 1);
  s.course.found({peer(8), {"other", 1}});
  s.course.found({peer(9), {"moved", 1}});
  s.pass(250ms);
  CHECK(s.dialled.back() == "moved");
  CHECK(s.dialled.size() == 3);
  // Where nobody has said where it is, too.
  admission_course nowhere{{peer(9), {}}};
  const admission_course::standing own{true, 0s, 0s, false};
  CHECK(nowhere.look(own, time_point{}).empty());
  const auto due = nowhere.look(own, time_point{1s});
  REQUIRE(due.size() == 1);
  CHECK(std::get_if<admission_course::look_up>(&due[0]) != nullptr);
}

TEST_CASE("a silent authority is asked again, without haste") {
  story s;
  s.course.joined(peer(9), guest::other);
  s.pass(21s);
  CHECK(s.asked.size() == 5);
  REQUIRE(s.said.size() == 1);
  CHECK(s.said[0].find("does not answer") != std::string::npos);
}

TEST_CASE("members are asked to vouch once the authority is away, in turn") {
  story s;
  s.grant(1h);
  s.own.may_be_vouched_for = true;
  s.course.joined(peer(1), guest::member);
  s.course.joined(peer(2), guest::member);
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

TEST_CASE(
    "where nobody is inside, those who say they are of the run are asked, "
    "some at once") {
  story s;
  s.own.may_be_vouched_for = true;
  for (std::uint8_t i = 10; i < 30; ++i)
    s.course.joined(peer(i), guest::outsider);
  s.course.joined(peer(5), guest::other);
  s.pass(500ms);
  CHECK(s.asked_to_vouch.size() == limits::outsiders_at_once);
  s.pass(5s);
  const std::set<peer_id> all{s.asked_to_vouch.begin(), s.asked_to_vouch.end()};
  CHECK(all.size() == 20);
  CHECK(all.count(peer(5)) == 0);
  s.course.joined(peer(1), guest::member);
  s.asked_to_vouch.clear();
  s.pass(4s);
  CHECK(s.asked_to_vouch == std::vector{peer(1), peer(1)});
}

TEST_CASE("who was never admitted asks nobody to vouch") {
  story s;
  s.course.joined(peer(1), guest::member);
  s.pass(1min);
  CHECK(s.asked_to_vouch.empty());
}

TEST_CASE("an open run asks nobody") {
  story s;
  s.own.needed = false;
  s.course.joined(peer(9), guest::other);
  s.pass(1min);
  CHECK(s.asked.empty());
  CHECK(s.dialled.empty());
}

TEST_CASE(
    "the manifest's authority counts, at the address that is known best") {
  story s;
  s.course.authority_is({peer(9), {"old", 1}});
  CHECK(s.course.authority().where.host == "gate");
  s.course.joined(peer(8), guest::other);
  s.course.authority_is({peer(8), {"other", 1}});
  s.pass(1s);
  CHECK(s.dialled.empty());
  CHECK(s.asked == std::vector{peer(8)});
}
