/// Peers that leave because their user said so.

#include "tests/loopback/scene.hpp"

#include <csignal>

#include <doctest/doctest.h>

using namespace potluck::loopback;
using nlohmann::json;

namespace {

/// What Ctrl-C promises, on a machine that has nothing else to do. A busier one
/// gets what it needs just now to start and end a program that does nothing.
std::chrono::milliseconds longest_goodbye(scene& s) {
  auto began = std::chrono::steady_clock::now();
  REQUIRE(s.run("help", {"help"}).status == 0);
  return 2s
         + std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now() - began);
}

/// @param event Waited for first, anew; none when empty.
void leave(scene& s, peer& who, int signal, const std::string& event = "") {
  auto patience = longest_goodbye(s);
  if (!event.empty())
    who.await(event, startup_patience, who.log.lines().size());
  who.process.signal(signal);
  auto end = who.process.wait(patience);
  INFO("signal " << signal << " to " << replay_line(who.process.what())
                 << "\nprinted:\n"
                 << who.process.output());
  REQUIRE(end.has_value());
  CHECK(end->signal == 0);
  CHECK(end->status == 0);
}

void check_orderly_departure(peer& witness, peer& gone) {
  auto name = gone.id().substr(0, 8);
  auto departure = witness.log.await(
      [&](const json& x) {
        return x.at("event") == "departure" && x.at("peer") == name;
      },
      startup_patience);
  INFO(witness.process.output());
  REQUIRE(!departure.is_null());
  CHECK(departure.at("orderly") == true);
}

} // namespace

TEST_CASE("a peer told to end leaves in order within two seconds, whatever it "
          "was doing") {
  scene s;
  auto endless = tiny_run(128, 1000000);
  auto& host = s.join("host", endless);
  auto to_host = words{"--peer", host.address()};
  host.await_step(2);

  SUBCASE("before it has joined") {
    auto& guest = s.join("guest", to_host + endless);
    guest.await("listening");
    leave(s, guest, SIGTERM);
  }
  SUBCASE("while it learns the charter and the state") {
    auto& guest = s.join("guest", to_host + endless);
    guest.await("charter");
    leave(s, guest, SIGINT);
    check_orderly_departure(host, guest);
  }
  SUBCASE("while it computes, and while it averages") {
    auto signals = {SIGTERM, SIGINT};
    auto events = {"step", "plan"};
    std::vector<peer*> guests;
    for (auto name : {"first", "second", "third", "fourth"})
      guests.push_back(&s.join(name, to_host + endless));
    for (auto guest : guests)
      guest->await("step");
    auto next = guests.begin();
    for (auto event : events)
      for (auto signal : signals) {
        auto& guest = **next++;
        leave(s, guest, signal, event);
        check_orderly_departure(host, guest);
      }
  }
  SUBCASE("as an auxiliary peer") {
    // One trainer alone has nothing to average at others.
    auto& other = s.join("other", to_host + endless);
    other.await("step");
    auto& guest = s.join("guest", to_host + words{"--role", "auxiliary"});
    guest.await("plan");
    leave(s, guest, SIGTERM);
    check_orderly_departure(host, guest);
    leave(s, other, SIGTERM);
  }
  // Nobody's leaving stops the run.
  host.await_step(host.last_step() + 3);
  leave(s, host, SIGINT);
}

TEST_CASE("a bootstrap peer told to end leaves in order within two seconds") {
  scene s;
  auto& seed = s.bootstrap();
  auto& guest
      = s.join("guest", words{"--peer", seed.address()} + tiny_run(64, 100000));
  guest.await("step");
  leave(s, seed, SIGINT);
  check_orderly_departure(guest, seed);
  guest.await_step(guest.last_step() + 3);
  leave(s, guest, SIGTERM);
}
