#include "runtime/averaging/error_feedback.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include <doctest/doctest.h>

#include "runtime/averaging/chunk_average.hpp"
#include "runtime/averaging/chunk_map.hpp"
#include "runtime/packing/packing.hpp"
#include "runtime/random.hpp"

using namespace potluck;

namespace {

using floats = std::vector<float>;

constexpr std::uint32_t chunk_values = 1024;

shared_gradient shared(floats x) {
  return std::make_shared<const floats>(std::move(x));
}

floats noise(random_stream& chance, std::size_t count) {
  floats result(count);
  for (auto& x : result)
    x = static_cast<float>(chance.uniform01() * 2 - 1);
  return result;
}

/// What a reducer makes of a part.
floats sent(const floats& part) {
  std::vector<std::uint8_t> bytes(packed_bytes(packing::topk, part.size()));
  pack(packing::topk, part.data(), part.size(), bytes.data());
  floats result(part.size());
  REQUIRE(unpack(packing::topk, bytes.data(), bytes.size(), result.data(),
                 result.size()));
  return result;
}

floats chunk_of(const floats& x, std::size_t chunk) {
  auto first = x.begin() + static_cast<std::ptrdiff_t>(chunk * chunk_values);
  return {first, first + chunk_values};
}

} // namespace

TEST_CASE("what was not sent remains, chunk by chunk") {
  random_stream chance{1};
  own_parts own;
  own.offered = shared(noise(chance, 3 * chunk_values));
  own.fates = {part_fate::packed, part_fate::whole, part_fate::none};
  auto rest = residual_after(own, chunk_values, packing::topk);
  REQUIRE(rest->size() == own.offered->size());
  auto first = chunk_of(*own.offered, 0);
  auto gone = sent(first);
  for (std::size_t i = 0; i < chunk_values; ++i)
    REQUIRE((*rest)[i] == first[i] - gone[i]);
  CHECK(chunk_of(*rest, 1) == floats(chunk_values, 0.0f));
  CHECK(chunk_of(*rest, 2) == chunk_of(*own.offered, 2));
}

TEST_CASE(
    "who does not know what became of its parts keeps what it never sent") {
  random_stream chance{2};
  own_parts all;
  all.offered = shared(noise(chance, chunk_values + 17));
  auto some = all;
  some.fates = {part_fate::packed, part_fate::packed};
  CHECK(*residual_after(all, chunk_values, packing::topk)
        == *residual_after(some, chunk_values, packing::topk));
}

TEST_CASE("of a packing that loses nothing nothing remains") {
  random_stream chance{3};
  own_parts own;
  own.offered = shared(noise(chance, 100));
  CHECK(*residual_after(own, chunk_values, packing::float32)
        == floats(100, 0.0f));
}

TEST_CASE("of a chunk that is not finite nothing remains") {
  own_parts own;
  floats x(2 * chunk_values, 1.0f);
  x[5] = std::numeric_limits<float>::quiet_NaN();
  own.offered = shared(x);
  for (auto fate : {part_fate::none, part_fate::packed}) {
    own.fates = {fate, fate};
    auto rest = residual_after(own, chunk_values, packing::topk);
    CHECK(chunk_of(*rest, 0) == floats(chunk_values, 0.0f));
    CHECK(chunk_of(*rest, 1) != floats(chunk_values, 0.0f));
  }
}

TEST_CASE("what remains is offered with the next gradient") {
  error_feedback memory{packing::topk, chunk_values, 64};
  random_stream chance{6};
  auto first = shared(noise(chance, 64));
  CHECK((memory.offer(first) == first));
  own_parts own{first, {part_fate::none}};
  memory.step_made(&own);
  CHECK(*memory.residual() == *first);
  auto second = shared(noise(chance, 64));
  auto both = memory.offer(second);
  for (std::size_t i = 0; i < 64; ++i)
    CHECK((*both)[i] == (*first)[i] + (*second)[i]);
  CHECK((memory.offer(nullptr) == nullptr));
  CHECK_THROWS_AS(memory.offer(shared({1})), std::invalid_argument);
}

TEST_CASE("a round that comes to nothing changes nothing") {
  error_feedback memory{packing::topk, chunk_values, 64};
  random_stream chance{7};
  auto gradient = shared(noise(chance, 64));
  own_parts own{memory.offer(gradient), {part_fate::packed}};
  memory.step_made(&own);
  auto rest = *memory.residual();
  auto once = *memory.offer(gradient);
  CHECK(*memory.residual() == rest);
  CHECK(*memory.offer(gradient) == once); // The next group of that step.
}

TEST_CASE("a step in which this peer had nothing leaves what remains") {
  error_feedback memory{packing::topk, chunk_values, 64};
  random_stream chance{8};
  own_parts own{memory.offer(shared(noise(chance, 64))), {part_fate::packed}};
  memory.step_made(&own);
  auto rest = *memory.residual();
  memory.offer(shared(noise(chance, 64))); // For a round that was dropped.
  own_parts nothing;
  memory.step_made(&nothing);
  CHECK(*memory.residual() == rest);
  memory.step_made(nullptr); // Fetched, and nothing was offered for it.
  CHECK(*memory.residual() == rest);
}

TEST_CASE("what was offered for a mean that had to be fetched counts as sent") {
  error_feedback memory{packing::topk, chunk_values, 64};
  random_stream chance{9};
  auto offered = memory.offer(shared(noise(chance, 64)));
  memory.step_made(nullptr);
  CHECK(*memory.residual()
        == *residual_after({offered, {}}, chunk_values, packing::topk));
}

