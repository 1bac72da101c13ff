#include "runtime/membership/peer_ledger.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

using namespace potluck;
using namespace std::chrono_literals;

using parting = peer_ledger::parting;
using verdict = peer_ledger::verdict;

namespace {

peer_id id(std::uint32_t n) {
  peer_id result;
  result.bytes[0] = static_cast<std::uint8_t>(n >> 16);
  result.bytes[1] = static_cast<std::uint8_t>(n >> 8);
  result.bytes[2] = static_cast<std::uint8_t>(n);
  result.bytes[31] = 1;
  return result;
}

contact peer(std::uint32_t n, std::uint16_t port = 7000) {
  return {id(n), {"10.0.0." + std::to_string(n), port}};
}

progress_report report_of(std::uint32_t n, std::uint64_t step = 0) {
  progress_report said;
  said.id = id(n);
  said.where = peer(n).where;
  said.step = step;
  return said;
}

/// The peer says that it is there.
verdict hear(peer_ledger& ledger, const contact& who, time_point now) {
  progress_report said;
  said.id = who.id;
  said.where = who.where;
  return ledger.report(said, now);
}

const peer_id self = id(0);
const address seed_address{"seed.example", 7000};

} // namespace

TEST_CASE(
    "a peer that is learnt is dialled once until the dial's end is known") {
  peer_ledger ledger{self, 1};
  time_point now{};
  CHECK(hear(ledger, peer(1), now) == verdict::added);
  CHECK(hear(ledger, peer(1), now) == verdict::known);
  CHECK(ledger.next_dial() == now);
  auto due = ledger.due_for_dial(now, 10);
  REQUIRE(due.size() == 1);
  CHECK(due[0] == peer(1));
  CHECK(ledger.due_for_dial(now + 1s, 10).empty());
  CHECK(ledger.connected(peer(1), now + 1s));
  CHECK(ledger.is_linked(id(1)));
  CHECK_FALSE(ledger.next_dial());
  CHECK(ledger.due_for_dial(now + 1h, 10).empty());
}

TEST_CASE("a ledger never contains its own peer") {
  peer_ledger ledger{self, 1};
  time_point now{};
  CHECK(hear(ledger, {self, {"10.0.0.1", 7000}}, now) == verdict::itself);
  CHECK_FALSE(ledger.connected({self, {"10.0.0.1", 7000}}, now));
  CHECK(ledger.report(report_of(0), now) == verdict::itself);
  ledger.disconnected(self, parting::misbehaved, now);
  CHECK(ledger.size() == 0);

  CHECK(ledger.add_seed(seed_address, now) == verdict::added);
  REQUIRE(ledger.due_for_dial(now, 1).size() == 1);
  ledger.reached(seed_address, self, now);
  CHECK(ledger.due_for_dial(now + 24h, 10).empty());
  CHECK_FALSE(ledger.next_dial());
}

TEST_CASE("an address that proves to be our own is left alone") {
  peer_ledger ledger{self, 1};
  time_point now{};
  // What this peer was before it lost its identity.
  CHECK(hear(ledger, peer(1), now) == verdict::added);
  REQUIRE(ledger.due_for_dial(now, 1).size() == 1);
  ledger.reached(peer(1).where, self, now);
  ledger.dial_failed(peer(1), now);
  // However often the others vouch for it.
  for (; now < time_point{5min}; now += 1s) {
    CHECK(hear(ledger, peer(1), now) == verdict::replaced);
    CHECK(ledger.report(report_of(1), now) == verdict::replaced);
    CHECK(ledger.due_for_dial(now, 10).empty());
  }
  // The address may belong to somebody else one day.
  now += address_book::own_life;
  CHECK(hear(ledger, peer(1), now) == verdict::known);
  CHECK(ledger.due_for_dial(now, 10).size() == 1);
  ledger.dial_failed(peer(1), now);
  // Elsewhere that peer is another matter.
  ledger.reached(peer(1).where, self, now);
  CHECK(hear(ledger, peer(1, 7001), now) != verdict::replaced);
  auto due = ledger.due_for_dial(now + 1min, 10);
  REQUIRE(due.size() == 1);
  CHECK(due[0] == peer(1, 7001));
}

