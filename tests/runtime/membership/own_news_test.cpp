/// What a peer finds out about itself, and tells others: where it is, whether
/// it can be dialled, its report.
#include <doctest/doctest.h>

#include "messages/codec.hpp"
#include "runtime/membership/knock_limit.hpp"
#include "runtime/membership/limits.hpp"
#include "runtime/membership/own_address.hpp"
#include "runtime/membership/own_reach.hpp"
#include "runtime/membership/report_news.hpp"
#include "runtime/membership/run_lookup.hpp"
#include "runtime/strangers/letter_allowance.hpp"
#include "runtime/strangers/letter_cost.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id id(std::uint8_t number) {
  peer_id x;
  x.bytes[0] = number;
  return x;
}

time_point at(duration since) {
  return time_point{1h + since};
}

guest_book guests(std::uint8_t count) {
  guest_book x{id(1), role::trainer};
  for (std::uint8_t i = 0; i < count; ++i)
    x.joined({id(10 + i), {"10.0.0." + std::to_string(10 + i), 7000}},
             role::trainer, at(0s));
  return x;
}

bool all_kept(const guest_book::guest&) {
  return true;
}

progress_report saying(phase p, std::uint64_t step) {
  progress_report x;
  x.id = id(1);
  x.phase = p;
  x.step = step;
  x.charter = digest_of("c", 1);
  return x;
}

} // namespace

TEST_CASE("a peer is where the user says, else where it listens or is seen") {
  own_address x{{}};
  x.listens({"0.0.0.0", 7000});
  x.seen_at("127.0.0.1", "127.0.0.1", false);
  x.seen_at("10.0.0.1", "10.0.0.7", false); // More than this machine.
  CHECK(x.get() == address{"10.0.0.1", 7000});
  x.seen_at("10.0.0.2", "10.0.0.8", false);
  CHECK(x.get() == address{"10.0.0.1", 7000});
  x.seen_at("10.0.0.2", "10.0.0.8", true);
  CHECK(x.get() == address{"10.0.0.2", 7000});
  own_address announced{{"home.example", 1}};
  announced.listens({"192.168.0.2", 7000});
  announced.seen_at("10.0.0.1", "10.0.0.7", false);
  announced.maps(4000);
  CHECK(announced.get() == address{"home.example", 1});
  CHECK_FALSE(announced.is_seen());
  CHECK_FALSE(announced.is_mapped());
}

TEST_CASE("one that lies about where it sees a peer does not move it") {
  own_address x{{}};
  x.listens({"0.0.0.0", 7000});
  x.seen_at("203.0.113.66", "198.51.100.1", false); // A lie, and the first.
  x.seen_at("203.0.113.7", "198.51.102.2", false);
  for (int i = 1; i < 4; ++i) // Its network has one word.
    x.seen_at("203.0.113.66", "198.51.100." + std::to_string(i), false);
  x.seen_at("203.0.113.7", "198.51.103.3", false);
  CHECK(x.get() == address{"203.0.113.7", 7000});
  // From a house nobody sees what the internet sees, nor the reverse.
  own_address y{{}};
  y.listens({"0.0.0.0", 7000});
  y.seen_at("203.0.113.66", "10.0.0.7", false);
  y.seen_at("10.0.0.66", "198.51.100.1", false);
  CHECK(y.get().host.empty());
  // Who is outside needs the address outside.
  y.seen_at("10.0.0.1", "10.0.0.7", false);
  y.seen_at("10.0.0.1", "10.0.0.8", false);
  y.seen_at("203.0.113.7", "198.51.100.1", false);
  CHECK(y.get() == address{"203.0.113.7", 7000});
  y.maps(4000);
  CHECK(y.get() == address{"203.0.113.7", 4000});
  y.maps(0);
  CHECK(y.get() == address{"203.0.113.7", 7000});
}

TEST_CASE("a peer with two versions of IP is at one address") {
  own_address x{{}};
  x.listens({"::", 7000});
  x.seen_at("203.0.113.7", "2001:db8:1::1", false); // It cannot see that.
  CHECK(x.get().host.empty());
  x.seen_at("203.0.113.7", "198.51.100.1", false);
  for (int i = 1; i < 6; ++i)
    x.seen_at("2001:db8:7::7", "2001:db8:" + std::to_string(i) + "::1", false);
  CHECK(x.get() == address{"203.0.113.7", 7000});
  x.seen_at("2001:db8:7::7", "2001:db8:1::1", true);
  CHECK(x.get() == address{"2001:db8:7::7", 7000});
}