TEST_CASE("what a sponsor got counts as sent, unless it refuses") {
  constexpr std::size_t length = 3072;
  constexpr std::uint32_t short_chunk = 256;
  error_feedback memory{packing::topk, short_chunk, length};
  random_stream chance{10};
  auto given = memory.give(shared(noise(chance, length)), 7);
  // It was cut as contributions are.
  auto rest = *residual_after({given, {}}, contribution_values(short_chunk),
                              packing::topk);
  CHECK(rest != *residual_after({given, {}}, short_chunk, packing::topk));
  CHECK(*memory.residual() == rest);
  memory.step_made(nullptr);
  CHECK(*memory.residual() == rest);
  // Twice in one step: its round had come to nothing.
  memory.give(shared(noise(chance, length)), 8);
  CHECK(*memory.residual() != rest);
  memory.gift_refused(7); // Late news.
  CHECK(*memory.residual() != rest);
  memory.gift_refused(8);
  CHECK(*memory.residual() == rest);
  memory.gift_refused(8);
  CHECK(*memory.residual() == rest);
}

TEST_CASE(
    "what a former process kept is used where it stopped, or not at all") {
  random_stream chance{11};
  auto kept = shared(noise(chance, 64));
  error_feedback memory{packing::topk, chunk_values, 64};
  memory.restore(shared(noise(chance, 63)));
  CHECK((memory.residual() == nullptr));
  memory.restore(shared(floats(64, std::numeric_limits<float>::infinity())));
  CHECK((memory.residual() == nullptr));
  memory.restore(nullptr);
  CHECK((memory.residual() == nullptr));

  memory.restore(kept);
  CHECK((memory.residual() == kept));
  auto gradient = shared(floats(64, 0.0f));
  CHECK(*memory.offer(gradient) == *kept);

  // The others have made the step; the former process may have been with them.
  memory.restore(kept);
  memory.step_made(nullptr);
  CHECK((memory.residual() == nullptr));

  memory.restore(kept);
  memory.state_replaced();
  CHECK((memory.residual() == nullptr));
}

TEST_CASE("over many rounds everything counts once, whatever befalls them") {
  // Whole numbers, so that sums are exact; a member that is heard, left out of
  // chunks, averages some itself, and whose rounds are dropped.
  random_stream chance{4};
  constexpr std::size_t chunks = 3;
  constexpr std::size_t length = chunks * chunk_values;
  std::vector<double> computed(length, 0.0);
  std::vector<double> counted(length, 0.0);
  error_feedback memory{packing::topk, chunk_values, length};
  floats gradient(length, 0.0f);
  for (int round = 0; round < 200; ++round) {
    for (std::size_t i = 0; i < length; ++i) {
      auto more = static_cast<float>(chance.below(9)) - 4;
      gradient[i] += more;
      computed[i] += more;
    }
    own_parts own;
    own.offered = memory.offer(shared(gradient));
    if (chance.below(4) == 0)
      continue; // Dropped: the gradient stays as well.
    for (std::size_t c = 0; c < chunks; ++c)
      own.fates.push_back(static_cast<part_fate>(chance.below(3)));
    for (std::size_t c = 0; c < chunks; ++c) {
      auto part = chunk_of(*own.offered, c);
      if (own.fates[c] == part_fate::none)
        continue;
      if (own.fates[c] == part_fate::packed)
        part = sent(part);
      for (std::size_t i = 0; i < chunk_values; ++i)
        counted[c * chunk_values + i] += part[i];
    }
    memory.step_made(&own);
    gradient.assign(length, 0.0f);
  }
  double worst = 0;
  for (std::size_t i = 0; i < length; ++i)
    worst = std::max(worst, std::abs(computed[i] - counted[i]
                                     - (*memory.residual())[i] - gradient[i]));
  CHECK(worst < 0.01); // Rounding, of magnitudes up to hundreds.
}

TEST_CASE("with memory a quadratic is solved, without it the bias stays") {
  // Two members with targets far apart in most coordinates, whose mean is what
  // is wanted; of each block but a 32nd is sent a step.
  constexpr std::size_t length = 1024;
  auto distance = [&](bool feedback) {
    random_stream chance{5};
    std::vector<floats> targets{noise(chance, length), noise(chance, length)};
    // The first 64 pull in opposite directions, so hard that nothing else is
    // ever among the largest.
    for (std::size_t i = 0; i < 64; ++i) {
      targets[0][i] = 5;
      targets[1][i] = -5;
    }
    floats x(length, 0.0f);
    std::vector<error_feedback> memories(
        2, error_feedback{packing::topk, chunk_values, length});
    for (int step = 0; step < 3000; ++step) {
      chunk_average mean{length, {3, 1}};
      for (std::size_t member = 0; member < 2; ++member) {
        const auto samples = member == 0 ? 3.0f : 1.0f;
        floats gradient(length);
        for (std::size_t i = 0; i < length; ++i) {
          // Weighted so that the minimum is the targets' plain mean.
          auto weight = member == 0 ? 1.0f / 3 : 1.0f;
          gradient[i] = samples * weight * (x[i] - targets[member][i]);
        }
        own_parts own;
        own.offered = memories[member].offer(shared(gradient));
        auto part = sent(*own.offered);
        mean.offer(member, static_cast<std::uint64_t>(samples), part.data(),
                   length);
        if (feedback)
          memories[member].step_made(&own);
      }
      for (std::size_t i = 0; i < length; ++i)
        x[i] -= 0.02f * mean.mean()[i];
    }
    double result = 0;
    for (std::size_t i = 0; i < length; ++i)
      result += std::pow(x[i] - (targets[0][i] + targets[1][i]) / 2, 2);
    return std::sqrt(result / length);
  };
  auto with = distance(true);
  auto without = distance(false);
  INFO("with " << with << ", without " << without);
  CHECK(with < 0.1);
  CHECK(without > 0.3);
}
