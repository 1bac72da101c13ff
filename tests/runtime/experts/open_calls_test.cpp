#include "runtime/experts/open_calls.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "runtime/experts/call_values.hpp"
#include "runtime/experts/failing_hosts.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id peer(std::uint8_t n) {
  peer_id x;
  x.bytes[0] = n;
  return x;
}

open_calls::call call(const std::string& uid, std::size_t bytes = 8) {
  open_calls::call x;
  x.uid = uid;
  x.samples = 2;
  x.bytes = bytes;
  return x;
}

expert_answer done(std::uint64_t number, std::uint32_t values = 3) {
  expert_answer x;
  x.number = number;
  x.samples = 2;
  x.values = values;
  return x;
}

} // namespace

TEST_CASE("an answer is judged against its call and its host") {
  using verdict = open_calls::verdict;
  open_calls calls;
  auto n = calls.open(call("a.0"));
  REQUIRE(n);
  auto values = std::make_shared<std::vector<float>>(6, 1.5f);
  auto judge = [&](std::uint8_t from, const expert_answer& x,
                   float_array* read = nullptr) {
    float_array room;
    auto body = body_of(x.packing, values, values->data(), size_of(x));
    auto result = calls.judge(peer(from), x, body, room);
    if (read != nullptr)
      *read = room;
    return result;
  };
  CHECK(judge(1, done(*n)) == verdict::stranger);
  CHECK(calls.looked_up("a.0") == std::vector<std::uint64_t>{*n});
  calls.sent(*n, peer(1), 3);
  CHECK(calls.looked_up("a.0").empty());
  CHECK(calls.waiting_for(peer(1)) == std::vector<std::uint64_t>{*n});
  CHECK(judge(2, done(*n)) == verdict::stranger);
  CHECK(judge(1, done(*n + 1)) == verdict::stranger);
  CHECK(judge(1, done(*n, 2)) == verdict::wrong_shape);
  auto packed = done(*n);
  packed.packing = packing::float16;
  CHECK(judge(1, packed) == verdict::wrong_shape);
  auto no = done(*n);
  no.outcome = expert_outcome::busy;
  CHECK(judge(1, no) == verdict::refused);
  float_array read;
  CHECK(judge(1, done(*n), &read) == verdict::answered);
  CHECK(read == float_array(6, 1.5f));
  values->back() = std::nanf("");
  CHECK(judge(1, done(*n)) == verdict::wrong_values);
  CHECK(calls.close(*n));
  CHECK(!calls.close(*n));
  CHECK(judge(1, done(*n)) == verdict::stranger);
}

TEST_CASE("open calls are bounded in number and bytes") {
  open_calls calls;
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < limits::expert_calls_open; ++i) {
    auto n = calls.open(call("a.0", 0));
    REQUIRE(n);
    numbers.push_back(*n);
  }
  CHECK(!calls.open(call("a.0", 0)));
  calls.close(numbers.front());
  CHECK(!calls.open(call("a.0", limits::expert_call_bytes + 1)));
  CHECK(calls.open(call("a.0", limits::expert_call_bytes)));
}

TEST_CASE("a failing host is left alone twice as long each time") {
  failing_hosts hosts;
  auto now = time_point{};
  CHECK(hosts.usable(peer(1), now));
  hosts.failed(peer(1), now);
  hosts.failed(peer(1), now); // The same accident.
  CHECK(!hosts.usable(peer(1), now + 999ms));
  CHECK(hosts.usable(peer(1), now + 1s));
  CHECK(hosts.usable(peer(2), now));
  now += 1s;
  hosts.failed(peer(1), now);
  CHECK(!hosts.usable(peer(1), now + 1999ms));
  CHECK(hosts.usable(peer(1), now + 2s));
  for (int i = 0; i < 20; ++i) {
    now += 1h;
    hosts.failed(peer(1), now);
  }
  CHECK(!hosts.usable(peer(1), now + 119s));
  CHECK(hosts.usable(peer(1), now + 120s));
  hosts.answered(peer(1));
  CHECK(hosts.failures(peer(1)) == 0);
  CHECK(hosts.usable(peer(1), now));
}
