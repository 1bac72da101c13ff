#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "runtime/averaging/chunk_average.hpp"
#include "runtime/packing/packing.hpp"
#include "tests/runtime/averaging/waiting.hpp"

using namespace potluck;
using verdict = chunk_average::verdict;

namespace {

/// That are used up before they end.
shared_bytes bytes_of(const std::vector<std::uint8_t>& x) {
  return {nullptr, x.data(), x.size()};
}

} // namespace

TEST_CASE("the mean is weighted by samples, whatever the order of arrival") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random{seed};
    std::size_t length = 1 + random() % 1000;
    std::vector<std::uint64_t> samples(1 + random() % 16);
    for (auto& x : samples)
      x = random() % 3 == 0 ? 0 : random() % 100;
    samples[random() % samples.size()] = 7;
    std::vector<std::vector<float>> sums(samples.size());
    std::vector<double> expected(length, 0);
    double total = 0;
    std::vector<std::size_t> order;
    std::normal_distribution<float> noise;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      total += static_cast<double>(samples[i]);
      if (samples[i] == 0)
        continue;
      order.push_back(i);
      for (std::size_t k = 0; k < length; ++k) {
        sums[i].push_back(noise(random) * static_cast<float>(samples[i]));
        expected[k] += static_cast<double>(sums[i][k]);
      }
    }
    std::shuffle(order.begin(), order.end(), random);
    chunk_average average{length, samples};
    CHECK_THROWS_AS(average.mean(), std::logic_error);
    for (auto i : order) {
      auto missing = average.missing();
      CHECK(std::count(missing.begin(), missing.end(), i) == 1);
      auto is = average.offer(i, samples[i], sums[i].data(), length);
      CHECK((is == verdict::complete) == (i == order.back()));
      CHECK((is == verdict::accepted) == (i != order.back()));
    }
    CHECK(average.missing().empty());
    for (int twice = 0; twice < 2; ++twice) {
      double worst = 0;
      for (std::size_t k = 0; k < length; ++k)
        worst = std::max(worst, std::abs(static_cast<double>(average.mean()[k])
                                         - expected[k] / total));
      CHECK(worst < 1e-5);
    }
  }
}

TEST_CASE("packed parts count as if they had been unpacked before") {
  std::mt19937_64 random{5};
  std::normal_distribution<float> noise;
  constexpr std::size_t length = 2500; // Two blocks and a half.
  for (auto how :
       {packing::float32, packing::float16, packing::bfloat16, packing::int8})
    for (auto part_norm : {0.0, 1e9})
      for (std::size_t offset : {0, 1}) { // Of the body: any address.
        CAPTURE(to_string(how));
        CAPTURE(part_norm);
        averaging_rule rule;
        rule.part_norm = part_norm;
        chunk_average packed{length, {1, 2, 3}, rule};
        chunk_average plain{length, {1, 2, 3}, rule};
        for (std::size_t member = 0; member < 3; ++member) {
          std::vector<float> values(length);
          for (auto& x : values)
            x = noise(random);
          std::vector<std::uint8_t> body(offset + packed_bytes(how, length));
          pack(how, values.data(), length, body.data() + offset);
          const auto size = body.size() - offset;
          REQUIRE(
              unpack(how, body.data() + offset, size, values.data(), length));
          const auto samples = member + 1;
          const auto* data = body.data() + offset;
          CHECK(packed.offer(member, samples, how, {nullptr, data, size - 1})
                == verdict::wrong_length);
          CHECK(packed.offer(member, samples, how, {nullptr, data, size})
                == plain.offer(member, samples, values.data(), length));
          CHECK(packed.offer(member, samples, how, {nullptr, data, size})
                == verdict::repeated);
        }
        CHECK(packed.mean() == plain.mean());
      }
}