TEST_CASE("own addresses are a bounded number") {
  peer_ledger ledger{self, 1};
  time_point now{};
  for (std::uint16_t port = 1; port <= 1000; ++port)
    ledger.reached(peer(1, port).where, self, now);
  std::size_t replaced = 0;
  for (std::uint16_t port = 1; port <= 1000; ++port)
    replaced += hear(ledger, {id(port), peer(1, port).where}, now)
                == verdict::replaced;
  CHECK(replaced == address_book::max_own);
}

TEST_CASE("whoever answers at an address replaces who was said to be there") {
  peer_ledger ledger{self, 1};
  time_point now{};
  auto other = contact{id(2), peer(1).where};
  CHECK(ledger.report(report_of(1), now) == verdict::added);
  REQUIRE(ledger.due_for_dial(now, 1).size() == 1);
  CHECK(ledger.connected(other, now));
  ledger.dial_failed(peer(1), now);
  CHECK(ledger.reports(now, 1h).empty());
  CHECK(ledger.report(report_of(1), now) == verdict::replaced);
  CHECK(hear(ledger, peer(1), now) == verdict::replaced);
  // A connection proves more than an address.
  CHECK(ledger.connected(peer(1), now));
  CHECK(ledger.report(report_of(1), now) == verdict::known);
  ledger.disconnected(id(1), parting::left, now);
  // When the holder has gone, the address is free.
  ledger.disconnected(id(2), parting::left, now);
  CHECK(hear(ledger, peer(1), now) == verdict::added);
}

TEST_CASE("at a bootstrap's address others are looked for, too") {
  peer_ledger ledger{self, 1};
  time_point now{};
  CHECK(ledger.connected({id(2), peer(1).where}, now, true));
  CHECK(hear(ledger, peer(1), now) == verdict::added);
  REQUIRE(ledger.due_for_dial(now, 9).size() == 1);
  CHECK(ledger.connected(peer(1), now));
  CHECK(ledger.is_linked(id(2)));
}

TEST_CASE("what cannot be dialled is not dialled but may connect") {
  peer_ledger ledger{self, 1};
  CHECK(hear(ledger, {peer_id{}, {"h", 7}}, time_point{}) == verdict::nonsense);
  CHECK(ledger.add_seed({"h", 0}, time_point{}) == verdict::undialable);
  CHECK(ledger.size() == 0);
  hear(ledger, peer(1, 0), time_point{});
  hear(ledger, {id(2), {"", 7}}, time_point{});
  CHECK(ledger.due_for_dial(time_point{1h}, 10).empty());
  CHECK(ledger.connected(peer(1, 0), time_point{}));
  ledger.disconnected(id(1), parting::lost, time_point{1s});
  CHECK(ledger.due_for_dial(time_point{1h}, 10).empty());
}

TEST_CASE(
    "each failure doubles the wait, half of which is chance, up to 30 s") {
  std::set<duration> waits_of_first;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    peer_ledger ledger{self, seed};
    time_point now{};
    hear(ledger, peer(1), now);
    duration most = 500ms;
    for (int failures = 1; failures <= 10; ++failures) {
      auto due = ledger.due_for_dial(now, 1);
      REQUIRE(due.size() == 1);
      ledger.dial_failed(due[0], now);
      auto wait = *ledger.next_dial() - now;
      CHECK(wait >= most / 2);
      CHECK(wait <= most);
      if (failures == 1)
        waits_of_first.insert(wait);
      CHECK(ledger.due_for_dial(now + wait - 1ns, 1).empty());
      now += wait;
      most = std::min<duration>(most * 2, 30s);
    }
    CHECK(most == 30s);
  }
  CHECK(waits_of_first.size() > 40);
}

TEST_CASE("a dial whose end nobody reports counts as failed") {
  peer_ledger ledger{self, 1};
  time_point now{};
  hear(ledger, peer(1), now);
  ledger.add_seed(seed_address, now);
  CHECK(ledger.due_for_dial(now, 10).size() == 2);
  CHECK(ledger.due_for_dial(now + peer_ledger::dial_patience - 1ns, 9).empty());
  now += peer_ledger::dial_patience;
  CHECK(ledger.due_for_dial(now, 10).empty());
  CHECK(*ledger.next_dial() > now); // Both have failed.
  CHECK(ledger.due_for_dial(now + 1s, 10).size() == 2);
}

