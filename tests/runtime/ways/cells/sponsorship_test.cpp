#include "runtime/ways/cells/sponsorship.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id peer(std::uint8_t i) {
  peer_id x;
  x.bytes[0] = i;
  return x;
}

/// Gradients of three values, in parts of two. Nobody waits for the clock.
struct one_sponsor {
  void gather(std::vector<peer_id> from) {
    gather_contributions order;
    order.step = 4;
    order.gradient_values = 3;
    order.contributors = std::move(from);
    gather(order);
  }
  void gather(const gather_contributions& order) {
    keep(it.gather(order, now));
  }
  void part(std::uint8_t from, std::uint32_t chunk, std::vector<float> values,
            std::uint64_t number = 1) {
    const contribution_part x{number, chunk, 5, 2.5, packing::float32};
    keep(it.offer(peer(from), x,
                  reinterpret_cast<const std::uint8_t*>(values.data()),
                  values.size() * sizeof(float), now));
  }
  void whole(std::uint8_t from, std::uint64_t number = 1) {
    part(from, 0, {1, 2}, number);
    part(from, 1, {3}, number);
  }
  /// With a look at every interval.
  void pass(duration time) {
    for (const auto end = now + time; now < end;) {
      now += limits::gathering_interval;
      keep(it.look(now));
    }
  }
  void keep(sponsorship::actions news) {
    said.insert(said.end(), news.begin(), news.end());
  }
  template <class What>
  std::vector<What> all() const {
    std::vector<What> result;
    for (auto& x : said)
      if (auto y = std::get_if<What>(&x))
        result.push_back(*y);
    return result;
  }
  template <class Content>
  std::vector<Content> sent(std::uint8_t to) const {
    std::vector<Content> result;
    for (auto& x : all<sponsorship::letter>())
      if (auto y = std::get_if<Content>(&x.content); y && x.to == peer(to))
        result.push_back(*y);
    return result;
  }

  sponsorship it{2};
  time_point now{1h};
  sponsorship::actions said;
};

} // namespace

TEST_CASE("a sponsor asks for gradients, hands whole ones on, and answers what "
          "became of them") {
  one_sponsor x;
  CHECK_FALSE(x.it.gathers());
  x.gather({peer(1), peer(2)});
  CHECK(x.it.gathers());
  REQUIRE(x.sent<contribution_request>(1).size() == 1);
  CHECK(x.sent<contribution_request>(1)[0].number == 1);
  CHECK(x.sent<contribution_request>(1)[0].step == 4);
  x.whole(1);
  REQUIRE(x.all<sponsorship::whole>().size() == 1);
  CHECK(x.all<sponsorship::whole>()[0].what->gradient
        == std::vector<float>{1, 2, 3});
  CHECK(x.it.gathers()); // The other one is awaited.
  x.whole(2);
  CHECK_FALSE(x.it.gathers());
  REQUIRE(x.all<sponsorship::done>().size() == 1);
  CHECK(x.all<sponsorship::done>()[0].step == 4);
  CHECK(std::holds_alternative<sponsorship::done>(x.said.back()));
  x.keep(x.it.taken(peer(1), true));
  x.keep(x.it.taken(peer(2), false));
  REQUIRE(x.sent<contribution_answer>(1).size() == 1);
  CHECK(x.sent<contribution_answer>(1)[0].accepted);
  CHECK(x.sent<contribution_answer>(1)[0].number == 1);
  REQUIRE(x.sent<contribution_answer>(2).size() == 1);
  CHECK_FALSE(x.sent<contribution_answer>(2)[0].accepted);
  CHECK(x.it.taken(peer(1), true).empty()); // It was told.
  CHECK(x.it.taken(peer(7), true).empty()); // It brought nothing.
}

TEST_CASE("a request says how values are to come, and who is next to whom") {
  one_sponsor x;
  gather_contributions order;
  order.gradient_values = 3;
  order.contributors = {peer(1), peer(2)};
  order.packings = {packing::float16, packing::float32};
  order.chains[peer(1)].farther = peer(2);
  order.chains[peer(2)].nearer = {peer(1), {"10.0.0.1", 7000}};
  order.better[peer(2)] = {peer(9), {"10.0.0.9", 7000}};
  x.gather(order);
  const auto first = x.sent<contribution_request>(1).at(0);
  CHECK(first.packing == packing::float16);
  CHECK(first.farther == peer(2));
  CHECK(first.nearer.id.empty());
  CHECK(first.better.id.empty());
  const auto second = x.sent<contribution_request>(2).at(0);
  CHECK(second.packing == packing::float32);
  CHECK(second.nearer == order.chains[peer(2)].nearer);
  CHECK(second.better == order.better[peer(2)]);
}

