#include "runtime/experts/replica_sender.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "messages/limits.hpp"
#include "runtime/experts/replication_plan.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id peer(std::uint8_t number) {
  peer_id x;
  x.bytes[31] = number;
  return x;
}

digest sum(std::uint8_t number) {
  digest x;
  x.bytes[0] = number;
  return x;
}

/// Owner 1 of "ffn.1", version 7, and one other host, 2.
struct owner {
  owner() {
    sender.reachable({"10.0.0.1", 1000});
    sender.saved("ffn.1", 1, 7, true);
    sender.hosts({{{peer(2), {"10.0.0.2", 1000}}, sum(9), 4}});
  }

  /// What is read, offered, and the offer.
  replica_offer offer(std::size_t bytes) {
    auto read = sender.due(now);
    REQUIRE(read.size() == 1);
    auto& x = std::get<replica_sender::read_shelf>(read[0]);
    CHECK(x.adopted);
    return offered(x.what, bytes);
  }
  replica_offer offered(const replication_plan::offer& what,
                        std::size_t bytes) {
    auto kept = std::make_shared<shelved_expert>();
    kept->bytes.resize(bytes);
    last_kept = kept;
    auto made = sender.read(what, kept, sum(3), now);
    REQUIRE(made.size() == 1);
    auto& x = std::get<replica_sender::make_offer>(made[0]);
    CHECK(x.to.id == peer(2));
    return x.what;
  }
  replica_sender::actions answer(const replica_offer& about,
                                 replica_standing standing,
                                 std::uint64_t offset = 0,
                                 std::uint32_t length = 0) {
    return sender.answered(
        peer(2),
        {about.uid, about.term, about.version, standing, offset, length}, now);
  }

  replica_sender sender{peer(1), sum(9)};
  std::weak_ptr<const shelved_expert> last_kept;
  time_point now{1h};
};

} // namespace

TEST_CASE("a version is read, offered, sent by windows, and held") {
  owner x;
  auto size = 3 * replica_chunk_bytes + 10;
  auto offer = x.offer(size);
  CHECK(offer.uid == "ffn.1");
  CHECK(offer.version == 7);
  CHECK(offer.bytes == size);
  CHECK(offer.sum == sum(3));
  CHECK(offer.kind == sum(9));
  CHECK(offer.owner.id == peer(1));
  CHECK_FALSE(offer.hand_over);
  auto sent = x.answer(offer, replica_standing::wanted, 0,
                       static_cast<std::uint32_t>(size));
  REQUIRE(sent.size() == 4);
  std::uint64_t at = 0;
  for (auto& action : sent) {
    auto& chunk = std::get<replica_sender::send_chunk>(action);
    CHECK(chunk.to == peer(2));
    CHECK(chunk.what.offset == at);
    at += chunk.body.size;
  }
  CHECK(at == size);
  // Beyond the end there is nothing, whatever is asked.
  CHECK(x.answer(offer, replica_standing::wanted, size, 10).empty());
  CHECK(x.answer(offer, replica_standing::held).empty());
  CHECK(x.sender.due(x.now).empty());
  CHECK(x.answer(offer, replica_standing::wanted, 0, 10).empty()); // Too late.
}

TEST_CASE("what cannot be read, or nobody could fetch, is not offered") {
  owner x;
  auto read = x.sender.due(x.now);
  REQUIRE(read.size() == 1);
  auto what = std::get<replica_sender::read_shelf>(read[0]).what;
  auto kept = std::make_shared<shelved_expert>();
  SUBCASE("unreadable") {
    CHECK(x.sender.read(what, kept, sum(3), x.now).empty());
  }
  SUBCASE("nobody can dial this host") {
    kept->bytes.resize(10);
    x.sender.reachable({});
    CHECK(x.sender.read(what, kept, sum(3), x.now).empty());
  }
  SUBCASE("the guard is gone") {
    kept->bytes.resize(10);
    x.sender.lost(peer(2), x.now);
    CHECK(x.sender.read(what, kept, sum(3), x.now).empty());
  }
  CHECK(x.sender.due(x.now).empty());
  CHECK(x.sender.due(x.now + limits::replica_refusal_pause).size() == 1);
}

TEST_CASE("an answer counts for the offer that it names") {
  owner x;
  auto offer = x.offer(10);
  auto other = offer;
  other.version = 6;
  CHECK(x.answer(other, replica_standing::held).empty());
  CHECK(x.answer(offer, replica_standing::serving).empty()); // Nobody asked.
  // The replica of the last version is under way when the expert is to go.
  auto again = x.sender.hand_over("ffn.1", x.now);
  REQUIRE(again.size() == 1);
  auto last
      = x.offered(std::get<replica_sender::read_shelf>(again[0]).what, 10);
  CHECK(last.hand_over);
  CHECK(x.answer(last, replica_standing::held).empty());
  auto done = x.answer(last, replica_standing::serving);
  REQUIRE(done.size() == 1);
  auto& gone = std::get<replica_sender::let_go>(done[0]);
  CHECK(gone.uid == "ffn.1");
  CHECK(gone.served);
  CHECK(x.sender.due(x.now + 1h).empty());
}

TEST_CASE("an expert that everybody refuses is let go unserved") {
  owner x;
  auto read = x.sender.hand_over("ffn.1", x.now);
  for (int i = 0; i < limits::hand_over_attempts; ++i) {
    REQUIRE(read.size() == 1);
    auto last
        = x.offered(std::get<replica_sender::read_shelf>(read[0]).what, 10);
    read = x.answer(last, replica_standing::refused);
    if (i + 1 == limits::hand_over_attempts)
      break;
    CHECK(read.empty());
    x.now += limits::hand_over_pause;
    read = x.sender.due(x.now);
  }
  REQUIRE(read.size() == 1);
  CHECK_FALSE(std::get<replica_sender::let_go>(read[0]).served);
}

TEST_CASE("what is not served here any more is offered to nobody") {
  owner x;
  auto offer = x.offer(10);
  x.sender.dropped("ffn.1");
  CHECK(x.answer(offer, replica_standing::wanted, 0, 10).empty());
  CHECK(x.sender.due(x.now + 1h).empty());
}

TEST_CASE("a saved expert is kept no longer than an offer of it is under way") {
  owner x;
  x.offer(10);
  CHECK_FALSE(x.last_kept.expired());
  SUBCASE("its guard never answers") {
    x.now += limits::replica_answer_patience;
    CHECK(x.sender.due(x.now).empty());
  }
  SUBCASE("its guard is gone") {
    x.sender.lost(peer(2), x.now);
  }
  SUBCASE("it is not served here any more") {
    x.sender.dropped("ffn.1");
  }
  CHECK(x.last_kept.expired());
}