TEST_CASE("what no packing makes changes no sum, whether first or later") {
  constexpr std::size_t length = 1500;
  for (auto how : {packing::float16, packing::bfloat16, packing::int8}) {
    CAPTURE(to_string(how));
    std::vector<float> values(length, 2.0f);
    std::vector<std::uint8_t> good(packed_bytes(how, length));
    pack(how, values.data(), length, good.data());
    auto bad = good;
    // The second block's scale, or of bfloat16 a value: not a number.
    bad[6] = bad[7] = 0xff;
    chunk_average average{length, {1, 1}};
    for (std::size_t member : {0, 1}) {
      CHECK(average.offer(member, 1, how, bytes_of(bad)) == verdict::unfit);
      CHECK(average.missing().front() == member);
      average.offer(member, 1, how, bytes_of(good));
    }
    REQUIRE(average.complete());
    REQUIRE(unpack(how, good.data(), good.size(), values.data(), length));
    CHECK(average.mean() == values);
  }
}

TEST_CASE("no part holds more than any gradient, so that no sum is infinite") {
  for (auto how : {packing::float32, packing::float16, packing::int8}) {
    CAPTURE(to_string(how));
    auto body_of = [how](float value) {
      std::vector<float> values(1500, 0.0f);
      values[1100] = value;
      std::vector<std::uint8_t> body(packed_bytes(how, values.size()));
      pack(how, values.data(), values.size(), body.data());
      return body;
    };
    const auto too_much = body_of(std::numeric_limits<float>::max());
    const auto much = body_of(largest_part_value / 2);
    chunk_average average{1500, {1, 1, 1}};
    for (std::size_t member : {0, 1, 2}) {
      CHECK(average.offer(member, 1, how, bytes_of(too_much))
            == verdict::unfit);
      CHECK(average.offer(member, 1, how, bytes_of(much))
            == (member < 2 ? verdict::accepted : verdict::complete));
    }
    CHECK(average.mean()[1100]
          == doctest::Approx(largest_part_value / 2).epsilon(1e-3));
  }
}

TEST_CASE("int8 that its scales do not vouch for is looked at") {
  std::vector<float> values(1024, 1.0f);
  values[3] = largest_part_value;
  std::vector<std::uint8_t> body(packed_bytes(packing::int8, 1024));
  pack(packing::int8, values.data(), 1024, body.data());
  CHECK(!surely_within(packing::int8, body.data(), body.size(), 1024,
                       largest_part_value)); // 128 times it would be more.
  body[4 + 3] = 0x80;
  chunk_average average{1024, {1, 1}};
  CHECK(average.offer(0, 1, packing::int8, bytes_of(body)) == verdict::unfit);
  body[4 + 3] = 0x7e;
  CHECK(average.offer(0, 1, packing::int8, bytes_of(body))
        == verdict::accepted);
}