TEST_CASE("a peer says where who speaks the other version of IP dials it") {
  const address four{"203.0.113.7", 7000};
  const address six{"2001:db8:7::7", 7000};
  own_address x{{}};
  x.listens(four, {four, six});
  CHECK(x.get() == four);
  CHECK(x.also() == six);
  own_address all{{}};
  all.listens({"::", 7000}, {{"192.168.0.2", 7000}, four, six});
  CHECK(all.also() == address{}); // Nobody has seen it.
  all.seen_at(six.host, "2001:db8:1::1", false);
  CHECK(all.get() == six);
  CHECK(all.also() == four);
  // Behind a router, or without another address, it has none.
  own_address home{{}};
  home.listens({"0.0.0.0", 7000}, {{"192.168.0.2", 7000}});
  home.seen_at(four.host, "198.51.100.1", false);
  CHECK(home.also() == address{});
  own_address announced{{"home.example", 1}};
  announced.listens(four, {four, six});
  CHECK(announced.also() == address{});
}

TEST_CASE("a crowd of strangers does not hold up those that work together") {
  report_news x;
  auto many = guests(200);
  for (std::uint8_t i = 0; i < 200; ++i) {
    auto theirs = saying(phase::joining, 3);
    theirs.id = id(10 + i);
    many.heard(theirs);
  }
  for (std::uint8_t i : {20, 40, 60})
    many.works_with(id(i));
  CHECK(many.near_partners().size() == 3);
  // One that has just fetched a state keeps up with them.
  auto entering = saying(phase::accumulating, 3);
  entering.id = id(50);
  many.heard(entering);
  x.take(saying(phase::accumulating, 3), at(0s));
  CHECK(x.round(many, all_kept, at(0s)).size() == 200);
  // The crowd hears it once in a while, they hear everything.
  for (auto now : {10ms, 20ms, 5900ms}) {
    x.take(saying(phase::accumulating, 4), at(now));
    CHECK(x.round(many, all_kept, at(now))
          == std::vector<peer_id>{id(20), id(40), id(60), id(50)});
    CHECK(x.round(many, all_kept, at(now)).empty()); // Nothing new.
    CHECK(x.due(at(now)));
  }
  CHECK(x.round(many, all_kept, at(limits::longest_report_round)).size()
        == 200);
  CHECK_FALSE(x.due(at(limits::longest_report_round)));
  many.left(id(20));
  CHECK(many.near_partners().size() == 2);
  many.joined({id(20), {}}, role::trainer, at(7s)); // It is back.
  CHECK(many.near_partners().size() == 3);
}

TEST_CASE("a report without news is said again before it counts no more") {
  report_news x;
  auto some = guests(3);
  some.line({id(10), {"10.0.0.1", 7000}}, true, false); // By a hub alone.
  x.take(saying(phase::waiting, 3), at(0s));
  CHECK(x.round(some, all_kept, at(0s)).size() == 3);
  const auto again = at(limits::report_again);
  CHECK_FALSE(x.due(again - 1ms));
  CHECK(x.round(some, all_kept, again - 1ms).empty());
  CHECK(x.due(again));
  CHECK(x.round(some, all_kept, again).size() == 3);
  CHECK_FALSE(x.due(again + 1ms));
  static_assert(2 * limits::report_again < limits::report_max_age);
}

TEST_CASE("who does not train hears of each step, and not of each batch") {
  report_news x;
  auto some = guests(2);
  some.joined({id(30), {}}, role::auxiliary, at(0s));
  auto mine = saying(phase::accumulating, 3);
  x.take(mine, at(0s));
  CHECK(x.round(some, all_kept, at(0s)).size() == 3);
  ++mine.samples;
  x.take(mine, at(10ms));
  CHECK(x.round(some, all_kept, at(10ms))
        == std::vector<peer_id>{id(10), id(11)});
  CHECK(x.round(some, all_kept, at(limits::relayed_report_pause))
        == std::vector<peer_id>{id(30)});
  ++mine.step;
  x.take(mine, at(limits::relayed_report_pause + 10ms));
  CHECK(x.round(some, all_kept, at(limits::relayed_report_pause + 10ms)).size()
        == 3);
}

