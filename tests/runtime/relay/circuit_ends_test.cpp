#include "runtime/relay/circuit_ends.hpp"

#include <variant>

#include <doctest/doctest.h>

#include "messages/framing.hpp"
#include "runtime/relay/plain_stream.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{1h};
constexpr connection_id hub = 7;

peer_id peer(std::uint8_t number) {
  peer_id x;
  x.bytes[0] = number;
  return x;
}

/// A peer's circuits, without encryption, and what was told of them.
struct side : circuit_ends::listener {
  void to_hub(connection_id, const message& what, shared_bytes body) override {
    letters.emplace_back(what, std::move(body));
  }
  void circuit_opened(connection_id id, bool here, const address& where,
                      const peer_id&) override {
    opened = id;
    opened_here = here;
    seen = where.host;
  }
  void circuit_brought(connection_id, incoming_frame frame) override {
    frames.push_back(std::move(frame));
  }
  void circuit_ended(connection_id id, const std::string& reason) override {
    ended = id;
    why = reason;
  }
  /// Somebody comes from this host.
  bool comes(std::uint32_t number, const std::string& host) {
    return it.come(hub, "203.0.113.7", circuit_open{number, peer(1), host},
                   start);
  }
  /// The same over another hub's line; by default there is credit enough.
  bool comes_by(connection_id line, const std::string& at, std::uint32_t number,
                const std::string& host) {
    return it.come(line, at, circuit_open{number, peer(1), host}, start);
  }
  /// A frame begins to come on it: so much of a much longer one.
  void begins(connection_id line, std::uint32_t number, std::size_t bytes) {
    const std::vector<std::uint8_t> head{1, 2, 3}, body(16 << 20);
    const auto words = write_preamble(
        preamble_for(head.data(), head.size(), body.data(), body.size(), {}));
    auto owner = std::make_shared<std::vector<std::uint8_t>>(words.begin(),
                                                             words.end());
    owner->resize(bytes);
    it.take(line, {number, true}, {owner, owner->data(), bytes});
  }
  void sends(std::size_t bytes) {
    auto owner = std::make_shared<std::vector<std::uint8_t>>(bytes, 3);
    it.send(opened, {{1, 2, 3}, {owner, owner->data(), bytes}});
  }
  template <class Letter>
  const Letter* last() const {
    return letters.empty() ? nullptr
                           : std::get_if<Letter>(&letters.back().first);
  }

  std::vector<std::pair<message, shared_bytes>> letters;
  std::vector<incoming_frame> frames;
  connection_id opened = 0;
  connection_id ended = 0;
  bool opened_here = false;
  std::string seen;
  std::string why;
  circuit_ends it{100,
                  [](bool begins, frame_stream_listener& to) {
                    return std::make_unique<plain_stream>(begins, to);
                  },
                  *this};
};

} // namespace

TEST_CASE("a frame passes between two ends, which see where the other is") {
  side a, b;
  const auto id = a.it.open(hub, 1, peer(2), start);
  REQUIRE(a.last<circuit_open>());
  CHECK(a.last<circuit_open>()->peer == peer(2));
  CHECK(a.it.answered(hub, {1, peer(2), "198.51.100.2", true}));
  REQUIRE(b.comes(5, "192.0.2.1"));
  CHECK(b.opened != 0);
  CHECK_FALSE(b.opened_here);
  CHECK(b.seen == "192.0.2.1");
  b.sends(1000);
  REQUIRE(b.last<circuit_data>());
  CHECK(b.last<circuit_data>()->circuit == 5);
  for (const auto& letter : b.letters)
    CHECK(a.it.take(hub, {1, false}, letter.second));
  CHECK(a.opened == id);
  CHECK(a.opened_here);
  CHECK(a.seen == "198.51.100.2");
  REQUIRE(a.frames.size() == 1);
  CHECK(a.frames[0].body.size == 1000);
}

TEST_CASE("what is of no circuit here is told so") {
  side a;
  a.it.open(hub, 1, peer(2), start);
  CHECK_FALSE(a.it.take(hub, {2, false}, {}));
  CHECK_FALSE(a.it.take(hub, {1, true}, {})); // The hub opened none.
  CHECK_FALSE(a.it.take(hub + 1, {1, false}, {}));
  CHECK_FALSE(a.it.grant(hub, {2, false, 1}));
  CHECK_FALSE(a.it.closed(hub, {2, false, ""}));
  CHECK(a.it.closed(hub, {1, false, "enough"}));
  CHECK(a.why == "enough");
}