TEST_CASE("a refused part changes nothing") {
  chunk_average average{2, {3, 0, 1}};
  std::vector<float> good{3, 6};
  std::vector<float> last{1, 2};
  CHECK(average.offer(0, 3, good.data(), 2) == verdict::accepted);
  CHECK(average.offer(0, 3, good.data(), 2) == verdict::repeated);
  CHECK(average.offer(1, 1, good.data(), 2) == verdict::stranger);
  CHECK(average.offer(3, 1, good.data(), 2) == verdict::stranger);
  CHECK(average.offer(2, 1, good.data(), 1) == verdict::wrong_length);
  CHECK(average.offer(2, 2, good.data(), 2) == verdict::wrong_samples);
  for (float x : {std::numeric_limits<float>::infinity(),
                  -std::numeric_limits<float>::infinity(),
                  std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> bad{1, x};
    CHECK(average.offer(2, 1, bad.data(), 2) == verdict::unfit);
  }
  CHECK(average.missing() == std::vector<std::size_t>{2});
  CHECK(average.offer(2, 1, last.data(), 2) == verdict::complete);
  CHECK(average.mean() == std::vector<float>{1, 2});
  CHECK(average.samples_counted() == 4);
}

TEST_CASE("a member that is left out is not waited for, and comes too late") {
  chunk_average average{2, {3, 0, 1, 4}};
  std::vector<float> first{3, 6};
  std::vector<float> last{5, 2};
  CHECK(average.offer(0, 3, first.data(), 2) == verdict::accepted);
  average.leave_out(2);
  average.leave_out(1); // Had nothing to send.
  average.leave_out(9);
  CHECK(average.missing() == std::vector<std::size_t>{3});
  CHECK_FALSE(average.complete());
  CHECK(average.offer(2, 1, last.data(), 2) == verdict::too_late);
  SUBCASE("the others make the mean") {
    CHECK(average.offer(3, 4, last.data(), 2) == verdict::complete);
    CHECK(average.left_out() == std::vector<std::uint8_t>{2});
    CHECK(average.samples_counted() == 7);
    CHECK(average.mean()[0] == doctest::Approx(8.0 / 7));
    average.leave_out(0); // Has been counted.
    CHECK(average.samples_counted() == 7);
  }
  SUBCASE("leaving out the last one completes it") {
    average.leave_out(3);
    REQUIRE(average.complete());
    CHECK(average.left_out() == std::vector<std::uint8_t>{2, 3});
    CHECK(average.mean() == std::vector<float>{1, 2});
  }
}

TEST_CASE("a part that lasts is not copied, and changes no bit of the mean") {
  constexpr std::size_t length = 1000;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random{seed};
    std::normal_distribution<float> noise;
    const std::size_t members = 1 + random() % 4;
    std::vector<std::uint64_t> samples(members);
    std::vector<std::vector<float>> parts(members);
    for (std::size_t i = 0; i < members; ++i) {
      samples[i] = 1 + random() % 50;
      for (std::size_t k = 0; k < length; ++k)
        parts[i].push_back(noise(random));
    }
    // The last member's part may be lost after the others came.
    const bool lost = members > 1 && random() % 3 == 0;
    const auto how = random() % 2 == 0 ? packing::float32 : packing::int8;
    value_pool rooms{2 * length};
    chunk_average lasting{length, samples, {}, rooms};
    chunk_average copying{length, samples};
    auto own = std::make_shared<std::vector<float>>(parts[0]);
    lasting.offer_lasting(0, samples[0], own, own->data(), length);
    copying.offer(0, samples[0], parts[0].data(), length);
    for (std::size_t i = 1; i < members - (lost ? 1 : 0); ++i) {
      auto body = packed_body(how, nullptr, parts[i].data(), length);
      for (auto* average : {&lasting, &copying})
        average->offer(i, samples[i], how, body);
    }
    if (lost)
      for (auto* average : {&lasting, &copying})
        average->leave_out(members - 1);
    REQUIRE(lasting.complete());
    CHECK(lasting.mean() == copying.mean());
    CHECK(own.use_count() == 1); // It is held no longer than it is needed.
    CHECK(*own == parts[0]);
  }
}

TEST_CASE("parts that wait for each other make the mean that they would have "
          "made one by one") {
  constexpr std::size_t length = 2500;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random{seed};
    std::normal_distribution<float> noise;
    const std::size_t members = 2 + random() % 11;
    const std::vector<std::uint64_t> samples(members, 3);
    value_pool rooms{2 * length};
    // Others' parts take up what may wait, or not.
    auto busy = let_many_wait(
        rooms, value_pool::most_waiting
                   - random() % 4 * packed_bytes(packing::int8, length));
    if (random() % 2 == 0)
      busy.clear();
    chunk_average together{length, samples, {}, rooms};
    chunk_average alone{length, samples};
    std::size_t left = 0;
    for (std::size_t i = 0; i < members; ++i) {
      std::vector<float> values(length);
      for (auto& x : values)
        x = noise(random);
      if (i > 0 && random() % 8 == 0) {
        together.leave_out(i);
        alone.leave_out(i);
        ++left;
        continue;
      }
      auto how = random() % 5 == 0 ? packing::float32 : packing::int8;
      auto own = std::make_shared<std::vector<float>>(values);
      auto body = packed_body(how, own, own->data(), length);
      REQUIRE(together.offer(i, 3, how, body)
              == alone.offer(i, 3, how, {nullptr, body.data, body.size}));
    }
    REQUIRE(together.complete());
    CHECK(together.left_out().size() == left);
    CHECK(together.mean() == alone.mean());
    busy.clear(); // Nothing else is held any more.
    CHECK(may_wait(rooms, value_pool::most_waiting));
  }
}