TEST_CASE("all hear a report in rounds, those that lead hear it at once") {
  report_news x;
  const auto count = static_cast<std::uint8_t>(limits::few_peers + 4);
  auto many = guests(count);
  for (std::uint8_t i = 0; i < count; ++i) {
    // The first of them only join: a crowd that does must not take the place
    // of those that lead.
    auto theirs = saying(i < 3 ? phase::joining : phase::accumulating, 3);
    theirs.id = id(10 + i);
    many.heard(theirs);
  }
  x.take(saying(phase::accumulating, 3), at(0s));
  CHECK(x.due(at(0s)));
  CHECK(x.round(many, all_kept, at(0s)).size() == count);
  CHECK_FALSE(x.due(at(0s)));
  x.take(saying(phase::accumulating, 4), at(1ms));
  CHECK(x.round(many, all_kept, at(1ms))
        == std::vector<peer_id>{id(13), id(14), id(15)});
  CHECK(x.due(at(1ms))); // The others do not know it yet.
  x.leads(id(20));
  x.take(saying(phase::accumulating, 4), at(1ms));
  CHECK(x.round(many, all_kept, at(1ms))
        == std::vector<peer_id>{id(20), id(13), id(14)});
  CHECK(x.round(many, all_kept, at(2ms)).empty());
  CHECK(x.round(many, all_kept, at(4 * limits::report_pause_per_peer)).size()
        == count);
}

TEST_CASE("who says that it enters does not slow down those that are in") {
  report_news x;
  const std::uint8_t partners = 6;
  const auto count = static_cast<std::uint8_t>(limits::few_peers + partners);
  auto many = guests(count);
  for (std::uint8_t i = 0; i < count; ++i) {
    auto theirs = saying(phase::accumulating, 3);
    theirs.id = id(10 + i);
    many.heard(theirs);
    if (i < partners)
      many.works_with(id(10 + i));
  }
  x.take(saying(phase::accumulating, 3), at(0s));
  CHECK(x.round(many, all_kept, at(0s)).size() == count);
  for (auto now : {10ms, 20ms, 290ms}) {
    x.take(saying(phase::accumulating, 4), at(now));
    CHECK(x.round(many, all_kept, at(now)).size() == partners);
  }
  const auto pause = partners * limits::report_pause_per_peer;
  x.take(saying(phase::accumulating, 4), at(pause));
  CHECK(x.round(many, all_kept, at(pause)).size() == count);
}

