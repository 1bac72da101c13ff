#include "runtime/averaging/chunk_audit.hpp"

#include <doctest/doctest.h>

#include <random>

#include "runtime/packing/packing.hpp"

using namespace potluck;
using outcome = chunk_audit::outcome;

namespace {

digest body_of(const std::vector<float>& part) {
  return digest_of(part.data(), part.size() * sizeof(float));
}

constexpr std::size_t length = 50;

/// A round of five members, the fourth without samples; the reducer is the
/// second.
struct one_chunk {
  explicit one_chunk(aggregator how, std::uint64_t seed = 1) {
    rule.how = how;
    std::mt19937_64 random{seed};
    std::normal_distribution<float> noise;
    for (std::size_t i = 0; i < samples.size(); ++i)
      for (std::size_t k = 0; k < length; ++k)
        parts[i].push_back(noise(random) * static_cast<float>(samples[i]));
    said.resize(samples.size());
  }

  std::vector<float> mean() {
    chunk_average average{length, samples, rule};
    for (auto i : {4, 0, 2, 1}) { // As they came.
      auto at = static_cast<std::size_t>(i);
      if (left_out == std::vector<std::uint8_t>{static_cast<std::uint8_t>(i)})
        average.leave_out(at);
      else
        average.offer(at, samples[at], parts[at].data(), length);
      said[at] = digest_of(parts[at].data(), length * sizeof(float));
    }
    for (auto i : left_out)
      said[i] = {};
    return average.mean();
  }
  chunk_audit audit(const std::vector<float>& mean) {
    return {samples, rule, 1, left_out, digest_of(said), mean.data(), length};
  }
  /// All whose parts are in it show them, and the reducer tells which it had.
  void show_all(chunk_audit& x) {
    for (auto i : x.missing())
      show(x, i);
    x.tell(said);
  }
  void show(chunk_audit& x, std::size_t i) {
    x.show(i, samples[i], parts[i].data(), length, body_of(parts[i]));
  }

  averaging_rule rule;
  std::vector<std::uint64_t> samples{3, 10, 7, 0, 1};
  std::vector<std::uint8_t> left_out;
  std::vector<float> parts[5];
  std::vector<digest> said;
};

const std::vector<aggregator> rules{aggregator::mean, aggregator::centered_clip,
                                    aggregator::trimmed_mean,
                                    aggregator::median};

} // namespace

TEST_CASE("a mean of the members' parts is found right, by every rule") {
  for (auto how : rules)
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(seed);
      one_chunk x{how, seed};
      if (seed % 2 == 0)
        x.left_out = {2};
      auto audit = x.audit(x.mean());
      CHECK(audit.judge() == outcome::open);
      CHECK_FALSE(
          audit.show(3, 0, x.parts[3].data(), length, body_of(x.parts[3])));
      for (auto i : audit.missing())
        x.show(audit, i);
      CHECK_FALSE(audit.complete());
      CHECK(audit.tell(x.said));
      CHECK_FALSE(audit.tell(x.said)); // Not again.
      CHECK(audit.complete());
      CHECK(audit.judge() == outcome::right);
      CHECK_FALSE(audit.show(0, 3, x.parts[0].data(), length,
                             body_of(x.parts[0]))); // Not again.
    }
}

TEST_CASE("a mean that is not that of the parts is found wrong") {
  for (auto how : rules) {
    one_chunk x{how};
    auto mean = x.mean();
    mean[17] += 0.01f;
    auto audit = x.audit(mean);
    x.show_all(audit);
    CHECK(audit.judge() == outcome::wrong);
  }
}

TEST_CASE("a sender that shows another part is one word against another") {
  one_chunk x{aggregator::mean};
  auto audit = x.audit(x.mean());
  x.parts[4][0] += 1;
  x.show_all(audit);
  CHECK(audit.judge() == outcome::denied);
  CHECK(audit.denied() == std::vector<std::size_t>{4});
}