TEST_CASE("who is dialled can be chosen, the seeds too") {
  peer_ledger ledger{self, 1};
  time_point now{};
  hear(ledger, peer(1), now);
  hear(ledger, peer(2), now);
  ledger.add_seed(seed_address, now);
  auto due = ledger.due_for_dial(now, 10,
                                 [](const peer_id& x) { return x == id(2); });
  REQUIRE(due.size() == 1);
  CHECK(due[0] == peer(2));
  due = ledger.due_for_dial(now, 10,
                            [](const peer_id& x) { return x.empty(); });
  REQUIRE(due.size() == 1);
  CHECK(due[0].where == seed_address);
}

TEST_CASE("a lost peer is dialled again, where it was reached last") {
  peer_ledger ledger{self, 1};
  time_point now{};
  hear(ledger, peer(1, 1), now);
  ledger.connected(peer(1, 2), now);
  now += 1min;
  ledger.disconnected(id(1), parting::lost, now);
  CHECK_FALSE(ledger.is_linked(id(1)));
  CHECK(ledger.due_for_dial(now, 10).empty());
  auto due = ledger.due_for_dial(now + 500ms, 10);
  REQUIRE(due.size() == 1);
  CHECK(due[0] == peer(1, 2));
  // The other address has its turn when this one fails.
  ledger.dial_failed(due[0], now);
  due = ledger.due_for_dial(now + 1s, 10);
  REQUIRE(due.size() == 1);
  CHECK(due[0] == peer(1, 1));
}

TEST_CASE("connections that do not last do not end the backoff") {
  peer_ledger ledger{self, 1};
  time_point now{};
  for (int i = 0; i < 8; ++i) {
    ledger.connected(peer(1), now);
    now += 1s;
    ledger.disconnected(id(1), parting::lost, now);
  }
  CHECK(*ledger.next_dial() - now >= 15s);
  ledger.connected(peer(1), now);
  now += 30s;
  ledger.disconnected(id(1), parting::lost, now);
  CHECK(*ledger.next_dial() - now <= 500ms);
}

TEST_CASE("a peer that says goodbye is forgotten until somebody vouches") {
  peer_ledger ledger{self, 1};
  ledger.connected(peer(1), time_point{});
  ledger.report(report_of(1), time_point{});
  ledger.disconnected(id(1), parting::left, time_point{1s});
  CHECK(ledger.size() == 0);
  CHECK(ledger.reports(time_point{1s}, 1h).empty());
  CHECK(hear(ledger, peer(1), time_point{2s}) == verdict::added);
}

TEST_CASE("whom this peer had no need of is there as soon as it has") {
  peer_ledger ledger{self, 1};
  time_point now{};
  ledger.add_seed(seed_address, now);
  REQUIRE(ledger.due_for_dial(now, 10).size() == 1);
  ledger.reached(seed_address, id(1), now);
  ledger.connected(peer(1, 0), now);
  ledger.connected(peer(2), now);
  now += 5s;
  ledger.disconnected(id(1), parting::unneeded, now);
  ledger.disconnected(id(2), parting::unneeded, now);
  const auto due = ledger.due_for_dial(now, 10);
  REQUIRE(due.size() == 2);
  CHECK(due[0].where == seed_address);
  CHECK(due[1] == peer(2));
}

TEST_CASE("who refused or misbehaved is left alone, then given a chance") {
  for (auto why : {parting::refused, parting::misbehaved}) {
    peer_ledger ledger{self, 1};
    time_point now{};
    ledger.connected(peer(1), now);
    ledger.report(report_of(1), now);
    ledger.disconnected(id(1), why, now);
    CHECK(ledger.is_banned(id(1), now));
    CHECK(hear(ledger, peer(1), now) == verdict::banned);
    CHECK(ledger.report(report_of(1), now) == verdict::banned);
    CHECK_FALSE(ledger.connected(peer(1), now));
    CHECK(ledger.reports(now, 1h).empty());
    auto before = now + peer_ledger::ban - 1ns;
    ledger.forget_stale(before);
    CHECK(ledger.is_banned(id(1), before));
    CHECK(ledger.due_for_dial(before, 10).empty());
    CHECK(*ledger.next_dial() == now + peer_ledger::ban);
    now += peer_ledger::ban;
    CHECK_FALSE(ledger.is_banned(id(1), now));
    CHECK(ledger.due_for_dial(now, 10).size() == 1);
    CHECK(ledger.connected(peer(1), now));
  }
}