TEST_CASE("no more come over a line than it may bring") {
  side a;
  for (std::uint32_t i = 0; i < limits::circuits_a_line; ++i)
    REQUIRE(a.comes(i, "10.0." + std::to_string(i) + ".1"));
  CHECK_FALSE(a.comes(9999, "10.1.0.1"));
  REQUIRE(a.last<circuit_close>());
  CHECK(a.last<circuit_close>()->circuit == 9999);
  // There is room again when one has ended.
  CHECK(a.it.closed(hub, {0, true, ""}));
  CHECK(a.comes(9999, "10.1.0.1"));
}

TEST_CASE("lines from one place bring no more circuits a second than one") {
  side a;
  std::uint32_t taken = 0;
  for (std::uint32_t i = 0; i < 4 * limits::opens_at_once; ++i) {
    const auto line = hub + i / 8; // A new one for every eight.
    taken += a.comes_by(line, "203.0.113.9", i, "10.0.0.1");
    a.it.lose(line, "it left");
  }
  CHECK(taken == limits::opens_at_once);
  CHECK(a.comes_by(hub + 9999, "198.51.100.9", 1, "10.0.0.1"));
}

TEST_CASE("where all places are taken one of the home that has most gives "
          "way") {
  side a;
  std::uint32_t number = 0;
  std::vector<connection_id> first_of_most;
  // Ten homes, one of which has more than its part.
  for (std::size_t i = 0; i < limits::circuits_here; ++i) {
    const auto home = i % 11 == 10 ? 0 : i % 11;
    const auto line = connection_id{7} + i / 100;
    const auto at = "203.0." + std::to_string(line) + ".7";
    REQUIRE(
        a.comes_by(line, at, ++number, "10.0." + std::to_string(home) + ".1"));
    if (home == 0 && first_of_most.empty())
      first_of_most.push_back(a.opened);
  }
  CHECK(a.ended == 0);
  CHECK(a.comes_by(70, "203.0.113.8", ++number, "10.0.77.1"));
  CHECK(a.ended == first_of_most.front());
  CHECK(a.why.find("it made room for others") == 0);
  // Whose home has most takes nobody's place.
  CHECK_FALSE(a.comes_by(70, "203.0.113.8", ++number, "10.0.0.1"));
}

TEST_CASE("of frames that come by circuits only what has come takes room, and "
          "whoever has most of it gives way") {
  side a;
  std::vector<connection_id> ids;
  for (std::uint32_t i = 0; i < 40; ++i) {
    REQUIRE(a.comes_by(7 + i, "203.0.113." + std::to_string(i), 1,
                       "10.0." + std::to_string(i) + ".1"));
    ids.push_back(a.opened);
    a.begins(7 + i, 1, 100 * 1024); // Of 16 MiB each.
  }
  CHECK(a.ended == 0);
  const auto rest = limits::circuits_large_frames - 40 * 100 * 1024;
  for (std::uint32_t i : {3u, 4u}) {
    std::vector<std::uint8_t> more(i == 3 ? 15 << 20 : rest - (15 << 20) + 1);
    auto owner = std::make_shared<std::vector<std::uint8_t>>(std::move(more));
    CHECK(a.ended == 0);
    a.it.take(7 + i, {1, true}, {owner, owner->data(), owner->size()});
  }
  CHECK(a.ended == ids[3]);
  CHECK(a.why.find("it made room for others") == 0);
}

TEST_CASE("what waits for credit is sent before the end, or given up in time") {
  side a;
  REQUIRE(a.comes(1, "192.0.2.1"));
  a.sends(limits::circuit_credit + 1000);
  REQUIRE(a.it.close(a.opened, start + 5s, start));
  CHECK(a.it.end_late(start + 4s));
  CHECK(a.ended == 0);
  SUBCASE("credit comes") {
    REQUIRE(a.it.grant(hub, {1, true, limits::circuit_credit / 2}));
    CHECK(a.ended == a.opened);
  }
  SUBCASE("it does not") {
    CHECK_FALSE(a.it.end_late(start + 5s));
    CHECK(a.ended == a.opened);
  }
  CHECK(a.last<circuit_close>());
}

TEST_CASE("a hub that breaks its word, or is gone, ends its circuits") {
  side a;
  REQUIRE(a.comes(1, "192.0.2.1"));
  SUBCASE("more credit than there is") {
    CHECK(a.it.grant(hub, {1, true, 0xffffffff}));
    CHECK(a.why == "the hub gave more credit than there is");
    CHECK(a.last<circuit_close>()); // Who passes it on is told.
  }
  SUBCASE("a number twice") {
    a.it.repeats(hub, 1);
    CHECK(a.why == "the hub used a circuit's number twice");
  }
  SUBCASE("it is gone") {
    a.it.lose(hub, "silence");
    CHECK(a.why == "the line to the hub ended: silence");
  }
  CHECK(a.ended == a.opened);
  CHECK_FALSE(a.it.take(hub, {1, true}, {}));
}
