#include "runtime/membership/answer_pauses.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id peer(std::uint8_t number) {
  peer_id result;
  result.bytes.back() = number;
  return result;
}

} // namespace

TEST_CASE("a peer is answered again after a pause, or when it comes back") {
  answer_pauses it;
  auto now = time_point{} + 1h;
  CHECK(it.answers(peer(1), now));
  CHECK_FALSE(it.answers(peer(1), now));
  CHECK(it.answers(peer(2), now));
  now += answer_pauses::pause - 1ms;
  CHECK_FALSE(it.answers(peer(1), now));
  now += 1ms;
  CHECK(it.answers(peer(1), now));
  CHECK_FALSE(it.answers(peer(1), now + 1s));
  it.left(peer(1));
  CHECK(it.answers(peer(1), now + 1s));
}
