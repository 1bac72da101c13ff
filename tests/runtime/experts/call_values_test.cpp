#include "runtime/experts/call_values.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/packing/packing.hpp"
#include "runtime/random.hpp"
#include "runtime/recycled_memory.hpp"

using namespace potluck;

namespace {

constexpr packing all_packings[]
    = {packing::float32, packing::float16, packing::bfloat16, packing::int8};

expert_request request(packing how, std::uint32_t samples, std::uint32_t values,
                       std::uint32_t gradients) {
  expert_request x;
  x.packing = how;
  x.samples = samples;
  x.values = values;
  x.gradients = gradients;
  return x;
}

/// Inputs of about 1, then gradients of about 10^-6.
std::vector<float> draw(const call_size& size, std::uint64_t seed) {
  random_stream chance{seed};
  std::vector<float> x;
  for (std::size_t i = 0; i < size.inputs; ++i)
    x.push_back(static_cast<float>(2 * chance.uniform01() - 1));
  for (std::size_t i = 0; i < size.gradients; ++i)
    x.push_back(static_cast<float>((2 * chance.uniform01() - 1) * 1e-6));
  return x;
}

shared_bytes body_of(packing how, const std::vector<float>& x,
                     const call_size& size) {
  return potluck::body_of(how, nullptr, x.data(), size);
}

/// The same bytes, behind `shift` others.
struct moved_body {
  moved_body(const shared_bytes& x, std::size_t shift)
      : bytes(x.size + shift), body{nullptr, bytes.data() + shift, x.size} {
    std::memcpy(bytes.data() + shift, x.data, x.size);
  }
  std::vector<std::uint8_t> bytes;
  shared_bytes body;
};

} // namespace

TEST_CASE("values come back as their packing promises, each part by itself") {
  for (auto how : all_packings)
    for (auto samples : {1u, 3u, 700u}) {
      CAPTURE(to_string(how));
      CAPTURE(samples);
      auto size = size_of(request(how, samples, 8, 3));
      CHECK(size.inputs == 5 * samples);
      CHECK(size.gradients == 3 * samples);
      auto x = draw(size, samples);
      auto body = body_of(how, x, size);
      CHECK(body.size
            == packed_bytes(how, size.inputs)
                   + packed_bytes(how, size.gradients));
      for (std::size_t shift : {0, 1, 2}) {
        moved_body elsewhere{body, shift};
        std::vector<float> y(x.size());
        REQUIRE(read_values(how, elsewhere.body, size, y.data()));
        for (std::size_t i = 0; i < x.size(); ++i) {
          // Small gradients do not suffer from large inputs.
          auto largest = i < size.inputs ? 1 : 1e-6;
          auto off = std::fabs(double{x[i]} - double{y[i]});
          REQUIRE(off <= packing_error(how, std::fabs(double{x[i]}), largest));
        }
      }
    }
}

TEST_CASE("values without packing are sent from where they lie") {
  std::vector<float> x(6, 1.5f);
  auto body = body_of(packing::float32, x, {6, 0});
  CHECK(static_cast<const void*>(body.data) == x.data());
  CHECK(body.size == 24);
}

TEST_CASE("a body of another length, or with an impossible value or scale, is "
          "refused") {
  const call_size size{1500, 300};
  auto x = draw(size, 1);
  std::vector<float> y(x.size());
  for (auto how : all_packings) {
    CAPTURE(to_string(how));
    moved_body good{body_of(how, x, size), 0};
    CHECK(read_values(how, good.body, size, y.data()));
    auto other = good.body;
    --other.size;
    CHECK(!read_values(how, other, size, y.data()));
    CHECK(!read_values(how, good.body, {1500, 301}, y.data()));
    // Where the gradients begin: a value, or the scale of their first block.
    auto bad = std::nanf("");
    auto at = packed_bytes(how, size.inputs);
    if (how == packing::bfloat16)
      good.bytes[at + 1] = 0x7f, good.bytes[at] = 0xc0;
    else
      std::memcpy(good.bytes.data() + at, &bad, sizeof(bad));
    CHECK(!read_values(how, good.body, size, y.data()));
  }
}