TEST_CASE("a peer with tiny batches tells strangers no more than they read") {
  report_news x;
  auto two = guests(2);
  for (std::uint8_t i : {10, 11}) {
    auto theirs = saying(phase::accumulating, 3);
    theirs.id = id(i);
    two.heard(theirs);
  }
  two.works_with(id(10));
  letter_allowance partner{"192.0.2.1", nullptr},
      stranger{"192.0.2.1", nullptr};
  std::size_t to_partner = 0, to_stranger = 0;
  for (duration now{0}; now < 60s; now += 250us) {
    const auto report = saying(phase::accumulating, 3);
    x.take(report, at(now));
    for (const auto& who : x.round(two, all_kept, at(now))) {
      const bool works = who == id(10);
      ++(works ? to_partner : to_stranger);
      CHECK((works ? partner : stranger)
                .take(cost_of(report, works), works, at(now))
            == letter_allowance::verdict::read);
    }
  }
  CHECK(to_partner == 240'000); // Each batch may be what a step waits for.
  CHECK(double(to_stranger)
        == doctest::Approx(60 * limits::reports_to_strangers
                           + limits::reports_to_strangers_at_once)
               .epsilon(1e-3));
}

TEST_CASE("a contributor tells its sponsor what changes, and others rarely") {
  report_news x;
  auto some = guests(2);
  x.pace(20s);
  auto mine = saying(phase::accumulating, 3);
  mine.contributes = true;
  mine.sponsor = id(10);
  x.take(mine, at(0s));
  CHECK(x.cells(some, all_kept, at(0s)).size() == 2); // It contributes now.
  mine.samples = 5;
  x.take(mine, at(1s));
  CHECK(x.cells(some, all_kept, at(1s)) == std::vector<peer_id>{id(10)});
  CHECK(x.cells(some, all_kept, at(2s)).empty());
  CHECK(x.cells(some, all_kept, at(21s)) == std::vector<peer_id>{id(10)});
  // By then it has more samples than it said.
  mine.samples_per_second = 10;
  x.take(mine, at(30s));
  CHECK(x.by(at(31s)).samples == 15);
}

TEST_CASE(
    "a peer that only joins a run that is there is not found in the DHT") {
  run_lookup x{id(1), role::trainer, "soup", at(0s)};
  auto some = guests(2);
  progress_report mine;
  mine.id = id(1);
  auto turn = x.take_turn({mine, false, false, some}, at(0s));
  CHECK_FALSE(turn.publish); // Is there a run already?
  REQUIRE(turn.look_up);
  CHECK(turn.look_up->most == limits::records_of_few);
  CHECK_FALSE(x.take_turn({mine, false, false, some}, at(1s)).look_up);
  x.found({}, 0, 1, false, at(1s));
  CHECK(x.looked_up());
  turn = x.take_turn({mine, false, false, some}, at(2s));
  CHECK(turn.publish); // There is none: others may found it together.
  REQUIRE(turn.look_up);
  CHECK(turn.look_up->most == 0);
  auto other = saying(phase::accumulating, 3);
  x.heard(other, at(2s));
  CHECK_FALSE(x.take_turn({mine, false, false, some}, at(6s)).publish);
  CHECK(x.take_turn({mine, true, false, some}, at(7s)).publish);
}

TEST_CASE("a record counts only where its own peer wrote it") {
  run_lookup x{id(1), role::trainer, "soup", at(0s)};
  auto record = [](std::uint8_t number, std::uint8_t subkey) {
    progress_report said;
    said.id = id(number);
    auto name = id(subkey);
    return dht_record{key_of("run/soup"),
                      {name.bytes.begin(), name.bytes.end()},
                      encode_progress(said),
                      5000};
  };
  auto finding = x.found({record(2, 2), record(3, 4), record(1, 1)}, 0, 1,
                         false, at(0s));
  REQUIRE(finding.reports.size() == 1);
  CHECK(finding.reports[0].report.id == id(2));
  CHECK(finding.reports[0].age == limits::report_life - 5s);
  CHECK(finding.whole);
  CHECK(finding.first);
}

TEST_CASE("guests that only hubs lead to hear of steps at once, else rarely") {
  report_news x;
  auto some = guests(4); // With the ids 10 to 13; this peer's is 12.
  for (std::uint8_t i = 0; i < 4; ++i) {
    auto theirs = saying(phase::accumulating, 3);
    theirs.id = id(10 + i);
    some.heard(theirs);
    some.line({id(10 + i), {"10.0.0.1", 7000}}, i != 1, false);
  }
  x.sign(id(12), role::trainer, {}, {}, reach::symmetric, {});
  auto mine = saying(phase::accumulating, 3);
  mine.id = id(12);
  auto told = [&](duration now) {
    ++mine.samples;
    x.take(mine, at(now));
    return x.round(some, all_kept, at(now));
  };
  const std::vector<peer_id> direct{id(11)};
  const std::vector<peer_id> leader{id(10), id(11)};
  CHECK(told(0s).size() == 4); // It takes part now.
  CHECK(told(100ms) == direct);
  CHECK(x.due(at(100ms))); // The others do not know it yet.
  CHECK(told(limits::relayed_leader_pause) == leader);
  CHECK(told(limits::relayed_leader_pause + 100ms) == direct);
  // Nothing new: who has not heard it yet does.
  CHECK(x.round(some, all_kept, at(limits::relayed_report_pause)).size() == 3);
  CHECK_FALSE(x.due(at(limits::relayed_report_pause)));
  ++mine.step;
  CHECK(told(limits::relayed_report_pause + 100ms).size() == 4);
  CHECK(told(limits::relayed_report_pause + 200ms) == direct);
  mine.phase = phase::waiting;
  CHECK(told(limits::relayed_report_pause + 300ms).size() == 4);
}
