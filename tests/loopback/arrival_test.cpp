/// Peers that come while others are training, and runs that meet.

#include "tests/loopback/scene.hpp"
#include "tests/support/await.hpp"

#include <algorithm>
#include <csignal>

#include <doctest/doctest.h>

using namespace potluck::loopback;
using nlohmann::json;

namespace {

std::size_t line_of(peer& who, const json& line) {
  auto& lines = who.log.lines();
  return static_cast<std::size_t>(std::find(lines.begin(), lines.end(), line)
                                  - lines.begin());
}

} // namespace

TEST_CASE("who comes late gets the state and contributes to the next step") {
  scene s;
  auto& host = s.join("host", tiny_run(128, 1000000));
  host.await_step(8);
  auto& guest = s.join("guest", {"--peer", host.address()});
  auto download = guest.await("state_download");
  CHECK(download.at("step") >= 8);
  CHECK(guest.log.named("step").empty());

  // The step after the downloaded one may be under way without the guest; the
  // one after that may already be full. It has a share in what comes then.
  auto first = download.at("step").get<std::uint64_t>();
  auto contributed = guest.log.await(
      [](const json& x) {
        return x.at("event") == "step" && x.at("share") > 0;
      },
      startup_patience);
  REQUIRE(!contributed.is_null());
  auto downloads = guest.log.named("state_download").size();
  CHECK(contributed.at("step") <= first + 2 + downloads);
  check_agree(host, guest, 8);
  check_steps(guest, 128);
}

TEST_CASE("an auxiliary peer that comes late averages for the others") {
  scene s;
  auto& host
      = s.join("host", tiny_run(128, 1000000) + words{"--chunk-values", "512"});
  auto& other = s.join("other", words{"--peer", host.address()});
  other.await("step");
  auto& helper
      = s.join("helper", {"--peer", host.address(), "--role", "auxiliary"});
  auto helped = helper.log.await(
      [](const json& x) {
        return x.at("event") == "round" && x.at("outcome") == "committed"
               && x.at("members") == 3 && x.at("bytes_received") > 0
               && x.at("bytes_sent") > 0;
      },
      startup_patience);
  INFO(helper.process.output());
  REQUIRE(!helped.is_null());
  CHECK(helper.log.named("step").empty());
  other.await_step(helped.at("step").get<std::uint64_t>() + 3);
  check_agree(host, other, 3);
}

TEST_CASE("of two histories that lost sight of each other the shorter gives "
          "way") {
  scene s;
  // One beginning for both. Steps are slow enough for the two to stay within
  // the 64 steps of which a donor remembers the digests: of what lies further
  // back, nobody can say whose history it was.
  auto& origin = s.join("origin", tiny_run(1024, 1000000)
                                      + words{"--checkpoint-every", "4"});
  origin.await("checkpoint");
  auto saved = s.path("origin/potluck.checkpoint");
  origin.process.signal(SIGKILL);
  REQUIRE(origin.process.wait(startup_patience));

  auto& left = s.join("left", {"--resume", saved});
  left.await_step(12);
  auto& right = s.join("right", {"--resume", saved});
  right.await_step(6);
  auto digest_of
      = [](peer& p, std::uint64_t step) { return p.digests()[step]; };
  CHECK(digest_of(left, 6) != digest_of(right, 6));

  // Whoever knows both brings them together.
  s.join("link", {"--peer", left.address(), "--peer", right.address()});
  peer* loser = nullptr;
  potluck::support::await(
      [&] {
        for (auto p : {&left, &right})
          if (!p->log.named("island").empty())
            loser = p;
        return loser != nullptr;
      },
      startup_patience);
  INFO("left:\n"
       << left.process.output() << "right:\n"
       << right.process.output());
  REQUIRE(loser != nullptr);
  auto& winner = loser == &left ? right : left;
  CHECK(winner.log.named("island").empty());

  // The winner's history was the longer one.
  auto lost = loser->log.named("island").front();
  auto samples_before = [&](peer& p) {
    std::uint64_t result = 0;
    for (auto& x : p.log.named("step"))
      if (x.at("time") <= lost.at("time"))
        result = x.at("history_samples");
    return result;
  };
  CHECK(samples_before(winner) >= samples_before(*loser));
  check_agree(winner, *loser, 8, line_of(*loser, lost));
}
