#include "runtime/membership/founding_wait.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{1h};

peer_id peer(std::uint8_t number) {
  peer_id x;
  x.bytes[0] = number;
  return x;
}

/// Peer 5, which is a trainer unless told otherwise.
struct waiter {
  std::string hears(duration after) {
    at.before_us = others.before_us(false, start + after);
    return wait.look(at, others, start + after).value_or("");
  }
  bool says(const std::string& part) {
    hears(0s);
    return hears(founding_wait::first_word).find(part) != std::string::npos;
  }

  run_witnesses others{peer(5)};
  founding_wait wait{"soup", false};
  founding_wait::standing at{nullptr, false, false, true};
};

} // namespace

TEST_CASE("who waits for nothing says nothing") {
  waiter x;
  CHECK(x.hears(0s).empty());
  CHECK(x.hears(1h).empty());
  CHECK(x.wait.brief().empty());
}

TEST_CASE("what is waited for is said at growing intervals") {
  waiter x;
  x.at.can_found = false;
  std::vector<duration> said;
  for (duration t = 0s; t < 5min; t += 1s)
    if (!x.hears(t).empty())
      said.push_back(t);
  REQUIRE(said.size() > 5);
  CHECK(said[0] == 5s);
  CHECK(said[1] == 15s);
  CHECK(said[2] == 35s);
  CHECK(said.back() - said[said.size() - 2] == founding_wait::longest_silence);
  CHECK(x.wait.brief() == "waits for a trainer");
  x.wait.end();
  CHECK(x.wait.brief().empty());
}

TEST_CASE("another cause is said anew, and the line goes on meanwhile") {
  waiter x;
  x.at.can_found = false;
  REQUIRE(x.says("nobody has founded run 'soup' yet"));
  x.at.had_lines = true;
  CHECK(x.hears(6s).empty());
  CHECK(x.wait.brief().empty());
  CHECK(x.hears(11s).find("all connections are lost") == 0);
}

TEST_CASE("it says why nothing comes from whoever has the charter") {
  waiter x;
  progress_report holder;
  holder.id = peer(3);
  holder.charter.bytes[0] = 1;
  holder.where = {"elsewhere", 0};
  SUBCASE("there is a line") {
    x.others.joined({peer(3), {"elsewhere", 7}}, role::trainer, holder.charter,
                    false, start);
    CHECK(x.says("has not sent it yet"));
  }
  SUBCASE("nobody answers") {
    holder.where.port = 7;
    x.others.heard(holder, start);
    CHECK(x.says("nobody answers at elsewhere:7"));
  }
  SUBCASE("it has to dial us") {
    x.others.heard(holder, start);
    CHECK(x.says("has not dialled us yet"));
  }
  SUBCASE("neither can be dialled") {
    x.wait.reachable(false);
    x.others.heard(holder, start);
    CHECK(x.says("we share no hub"));
  }
  SUBCASE("they share a hub") {
    x.wait.reachable(false);
    holder.hubs = {{peer(9), {"hub", 1}}};
    x.others.heard(holder, start);
    x.others.joined(holder.hubs[0], role::bootstrap, {}, true, start);
    CHECK(x.says("through the hub that we share"));
  }
  CHECK(x.wait.brief() == "waits for peer " + short_name(peer(3)));
}

TEST_CASE("in a created run the manifest is waited for, nobody's turn") {
  waiter x;
  x.wait = founding_wait{"soup", true};
  progress_report smaller;
  smaller.id = peer(3);
  x.others.heard(smaller, start);
  CHECK(x.says("has the manifest of run soup yet"));
  x.at.has_manifest = true;
  CHECK(x.hears(1h).empty());
}