TEST_CASE("a peer refused during its handshake is banned, seed or not") {
  peer_ledger ledger{self, 1};
  time_point now{};
  ledger.add_seed(seed_address, now);
  REQUIRE(ledger.due_for_dial(now, 10).size() == 1);
  ledger.reached(seed_address, id(1), now);
  ledger.disconnected(id(1), parting::refused, now);
  CHECK(ledger.is_banned(id(1), now));
  CHECK(ledger.due_for_dial(now + peer_ledger::ban - 1ns, 10).empty());
  CHECK(ledger.due_for_dial(now + peer_ledger::ban, 10).size() == 1);
}

TEST_CASE("a seed is dialled until it is linked, and again when it is lost") {
  peer_ledger ledger{self, 1};
  time_point now{};
  CHECK(ledger.add_seed(seed_address, now) == verdict::added);
  CHECK(ledger.add_seed(seed_address, now) == verdict::known);
  auto due = ledger.due_for_dial(now, 10);
  REQUIRE(due.size() == 1);
  CHECK(due[0].id.empty());
  CHECK(due[0].where == seed_address);
  ledger.dial_failed(due[0], now);
  CHECK(ledger.due_for_dial(now, 10).empty());
  now += 1s;
  REQUIRE(ledger.due_for_dial(now, 10).size() == 1);
  ledger.reached(seed_address, id(1), now);
  // It does not listen where others could reach it: only the seed remains.
  ledger.connected(peer(1, 0), now);
  CHECK(ledger.due_for_dial(now + 24h, 10).empty());
  now += 24h;
  ledger.disconnected(id(1), parting::left, now);
  ledger.forget_stale(now + 24h);
  CHECK(ledger.due_for_dial(now + 29s, 10).empty());
  due = ledger.due_for_dial(now + 30s, 10);
  REQUIRE(due.size() == 1);
  CHECK(due[0].where == seed_address);
}

TEST_CASE("the promising are dialled first, and no more than asked for") {
  peer_ledger ledger{self, 1};
  time_point now{};
  hear(ledger, peer(1), now);
  ledger.dial_failed(ledger.due_for_dial(now, 1).at(0), now);
  now += 1s;
  hear(ledger, peer(2), now);
  hear(ledger, peer(3), now);
  CHECK(ledger.due_for_dial(now, 0).empty());
  auto due = ledger.due_for_dial(now, 2);
  REQUIRE(due.size() == 2);
  CHECK(due[0] == peer(2));
  CHECK(due[1] == peer(3));
  due = ledger.due_for_dial(now, 2);
  REQUIRE(due.size() == 1);
  CHECK(due[0] == peer(1));
}

TEST_CASE("a failed dial that crossed an incoming connection changes nothing") {
  peer_ledger ledger{self, 1};
  time_point now{};
  hear(ledger, peer(1), now);
  auto due = ledger.due_for_dial(now, 1);
  ledger.connected(peer(1), now);
  ledger.dial_failed(due[0], now);
  CHECK(ledger.is_linked(id(1)));
}

TEST_CASE("a record that is found again is no news, the next one is") {
  peer_ledger ledger{self, 1};
  time_point now{1h};
  CHECK(ledger.report(report_of(3), now, 1s) == verdict::added);
  CHECK(ledger.report(report_of(3), now + 1s, 2s) == verdict::older);
  CHECK(ledger.report(report_of(3), now + 3s, 2s) == verdict::known);
}

TEST_CASE("of one peer's reports the one said last counts") {
  peer_ledger ledger{self, 1};
  time_point now{1h};
  CHECK(ledger.report(report_of(1, 5), now, 2s) == verdict::added);
  CHECK(ledger.report(report_of(1, 4), now, 3s) == verdict::older);
  CHECK(ledger.report(report_of(1, 6), now + 1s) == verdict::known);
  CHECK(ledger.report(report_of(1, 5), now + 2s, 4s) == verdict::older);
  CHECK(ledger.report(report_of(2, 9), now) == verdict::added);
  auto fresh = ledger.reports(now + 1s, 1h);
  REQUIRE(fresh.size() == 2);
  CHECK(fresh[0].step == 6);
  CHECK(fresh[1].step == 9);
  fresh = ledger.reports(now + 10s, 9s);
  REQUIRE(fresh.size() == 1);
  CHECK(fresh[0].step == 6);
  // A report makes its peer known, and dialled.
  CHECK(ledger.due_for_dial(now, 10).size() == 2);
}