TEST_CASE("the own part may come behind others that wait for it") {
  constexpr std::size_t length = 2048;
  std::vector<float> values(length, 2.0f);
  auto own = std::make_shared<std::vector<float>>(length, 6.0f);
  value_pool rooms{2 * length};
  chunk_average average{length, {1, 1, 1, 1}, {}, rooms};
  for (std::size_t member : {1, 2})
    average.offer(member, 1, packing::int8,
                  packed_body(packing::int8, nullptr, values.data(), length));
  CHECK_FALSE(may_wait(rooms, value_pool::most_waiting));
  SUBCASE("as the last") {
    average.leave_out(3);
    average.offer_lasting(0, 1, own, own->data(), length);
    REQUIRE(average.complete());
    CHECK(average.mean()[7] == doctest::Approx(10.0 / 3));
  }
  SUBCASE("and before another") {
    average.offer_lasting(0, 1, own, own->data(), length);
    average.offer(3, 1, own->data(), length);
    REQUIRE(average.complete());
    CHECK(average.mean()[7] == doctest::Approx(4.0));
  }
  SUBCASE("or never") {
    average.leave_out(0);
    average.leave_out(3);
    REQUIRE(average.complete());
    CHECK(average.mean()[7] == doctest::Approx(2.0));
  }
  CHECK(own.use_count() == 1);
  CHECK(may_wait(rooms, value_pool::most_waiting));
}

TEST_CASE("no more parts of a chunk wait than its sum is long") {
  constexpr std::size_t length = 4096;
  std::vector<float> values(length, 1.0f);
  value_pool rooms{2 * length};
  chunk_average average{length, std::vector<std::uint64_t>(40, 1), {}, rooms};
  for (std::size_t member = 0; member < 40; ++member) {
    average.offer(member, 1, packing::int8,
                  packed_body(packing::int8, nullptr, values.data(), length));
    CHECK(may_wait(rooms, value_pool::most_waiting - length * sizeof(float)));
  }
  CHECK(average.mean()[4095] == doctest::Approx(1.0));
}

TEST_CASE("a part that lasts is judged like others") {
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  auto own = std::make_shared<std::vector<float>>(2, 1.0f);
  chunk_average average{2, {3, 1}};
  auto offer = [&](std::size_t member, std::uint64_t samples,
                   std::size_t count) {
    return average.offer_lasting(member, samples, own, own->data(), count);
  };
  CHECK(offer(7, 3, 2) == verdict::stranger);
  CHECK(offer(0, 2, 2) == verdict::wrong_samples);
  CHECK(offer(0, 3, 1) == verdict::wrong_length);
  (*own)[1] = nan;
  CHECK(offer(0, 3, 2) == verdict::unfit);
  (*own)[1] = 1;
  CHECK(own.use_count() == 1);
  CHECK(offer(0, 3, 2) == verdict::accepted);
  CHECK(offer(0, 3, 2) == verdict::repeated);
  CHECK(own.use_count() == 2);
}

TEST_CASE("memory for a sum is taken when there are two parts to sum") {
  value_pool rooms{4};
  { // One lies ready.
    auto room = rooms.take(4);
  }
  auto own = std::make_shared<std::vector<float>>(4, 1.0f);
  chunk_average average{4, {1, 1}, {}, rooms};
  average.offer_lasting(0, 1, own, own->data(), 4);
  CHECK(rooms.idle() == 4);
  average.offer(1, 1, own->data(), 4);
  CHECK(rooms.idle() == 0);
  CHECK(average.mean() == std::vector<float>(4, 1.0f));
}

TEST_CASE("there is no mean over nobody") {
  chunk_average average{1, {2, 3}};
  average.leave_out(0);
  average.leave_out(1);
  CHECK(average.missing().empty());
  CHECK_FALSE(average.complete());
  CHECK_THROWS_AS(average.mean(), std::logic_error);
}

TEST_CASE("a mean needs values and samples") {
  using samples = std::vector<std::uint64_t>;
  CHECK_THROWS_AS((chunk_average{0, samples{1}}), std::invalid_argument);
  CHECK_THROWS_AS((chunk_average{1, samples{0, 0}}), std::invalid_argument);
}
