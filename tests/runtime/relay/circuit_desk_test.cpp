/// A hub passes circuits on, within credit and budgets, whatever its guests do.
#include "runtime/relay/circuit_desk.hpp"

#include <map>
#include <set>

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id id(std::uint8_t number, std::uint8_t more = 0) {
  peer_id x;
  x.bytes[0] = number;
  x.bytes[1] = more;
  x.bytes[31] = 1;
  return x;
}

time_point at(duration since) {
  return time_point{1h + since};
}

shared_bytes bytes(std::size_t size) {
  auto all = std::make_shared<std::vector<std::uint8_t>>(size, 7);
  const auto* data = all->data();
  return {std::move(all), data, size};
}

void meet(circuit_desk& desk, connection_id on, const peer_id& who,
          const std::string& host, const std::string& run = "soup") {
  desk.met(on, who, host);
  desk.welcome(on, run);
}

/// Guests 1, 2, ... on connections 11, 12, ...
struct hub {
  explicit hub(std::uint8_t guests = 3) {
    for (std::uint8_t i = 1; i <= guests; ++i)
      meet(desk, 10u + i, id(i), "192.0." + std::to_string(i) + ".1");
  }
  circuit_desk::sendings open(connection_id from, std::uint32_t number,
                              const peer_id& to, time_point now = at(0s)) {
    REQUIRE(desk.take_number(from, number));
    return desk.open(from, {number, to}, now);
  }
  std::string refusal(connection_id from, std::uint32_t number,
                      const peer_id& to, time_point now = at(0s)) {
    auto out = open(from, number, to, now);
    REQUIRE(!out.empty());
    auto* no = std::get_if<circuit_close>(&out[0].what);
    if (no == nullptr)
      return "";
    CHECK(out.size() == 1);
    CHECK(out[0].to == from);
    CHECK(no->circuit == number);
    CHECK_FALSE(no->opened_here);
    return no->reason;
  }

  circuit_desk::sendings pass(connection_id from, const circuit_data& y,
                              const shared_bytes& body,
                              time_point now = at(0s)) {
    return desk.pass(from, y, body, now);
  }

  circuit_desk desk;
};

/// What credit allows in four pieces.
constexpr std::size_t quarter
    = limits::circuit_credit / 4 - limits::circuit_frame_cost;

} // namespace

TEST_CASE("a hub passes bytes on under the numbers of each connection") {
  hub x;
  auto told = x.open(11, 5, id(2));
  REQUIRE(told.size() == 2);
  CHECK(told[0].to == 12);
  const auto open = std::get<circuit_open>(told[0].what);
  CHECK(open.circuit == 1);
  CHECK(open.peer == id(1));
  CHECK_FALSE(open.answer);
  CHECK(told[1].to == 11);
  const auto stands = std::get<circuit_open>(told[1].what);
  CHECK(stands.circuit == 5);
  CHECK(stands.peer == id(2));
  CHECK(stands.answer);
  // Where each is connected from, the hub itself sees.
  CHECK(open.host == "192.0.1.1");
  CHECK(stands.host == "192.0.2.1");

  auto there = x.pass(11, {5, true}, bytes(100));
  REQUIRE(there.size() == 1);
  CHECK(there[0].to == 12);
  CHECK(std::get<circuit_data>(there[0].what).circuit == 1);
  CHECK(std::get<circuit_data>(there[0].what).opened_here);
  CHECK(there[0].body.size == 100);

  auto back = x.pass(12, {1, false}, bytes(3));
  REQUIRE(back.size() == 1);
  CHECK(back[0].to == 11);
  CHECK(std::get<circuit_data>(back[0].what).circuit == 5);
  CHECK_FALSE(std::get<circuit_data>(back[0].what).opened_here);

  auto closed = x.desk.close(12, {1, false, "done"});
  REQUIRE(closed.size() == 1);
  CHECK(closed[0].to == 11);
  CHECK(std::get<circuit_close>(closed[0].what).reason == "done");
  // What crosses the end means nothing.
  CHECK(x.pass(11, {5, true}, bytes(1)).empty());
  CHECK(x.desk.close(11, {5, true, ""}).empty());
  CHECK(x.desk.circuits() == 0);
}