TEST_CASE("a report with numbers that cannot be changes nothing") {
  peer_ledger ledger{self, 1};
  time_point now{};
  for (double bad : {-1.0, std::numeric_limits<double>::infinity(),
                     std::numeric_limits<double>::quiet_NaN()}) {
    auto said = report_of(1);
    said.samples_per_second = bad;
    CHECK(ledger.report(said, now) == verdict::nonsense);
    said = report_of(1);
    said.upload_bytes_per_second = bad;
    CHECK(ledger.report(said, now) == verdict::nonsense);
    said = report_of(1);
    said.download_bytes_per_second = bad;
    CHECK(ledger.report(said, now) == verdict::nonsense);
    said = report_of(1);
    said.loss = 1e301 * bad; // A loss may be negative.
    CHECK(ledger.report(said, now) == verdict::nonsense);
  }
  auto said = report_of(1);
  said.where.host = std::string(1000, 'x');
  CHECK(ledger.report(said, now) == verdict::nonsense);
  CHECK(ledger.report(report_of(1), now, -1s) == verdict::nonsense);
  CHECK(ledger.size() == 0);
}

TEST_CASE("whoever is not heard of any more is forgotten, hearsay or not") {
  peer_ledger ledger{self, 1};
  time_point now{};
  hear(ledger, peer(1), now);
  hear(ledger, peer(2), now); // and now and then
  ledger.connected(peer(3), now);
  ledger.report(report_of(4), now);
  ledger.dial_failed(ledger.due_for_dial(now, 1).at(0), now);
  for (int i = 0; i < 10; ++i) {
    now += 1min;
    hear(ledger, peer(2), now);
    ledger.forget_stale(now);
  }
  CHECK(ledger.size() == 2);
  CHECK(ledger.last_report(id(2)));
  CHECK(ledger.is_linked(id(3)));
}

TEST_CASE("a flood of hearsay pushes out hearsay, never a proven peer") {
  peer_ledger ledger{self, 1};
  time_point now{};
  const auto most = static_cast<std::uint32_t>(peer_ledger::max_peers);
  ledger.connected(peer(1), now);
  ledger.connected(peer(2), now);
  ledger.disconnected(id(2), parting::lost, now);
  ledger.disconnected(id(3), parting::misbehaved, now);
  for (std::uint32_t i = 10; i < 10 + most + 100; ++i) {
    hear(ledger, peer(i), now += 1ms);
    REQUIRE(ledger.size() <= peer_ledger::max_peers);
  }
  CHECK(ledger.size() == peer_ledger::max_peers);
  CHECK(ledger.is_linked(id(1)));
  CHECK(ledger.is_banned(id(3), now));
  auto dialled = ledger.due_for_dial(now + 1min, peer_ledger::max_peers);
  CHECK(std::count(dialled.begin(), dialled.end(), peer(2)) == 1);
  CHECK_FALSE(ledger.last_report(id(10))); // the oldest hearsay
  CHECK(ledger.last_report(id(10 + most + 99)));
}

TEST_CASE("linked peers alone can fill a ledger, and then nobody gets in") {
  peer_ledger ledger{self, 1};
  const auto most = static_cast<std::uint32_t>(peer_ledger::max_peers);
  for (std::uint32_t i = 1; i <= most; ++i)
    REQUIRE(ledger.connected(peer(i), time_point{}));
  CHECK_FALSE(ledger.connected(peer(most + 1), time_point{}));
  CHECK(hear(ledger, peer(most + 1), time_point{}) == verdict::full);
  CHECK(ledger.report(report_of(most + 1), time_point{}) == verdict::full);
  ledger.disconnected(id(1), parting::lost, time_point{});
  CHECK(hear(ledger, peer(most + 1), time_point{}) == verdict::full);
  CHECK(ledger.connected(peer(most + 1), time_point{}));
}

