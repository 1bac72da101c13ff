#include "runtime/experts/expert_records.hpp"
#include "runtime/experts/replica_questions.hpp"

#include <doctest/doctest.h>

#include "runtime/experts/expert_rivals.hpp"
#include "runtime/experts/host_notices.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

using questions = replica_questions;

peer_id peer(std::uint8_t number) {
  peer_id x;
  x.bytes[31] = number;
  return x;
}

contact who(std::uint8_t number) {
  return {peer(number), {"10.0.0." + std::to_string(number), 1000}};
}

expert_announcement says(std::uint8_t host, std::uint32_t term) {
  return {who(host), 1, 1, 7, term};
}

expert_host_notice notice(std::uint8_t host) {
  expert_host_notice x;
  x.host = who(host);
  x.kind.bytes[0] = 9;
  return x;
}

const std::string run = "soup";

} // namespace

TEST_CASE("hosts are asked for often until another one is known") {
  questions q{run, peer(1)};
  time_point now{1h};
  CHECK(q.hosts_due(now));
  CHECK_FALSE(q.hosts_due(now));
  auto keys = q.ask(questions::hosts{});
  REQUIRE(keys == std::vector<record_key>{hosts_key(run)});
  auto answer = q.answered(keys[0], {hosts_record(run, notice(1))}, 3);
  REQUIRE(answer.size() == 1);
  CHECK(std::get<questions::hosts>(answer[0]).known.size() == 1);
  now += limits::expert_hosts_first_look;
  CHECK(q.hosts_due(now)); // Only this one is there.
  q.ask(questions::hosts{});
  answer = q.answered(
      keys[0], {hosts_record(run, notice(1)), hosts_record(run, notice(2))}, 3);
  CHECK(std::get<questions::hosts>(answer[0]).known.size() == 2);
  CHECK(q.hosts_due(now + limits::expert_hosts_first_look));
  now += limits::expert_hosts_first_look;
  CHECK_FALSE(q.hosts_due(now + limits::expert_hosts_look - 1ms));
  CHECK(q.hosts_due(now + limits::expert_hosts_look));
}

TEST_CASE("a lease is there or not, but not when nobody answers") {
  questions q{run, peer(1)};
  auto ask
      = [&](const std::vector<dht_record>& records, std::uint32_t answers) {
          auto keys = q.ask(questions::lease{peer(2)});
          REQUIRE(keys.size() == 1);
          CHECK(keys[0] == lease_key(run, peer(2)));
          return q.answered(keys[0], records, answers);
        };
  CHECK(ask({}, 0).empty());
  auto gone = ask({}, 3);
  REQUIRE(gone.size() == 1);
  CHECK_FALSE(std::get<questions::lease>(gone[0]).there);
  CHECK(std::get<questions::lease>(gone[0]).owner == peer(2));
  auto there = ask({lease_record(run, notice(2))}, 0);
  REQUIRE(there.size() == 1);
  CHECK(std::get<questions::lease>(there[0]).there);
}

TEST_CASE("one look-up answers all questions about its key") {
  questions q{run, peer(1)};
  CHECK(q.ask(questions::rivals{"ffn.1"}).size() == 1);
  auto more = q.ask(questions::orphan{{"ffn.1", true}});
  REQUIRE(more == std::vector<record_key>{replicas_key(run, "ffn.1")});
  auto hosts = q.answered(expert_key(run, "ffn.1"),
                          {host_record(run, "ffn.1", says(2, 2))}, 3);
  REQUIRE(hosts.size() == 1); // The orphan's guards are not known yet.
  CHECK(std::get<questions::rivals>(hosts[0]).hosts.size() == 1);
  auto guards = q.answered(more[0],
                           {replica_record(run, "ffn.1", says(3, 1)),
                            replica_record(run, "ffn.1", says(4, 1))},
                           3);
  REQUIRE(guards.size() == 1);
  auto& whole = std::get<questions::orphan>(guards[0]);
  CHECK(whole.what.uid == "ffn.1");
  CHECK(whole.what.last);
  CHECK(whole.hosts->size() == 1);
  CHECK(whole.guards->size() == 2);
  CHECK(q.answered(more[0], {}, 3).empty());
}

TEST_CASE("what a router that is gone was asked is asked again") {
  questions q{run, peer(1)};
  auto key = q.ask(questions::rivals{"ffn.1"}).at(0);
  CHECK(q.ask(questions::rivals{"ffn.1"}).empty());
  q.forget();
  CHECK(q.answered(key, {}, 3).empty());
  CHECK(q.ask(questions::rivals{"ffn.1"}).size() == 1);
}

TEST_CASE("a host gives way to the highest tenure above its own") {
  expert_rivals rivals{peer(5)};
  time_point now{1h};
  rivals.serves("ffn.1", 2, now);
  CHECK(rivals.due(now, 0).empty());
  CHECK(rivals.due(now, 9) == std::vector<std::string>{"ffn.1"});
  CHECK(rivals.due(now, 9).empty());
  rivals.serves("ffn.1", 2, now); // Saved again.
  CHECK(rivals.due(now + limits::expert_rivals_look - 1ms, 9).empty());
  CHECK(rivals.due(now + limits::expert_rivals_look, 9).size() == 1);
  CHECK_FALSE(rivals.better("ffn.1", {says(9, 1), says(4, 2), says(5, 7)}));
  CHECK_FALSE(rivals.better("ffn.2", {says(9, 9)}));
  auto best = rivals.better("ffn.1", {says(6, 2), says(3, 4), says(7, 3)});
  REQUIRE(best);
  CHECK(best->host == peer(3));
  CHECK(best->term == 4);
  SUBCASE("it leaves") {
    rivals.leave();
    CHECK(rivals.due(now + 1h, 9).empty());
    CHECK(rivals.has("ffn.1"));
  }
  SUBCASE("it serves it no more") {
    rivals.dropped("ffn.1");
    CHECK_FALSE(rivals.has("ffn.1"));
    CHECK_FALSE(rivals.better("ffn.1", {says(9, 9)}));
  }
}

TEST_CASE("a host says that it lives, and what room it has, when others can "
          "reach it") {
  host_notices notices{run, peer(1), notice(1).kind};
  time_point now{1h};
  CHECK(notices.due(now, 3).empty());
  notices.reachable({"10.0.0.1", 1000});
  auto both = notices.due(now, 3);
  REQUIRE(both.size() == 2);
  CHECK(both[0].key == lease_key(run, peer(1)));
  CHECK(both[1].key == hosts_key(run));
  CHECK(notices_in({both[1]}).at(0).spare == 3);
  CHECK(notices.due(now, 3).empty());
  now += limits::expert_lease_renewal;
  CHECK(notices.due(now, 3).size() == 1);
  notices.hurry();
  auto none = notices.due(now, 0);
  REQUIRE(none.size() == 1);
  CHECK(notices_in(none).at(0).spare == 0);
}