TEST_CASE("a circuit leads to another guest, or nowhere") {
  hub x;
  CHECK(x.refusal(11, 1, id(1)).find("oneself") != std::string::npos);
  CHECK(x.refusal(11, 2, id(9)).find("not connected") != std::string::npos);
  // A connection of which nobody knows who it is.
  CHECK(x.refusal(99, 1, id(1)).find("does not know") != std::string::npos);
  CHECK_FALSE(x.desk.take_number(11, 2)); // Used,
  CHECK_FALSE(x.desk.take_number(11, 1)); // or below one that was.
  CHECK(x.desk.take_number(12, 2));       // Others have their own.
  CHECK(x.desk.circuits() == 0);
}

TEST_CASE("bytes beyond credit cost the circuit, and nothing else") {
  hub x;
  x.open(11, 1, id(2));
  x.open(11, 2, id(3));
  std::vector<circuit_desk::sending> kept; // The next line takes nothing.
  for (int i = 0; i < 4; ++i)
    for (auto& y : x.pass(11, {1, true}, bytes(quarter)))
      kept.push_back(y);
  CHECK(x.desk.held() == limits::circuit_credit);
  CHECK(x.desk.look(at(1s)).empty());
  auto out = x.pass(11, {1, true}, bytes(1));
  REQUIRE(out.size() == 2);
  for (auto& y : out)
    CHECK(std::holds_alternative<circuit_close>(y.what));
  CHECK(x.desk.circuits() == 1);
  kept.clear();
  CHECK(x.desk.held() == 0);
  CHECK(x.pass(11, {2, true}, bytes(1)).size() == 1);
}