TEST_CASE("whatever happens, dials never overlap and the ledger stays sound") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    random_stream random{seed};
    peer_ledger ledger{self, seed};
    time_point now{};
    std::map<peer_id, contact> dialling;
    std::set<peer_id> linked;
    for (int i = 0; i < 3000; ++i) {
      now += std::chrono::milliseconds(random.below(2000));
      auto who = peer(static_cast<std::uint32_t>(random.below(20)),
                      static_cast<std::uint16_t>(random.below(8)));
      if (random.below(8) == 0) // Where somebody else is, or we are.
        who.where = peer(1, who.where.port).where;
      if (random.below(100) == 0)
        ledger.reached(who.where, self, now);
      switch (random.below(6)) {
        case 0:
          hear(ledger, who, now);
          break;
        case 1:
          for (auto& x : ledger.due_for_dial(now, 3)) {
            CHECK(x.id != self);
            CHECK(linked.count(x.id) == 0);
            CHECK_FALSE(ledger.is_banned(x.id, now));
            CHECK(dialling.emplace(x.id, x).second);
          }
          break;
        case 2:
          // Every dial ends well within the ledger's patience.
          for (auto& [id, x] : dialling) {
            if (random.below(2) == 0 && ledger.connected(x, now))
              linked.insert(id);
            else
              ledger.dial_failed(x, now);
          }
          dialling.clear();
          break;
        case 3:
          if (ledger.connected(who, now)) {
            linked.insert(who.id);
            dialling.erase(who.id);
          }
          break;
        case 4:
          if (linked.erase(who.id) != 0)
            ledger.disconnected(who.id, static_cast<parting>(random.below(5)),
                                now);
          break;
        default:
          ledger.report(report_of(static_cast<std::uint32_t>(random.below(20))),
                        now, std::chrono::seconds(random.below(100)));
          ledger.forget_stale(now);
      }
      REQUIRE_FALSE(ledger.last_report(self));
      for (std::uint32_t n = 0; n < 20; ++n)
        REQUIRE(ledger.is_linked(id(n)) == (linked.count(id(n)) == 1));
    }
  }
}

TEST_CASE("a seed is whoever answers where the user has named, no hint") {
  peer_id self, a, b;
  self.bytes[0] = 1;
  a.bytes[0] = 2;
  b.bytes[0] = 3;
  peer_ledger x{self, 7};
  x.add_seed({"named", 7000}, {});
  x.add_hint({"heard", 7000}, {});
  CHECK_FALSE(x.is_seed(a));
  x.reached({"named", 7000}, a, {});
  x.reached({"heard", 7000}, b, {});
  CHECK(x.is_seed(a));
  CHECK_FALSE(x.is_seed(b));
}

TEST_CASE("records that name somebody else's address do not make us knock") {
  peer_ledger ledger{self, 1};
  time_point now{};
  const address victim{"10.9.9.9", 443};
  std::size_t dials = 0;
  for (std::uint32_t i = 1; i <= 600; ++i) { // Ten ids a second, for a minute.
    now += 100ms;
    hear(ledger, {id(i), victim}, now);
    for (auto& x : ledger.due_for_dial(now, 16)) {
      CHECK(x.where == victim);
      ++dials;
      ledger.dial_failed(x, now);
    }
  }
  CHECK(dials <= 10);
}

TEST_CASE("nobody of the internet makes us knock within our house") {
  peer_ledger ledger{self, 1};
  time_point now{};
  const contact printer{id(1), {"192.168.1.7", 9100}};
  ledger.is_seen_at("93.184.216.34");
  hear(ledger, printer, now);
  hear(ledger, {id(2), {"127.0.0.1", 22}}, now);
  hear(ledger, {id(3), {"localhost", 22}}, now);
  CHECK(ledger.due_for_dial(now, 10).empty());
  const contact open{id(4), {"93.184.216.40", 7000}};
  hear(ledger, open, now);
  CHECK(ledger.due_for_dial(now, 10) == std::vector<contact>{open});
  SUBCASE("but whoever came from there is at home with us") {
    REQUIRE(ledger.connected(printer, now));
    ledger.disconnected(id(1), parting::lost, now);
    CHECK(ledger.due_for_dial(now + 1s, 10) == std::vector<contact>{printer});
  }
  SUBCASE("and in a private network all are") {
    ledger.is_seen_at("192.168.1.2");
    CHECK(ledger.due_for_dial(now, 10).size() == 3);
  }
}
