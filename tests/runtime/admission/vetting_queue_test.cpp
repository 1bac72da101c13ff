#include "runtime/admission/vetting_queue.hpp"

#include <doctest/doctest.h>

using namespace potluck;

namespace {

peer_id peer(std::uint8_t number) {
  peer_id x;
  x.bytes[0] = number;
  return x;
}

authority_desk::claim claim_of(std::uint8_t number) {
  return {peer(number), {}, false};
}

std::uint8_t next_of(vetting_queue& it) {
  auto x = it.next();
  return x ? x->from.bytes[0] : std::uint8_t{0};
}

} // namespace

TEST_CASE("every home has its turn, and each its oldest claim") {
  vetting_queue it{{8, 32}};
  for (std::uint8_t i = 1; i <= 4; ++i)
    CHECK(it.add(claim_of(i), "192.0.2.1"));
  CHECK(it.add(claim_of(11), "192.0.2.2"));
  CHECK(it.add(claim_of(12), "192.0.2.2"));
  CHECK(it.add(claim_of(21), "192.0.2.3"));
  CHECK(it.size() == 7);
  std::vector<std::uint8_t> order;
  while (auto x = next_of(it))
    order.push_back(x);
  CHECK(order == std::vector<std::uint8_t>{1, 11, 21, 2, 12, 3, 4});
  CHECK(it.size() == 0);
}

TEST_CASE("a peer waits once, and a home has some places") {
  vetting_queue it{{2, 32}};
  CHECK(it.add(claim_of(1), "192.0.2.1"));
  CHECK_FALSE(it.add(claim_of(1), "192.0.2.1"));
  CHECK(it.add(claim_of(2), "192.0.2.1"));
  CHECK_FALSE(it.add(claim_of(3), "192.0.2.1"));
  CHECK(next_of(it) == 1);
  CHECK(it.add(claim_of(3), "192.0.2.1"));
}

TEST_CASE("who leaves waits no longer") {
  vetting_queue it{{2, 3}};
  CHECK(it.add(claim_of(1), "192.0.2.1"));
  CHECK(it.add(claim_of(2), "192.0.2.1"));
  CHECK(it.add(claim_of(11), "192.0.2.2"));
  it.left(peer(1));
  it.left(peer(11));
  it.left(peer(33));
  CHECK(it.size() == 1);
  CHECK(it.add(claim_of(3), "192.0.2.1"));
  CHECK(it.add(claim_of(21), "192.0.2.3"));
  CHECK(next_of(it) == 2);
  CHECK(next_of(it) == 21);
  CHECK(next_of(it) == 3);
  CHECK(next_of(it) == 0);
}

TEST_CASE("with all places taken, the home that has most gives one up") {
  vetting_queue it{{4, 5}};
  for (std::uint8_t i = 1; i <= 4; ++i)
    CHECK(it.add(claim_of(i), "192.0.2.1"));
  CHECK(it.add(claim_of(11), "192.0.2.2"));
  CHECK(it.add(claim_of(21), "192.0.2.3"));
  CHECK(it.size() == 5);
  // The newest is gone, and may ask again.
  CHECK_FALSE(it.add(claim_of(4), "192.0.2.1"));
  CHECK(it.add(claim_of(12), "192.0.2.2"));
  // Two, two, and one: nobody has two more than the next.
  CHECK_FALSE(it.add(claim_of(22), "192.0.2.3"));
  CHECK(it.add(claim_of(31), "192.0.2.4"));
  CHECK(it.size() == 5);
}