TEST_CASE("a reducer whose words fit hardly any sender is found wrong") {
  one_chunk x{aggregator::median};
  auto mean = x.mean();
  x.said[0].bytes[0] ^= 1;
  x.said[4].bytes[0] ^= 1;
  auto audit = x.audit(mean);
  x.show_all(audit);
  CHECK(audit.judge() == outcome::wrong);
}

TEST_CASE("a reducer that does not show its own part is silent") {
  one_chunk x{aggregator::mean};
  auto audit = x.audit(x.mean());
  audit.tell(x.said);
  for (auto i : {0, 2, 4}) {
    CHECK(audit.judge() == outcome::open);
    x.show(audit, static_cast<std::size_t>(i));
  }
  CHECK(audit.judge() == outcome::silent);
  x.show(audit, 1);
  CHECK(audit.judge() == outcome::right);
}

TEST_CASE("a reducer that does not tell which parts it summed is silent") {
  one_chunk x{aggregator::mean};
  auto audit = x.audit(x.mean());
  for (auto i : {0, 1, 2, 4}) {
    CHECK(audit.judge() == outcome::open);
    x.show(audit, static_cast<std::size_t>(i));
  }
  CHECK(audit.judge() == outcome::silent);
  CHECK_FALSE(audit.complete());
}

TEST_CASE("a reducer that tells other parts than it committed itself to is "
          "wrong") {
  one_chunk x{aggregator::mean};
  auto mean = x.mean();
  for (auto change : {0, 1, 2}) {
    CAPTURE(change);
    auto audit = x.audit(mean);
    for (auto i : audit.missing())
      x.show(audit, i);
    auto told = x.said;
    if (change == 0)
      told[2].bytes[3] ^= 1; // A part that nobody sent.
    else if (change == 1)
      told[3].bytes[0] ^= 1; // Of a member without samples.
    else
      told.pop_back();
    audit.tell(told);
    CHECK(audit.judge() == outcome::wrong);
  }
}

TEST_CASE("what does not fit the contract is no part") {
  one_chunk x{aggregator::mean};
  auto audit = x.audit(x.mean());
  CHECK_FALSE(audit.show(0, 4, x.parts[0].data(), length, body_of(x.parts[0])));
  CHECK_FALSE(
      audit.show(0, 3, x.parts[0].data(), length - 1, body_of(x.parts[0])));
  CHECK_FALSE(audit.show(9, 3, x.parts[0].data(), length, body_of(x.parts[0])));
  CHECK(audit.missing() == std::vector<std::size_t>{0, 1, 2, 4});
}

TEST_CASE("a mean that holds a part which must be refused is wrong") {
  one_chunk x{aggregator::mean};
  x.rule.part_norm = 0;
  auto mean = x.mean();
  x.rule.part_norm = 1e-3;
  auto audit = x.audit(mean);
  x.show_all(audit);
  CHECK(audit.judge() == outcome::wrong);
}

TEST_CASE("a mean of packed parts that went as int8 is found right, and no "
          "other") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    one_chunk x{aggregator::mean, seed};
    auto there_and_back = [](packing how, std::vector<float>& values) {
      std::vector<std::uint8_t> bytes(packed_bytes(how, length));
      pack(how, values.data(), length, bytes.data());
      REQUIRE(unpack(how, bytes.data(), bytes.size(), values.data(), length));
    };
    for (auto i : {0, 2, 4}) // The reducer's own is summed as it is.
      there_and_back(packing::int8, x.parts[i]);
    auto mean = x.mean();
    there_and_back(packing::int8, mean);
    auto judged = [&](const std::vector<float>& what) {
      chunk_audit audit{x.samples,         x.rule,      1,      x.left_out,
                        digest_of(x.said), what.data(), length, packing::int8};
      x.show_all(audit);
      return audit.judge();
    };
    CHECK(judged(mean) == outcome::right);
    mean[seed] += 1;
    CHECK(judged(mean) == outcome::wrong);
  }
}