TEST_CASE("credit comes back when a line has taken the bytes") {
  hub x;
  x.open(11, 1, id(2));
  {
    auto kept = x.pass(11, {1, true}, bytes(20'000));
    CHECK(x.desk.owes());
    CHECK(x.desk.look(at(0s)).empty());
  }
  auto out = x.desk.look(at(0s));
  REQUIRE(out.size() == 1);
  CHECK(out[0].to == 11);
  CHECK(std::get<circuit_credit>(out[0].what).bytes
        == 20'000 + limits::circuit_frame_cost);
  CHECK_FALSE(std::get<circuit_credit>(out[0].what).opened_here);
  CHECK_FALSE(x.desk.owes());
  // Little is not worth a frame.
  x.pass(11, {1, true}, bytes(1000));
  CHECK_FALSE(x.desk.owes());
}

TEST_CASE("a circuit carries no more than its rate, whatever is asked of it") {
  hub x;
  x.open(11, 1, id(2));
  double passed = 0;
  std::size_t credit = limits::circuit_credit;
  const auto lasts = 20s;
  for (auto now = 0ms; now < lasts; now += 50ms) {
    for (; credit >= 16'000; credit -= 16'000, passed += 16'000)
      REQUIRE(x.pass(11, {1, true}, bytes(16'000 - limits::circuit_frame_cost),
                     at(now))
                  .size()
              == 1);
    for (auto& y : x.desk.look(at(now)))
      credit += std::get<circuit_credit>(y.what).bytes;
  }
  const auto most = limits::circuit_burst + 20 * limits::circuit_rate
                    + limits::circuit_credit;
  CHECK(passed <= most);
  CHECK(passed >= 0.9 * 20 * limits::circuit_rate);
}

TEST_CASE("tiny frames use credit up, too") {
  hub x;
  x.open(11, 1, id(2));
  std::vector<circuit_desk::sending> kept;
  std::size_t passed = 0;
  for (bool open = true; open; passed += open) {
    auto out = x.pass(11, {1, true}, bytes(1));
    open = out.size() == 1;
    if (open)
      kept.push_back(std::move(out[0]));
    CHECK(x.desk.held() <= limits::circuit_credit);
  }
  CHECK(passed == limits::circuit_credit / (1 + limits::circuit_frame_cost));
}

TEST_CASE("a sender far beyond its budget loses the circuit") {
  hub x;
  double passed = 0;
  bool cut = false;
  // Each new circuit has new credit.
  for (std::uint32_t number = 1; number <= limits::opens_at_once && !cut;
       ++number) {
    REQUIRE(x.refusal(11, number, id(2)).empty());
    for (int i = 0; i < 4 && !cut; ++i, passed += 16'384)
      cut = x.pass(11, {number, true}, bytes(quarter)).size() == 2;
    x.desk.close(11, {number, true, ""});
  }
  CHECK(cut);
  CHECK(passed >= limits::sender_burst + limits::sender_debt);
  CHECK(passed <= limits::sender_burst + limits::sender_debt + 50'000);
  CHECK(x.refusal(13, 1, id(2)).empty());
  CHECK(x.pass(13, {1, true}, bytes(quarter)).size() == 1);
}

TEST_CASE("a flood of opens is refused, and stops nobody else") {
  hub x;
  std::uint32_t number = 0;
  std::size_t opened = 0;
  for (int i = 0; i < 1000; ++i)
    opened += x.refusal(11, ++number, id(2)).empty();
  CHECK(opened == limits::circuits_a_pair);
  CHECK(x.refusal(12, 1, id(1)) != ""); // Whoever of the two asks.
  CHECK(x.refusal(13, 1, id(1)).empty());
  CHECK(x.refusal(13, 2, id(2)).empty());
  x.desk.gone(11);
  CHECK(x.desk.circuits() == 1);
  CHECK(x.refusal(13, 3, id(2)).empty());
}

TEST_CASE("64 members have circuits to each other through one hub") {
  circuit_desk desk;
  for (std::uint8_t i = 1; i <= 64; ++i)
    meet(desk, i, id(i), "192.0.2." + std::to_string(i));
  for (std::uint8_t i = 1; i <= 64; ++i)
    for (std::uint8_t j = 1; j <= 64; ++j)
      if (i != j) { // Both at once, at worst.
        REQUIRE(desk.take_number(i, j));
        auto out = desk.open(i, {j, id(j)}, at(0s));
        REQUIRE(out.size() == 2);
        REQUIRE(std::holds_alternative<circuit_open>(out[0].what));
      }
  CHECK(desk.circuits() == 64 * 63);
}

TEST_CASE("a trainer carries less for others than a hub by trade") {
  hub x{10};
  auto budget = limits::trainers_hub;
  budget.circuits = 2;
  x.desk.budget(budget);
  CHECK(x.refusal(11, 1, id(2)) == "");
  CHECK(x.refusal(13, 1, id(4)) == "");
  CHECK(x.refusal(15, 1, id(6))
        == "this hub carries as many circuits as it "
           "can");
  // And its credit comes back more slowly.
  x.pass(11, {1, true}, bytes(quarter));
  x.pass(13, {1, true}, bytes(quarter));
  CHECK(x.desk.look(at(1s)).size() == 2);
  budget.rate = budget.burst = 1000;
  x.desk.budget(budget);
  x.pass(11, {1, true}, bytes(quarter), at(2s));
  CHECK(x.desk.look(at(10s)).empty());
  CHECK(x.desk.look(at(30s)).size() == 1);
}

namespace {

/// Circuits that guests there get who open as many to each other as they can.
/// @param subnet Of the i-th of them.
template <class Subnet>
std::size_t opened_by_crowd(circuit_desk& desk, Subnet subnet) {
  std::size_t opened = 0;
  for (std::uint8_t i = 1; i <= 100; ++i)
    meet(desk, i, id(i), subnet(i) + std::to_string(i));
  for (std::uint8_t i = 1; i <= 100; ++i)
    for (std::uint8_t j = 1; j <= 100; ++j)
      if (i != j) {
        desk.take_number(i, j);
        auto out = desk.open(i, {j, id(j)}, at(0s));
        opened += std::holds_alternative<circuit_open>(out[0].what);
      }
  return opened;
}

/// A school of 40 reaches the others of its group, who are elsewhere.
void check_school_served(circuit_desk& desk) {
  for (std::uint8_t i = 0; i < 20; ++i)
    meet(desk, 400u + i, id(200, i), "203.0.113." + std::to_string(i + 1));
  for (std::uint8_t i = 0; i < 40; ++i) {
    meet(desk, 300u + i, id(201, i), "198.51.100.1");
    for (std::uint8_t j = 0; j < 20; ++j) {
      desk.take_number(300u + i, j + 1u);
      auto out = desk.open(300u + i, {j + 1u, id(200, j)}, at(0s));
      CHECK(std::holds_alternative<circuit_open>(out[0].what));
    }
  }
}

} // namespace

TEST_CASE("one address cannot fill a hub") {
  circuit_desk desk;
  CHECK(
      opened_by_crowd(desk, [](auto) { return std::string{"2001:db8:7:1::"}; })
      == limits::usual_hub.circuits / limits::openers_home_part);
  check_school_served(desk);
  // What is over counts no more.
  for (std::uint8_t i = 1; i <= 100; ++i)
    desk.gone(i);
  CHECK(
      opened_by_crowd(desk, [](auto) { return std::string{"2001:db8:7:1::"}; })
      == limits::usual_hub.circuits / limits::openers_home_part);
}

TEST_CASE("one house cannot fill a hub") {
  circuit_desk desk;
  CHECK(
      opened_by_crowd(
          desk, [](auto i) { return "2001:db8:7:" + std::to_string(i) + "::"; })
      == limits::ends_a_prefix / 2);
  check_school_served(desk);
}

TEST_CASE("a lost connection ends its circuits at the other ends") {
  hub x;
  x.open(11, 1, id(2));
  x.open(13, 1, id(1));
  auto out = x.desk.gone(11);
  REQUIRE(out.size() == 2);
  for (auto& y : out) {
    CHECK(y.to != 11);
    CHECK(std::get<circuit_close>(y.what).reason
          == "the other end left the hub");
  }
  CHECK(x.desk.circuits() == 0);
  CHECK(x.desk.gone(11).empty());
  CHECK_FALSE(x.desk.owes());
}

TEST_CASE("peers that do not read cost their own lines alone") {
  circuit_desk desk;
  // Guests 1 to 20 read nothing, of what 100 others send.
  for (std::uint8_t i = 1; i <= 120; ++i)
    meet(desk, i, id(i), "198.51." + std::to_string(i) + ".1");
  std::vector<circuit_desk::sending> kept;
  std::size_t cut = 0;
  std::set<connection_id> ended;
  for (std::uint8_t from = 21; from <= 120; ++from)
    for (std::uint8_t to = 1; to <= 20; ++to) {
      REQUIRE(desk.take_number(from, to));
      desk.open(from, {to, id(to)}, at(0s));
      for (int i = 0; i < 4; ++i)
        for (auto& out : desk.pass(from, {to, true}, bytes(quarter), at(0s)))
          if (out.ends)
            ended.insert(out.to);
          else if (std::holds_alternative<circuit_data>(out.what))
            kept.push_back(std::move(out));
          else
            ++cut;
    }
  CHECK(cut > 0);
  REQUIRE_FALSE(ended.empty());
  for (auto line : ended)
    CHECK(line <= 20);
}

TEST_CASE("a circuit comes on the newest connection that was welcome") {
  hub x;
  meet(x.desk, 22, id(2), "203.0.113.1"); // It has moved,
  x.desk.met(32, id(2), "203.0.113.1");   // and this is a mere try.
  auto told = x.open(11, 1, id(2));
  REQUIRE(told.size() == 2);
  CHECK(told[0].to == 22);
  x.desk.gone(22);
  CHECK(x.open(11, 2, id(2))[0].to == 12);
  x.desk.gone(12);
  CHECK(x.refusal(11, 3, id(2)).find("not connected") != std::string::npos);
}

TEST_CASE("circuits lead from a peer to others of its run") {
  hub x;
  meet(x.desk, 21, id(21), "203.0.113.1", "bread");
  CHECK(x.refusal(11, 1, id(21)).find("one run") != std::string::npos);
  CHECK(x.refusal(21, 1, id(2)).find("one run") != std::string::npos);
  // Some ask before their hello was read.
  x.desk.met(22, id(22), "203.0.113.2");
  CHECK(x.refusal(22, 1, id(21)).empty());
  CHECK(x.refusal(22, 2, id(2)).empty());
  CHECK(x.desk.welcome(22, "bread").size() == 2);
  CHECK(x.desk.circuits() == 1);
  CHECK(x.desk.has(22, 1, true));
}

TEST_CASE("a house sends no more than its rate, under however many names") {
  circuit_desk desk;
  meet(desk, 200, id(200), "192.0.2.1");
  std::map<std::uint8_t, std::size_t> credit;
  for (std::uint8_t i = 1; i <= 40; ++i) {
    meet(desk, i, id(i), "198.51.100." + std::to_string(i));
    desk.take_number(i, 1);
    desk.open(i, {1, id(200)}, at(0s));
    credit[i] = limits::circuit_credit;
  }
  double passed = 0;
  for (auto now = 0ms; now < 20s; now += 50ms) {
    for (auto& [i, left] : credit)
      for (; left >= 16'384; left -= 16'384, passed += 16'384)
        REQUIRE(desk.pass(i, {1, true}, bytes(quarter), at(now)).size() == 1);
    for (auto& y : desk.look(at(now)))
      credit[static_cast<std::uint8_t>(y.to)]
          += std::get<circuit_credit>(y.what).bytes;
  }
  CHECK(passed <= limits::prefix_burst + 20 * limits::prefix_rate
                      + 40 * limits::circuit_credit);
  CHECK(passed >= 0.9 * 20 * limits::prefix_rate);
}

TEST_CASE("circuits are passed on between those that are admitted, as long as "
          "they are") {
  hub x;
  std::set<peer_id> inside{id(1)};
  x.desk.only_for([&](const peer_id& who, const std::string& run) {
    return run == "soup" && inside.count(who) != 0;
  });
  CHECK(x.refusal(11, 1, id(2)).find("has admitted") != std::string::npos);
  CHECK(x.refusal(12, 1, id(1)).find("has admitted") != std::string::npos);
  inside.insert(id(2));
  CHECK(x.refusal(11, 2, id(2)) == "");
  CHECK(x.desk.pass(11, {2, true}, bytes(100), at(0s)).size() == 1);
  inside.erase(id(1));
  const auto out = x.desk.pass(11, {2, true}, bytes(100), at(0s));
  REQUIRE(out.size() == 2);
  CHECK(std::get_if<circuit_close>(&out[0].what) != nullptr);
  CHECK(x.desk.circuits() == 0);
}

TEST_CASE("who has not said hello gets a circuit only where all may") {
  hub x;
  x.desk.met(20, id(9), "192.0.9.1");
  CHECK(x.refusal(20, 1, id(2)) == "");
  x.desk.only_for(
      [](const peer_id& who, const std::string&) { return who != id(9); });
  CHECK(x.refusal(20, 2, id(2)).find("has admitted") != std::string::npos);
}

TEST_CASE("on a full hub the home that asked for most makes room, oldest "
          "first") {
  hub x{20};
  auto budget = limits::usual_hub;
  budget.circuits = 50;
  x.desk.budget(budget);
  std::uint32_t number = 0;
  for (std::uint8_t i = 0; i < 47; ++i) // From the first, to 12 others.
    REQUIRE(x.open(11, ++number, id(2 + i % 12)).size() == 2);
  for (std::uint32_t i = 1; i <= 3; ++i)
    REQUIRE(x.open(29, i, id(20)).size() == 2);
  REQUIRE(x.desk.circuits() == budget.circuits);

  CHECK(x.refusal(11, ++number, id(15)).find("as many circuits as it can")
        != std::string::npos);
  const auto out = x.open(30, 1, id(1));
  REQUIRE(out.size() == 4); // Two ends hear of the end, two of a beginning.
  const auto* gone = std::get_if<circuit_close>(&out[0].what);
  REQUIRE(gone != nullptr);
  CHECK(out[0].to == 11);
  CHECK(gone->circuit == 1);
  CHECK(gone->reason.find("it made room for others") == 0);
  CHECK(std::get_if<circuit_open>(&out[2].what) != nullptr);
  CHECK(x.desk.circuits() == budget.circuits);
  CHECK_FALSE(x.desk.has(11, 1, true));
  CHECK(x.desk.has(11, 2, true));
}