TEST_CASE("a gathering goes on without those that decline or leave") {
  one_sponsor x;
  x.gather({peer(1), peer(2), peer(3)});
  CHECK(x.it.awaits(peer(1), 1));
  CHECK_FALSE(x.it.awaits(peer(1), 2)); // Another request's answer.
  CHECK_FALSE(x.it.awaits(peer(4), 1));
  x.keep(x.it.declined(peer(1), x.now));
  CHECK_FALSE(x.it.awaits(peer(1), 1));
  x.keep(x.it.left(peer(2), x.now));
  CHECK(x.it.gathers());
  x.whole(3);
  CHECK_FALSE(x.it.gathers());
  CHECK(x.all<sponsorship::whole>().size() == 1);
  // One that leaves after it has brought something hears no more of it.
  CHECK(x.it.left(peer(3), x.now).empty());
  CHECK(x.it.taken(peer(3), true).empty());
}

TEST_CASE("one that is too slow is given up, and what it sends later refused") {
  one_sponsor x;
  x.gather({peer(1), peer(2)});
  x.whole(1);
  x.pass(limits::contribution_floor - limits::gathering_interval);
  CHECK(x.it.gathers());
  x.pass(limits::contribution_patience);
  CHECK_FALSE(x.it.gathers());
  REQUIRE(x.sent<contribution_answer>(2).size() == 1);
  CHECK(x.sent<contribution_answer>(2)[0].reason == "too late");
  // The first of its chunks is answered, the others are not.
  x.whole(2);
  CHECK(x.sent<contribution_answer>(2).size() == 2);
  CHECK(x.all<sponsorship::whole>().size() == 1);
  // Nobody was ever asked under this number.
  x.part(2, 0, {1, 2}, 9);
  CHECK(x.sent<contribution_answer>(2).size() == 2);
}

TEST_CASE("gradients have the time that they need on their lines") {
  one_sponsor x;
  gather_contributions order;
  order.gradient_values = 3;
  order.contributors = {peer(1)};
  order.patience = 1min;
  x.gather(order);
  x.pass(1min);
  CHECK(x.it.gathers());
  x.pass(limits::contribution_cap);
  CHECK_FALSE(x.it.gathers());
}

TEST_CASE("a contribution that is no good is refused, and people see it") {
  one_sponsor x;
  x.gather({peer(1)});
  x.part(1, 0, {std::numeric_limits<float>::quiet_NaN(), 1});
  REQUIRE(x.all<sponsorship::refused>().size() == 1);
  CHECK(x.all<sponsorship::refused>()[0].from == peer(1));
  CHECK_FALSE(x.all<sponsorship::refused>()[0].why.empty());
  REQUIRE(x.sent<contribution_answer>(1).size() == 1);
  CHECK_FALSE(x.sent<contribution_answer>(1)[0].accepted);
  CHECK(x.all<sponsorship::whole>().empty());
  CHECK(x.all<sponsorship::done>().size() == 1);
}

TEST_CASE("those that brought nothing are asked no more when they have cost "
          "too much time") {
  one_sponsor x;
  std::uint64_t number = 0;
  std::uint8_t key = 1;
  // A new one in each gathering: keys cost nothing.
  do {
    REQUIRE(key < 50);
    x.gather({peer(99), peer(++key)});
    ++number;
    x.whole(99, number);
    while (x.it.gathers())
      x.pass(limits::gathering_interval);
  } while (!x.sent<contribution_request>(key).empty());
  // One that brought something when it was asked last is asked all along.
  CHECK(x.sent<contribution_request>(99).size() == number);
  x.now += limits::vain_gathering_share * limits::vain_gathering;
  x.gather({peer(++key)});
  CHECK(x.sent<contribution_request>(key).size() == 1);
}
