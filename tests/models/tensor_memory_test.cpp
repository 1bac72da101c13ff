#include "models/tensor_memory.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "models/experts/catalogue.hpp"
#include "runtime/ports/expert_module.hpp"
#include "runtime/recycled_memory.hpp"

using namespace potluck;

namespace {

constexpr std::uint32_t hidden = 64;
constexpr std::uint32_t inner = 512;

/// The factory is what begins to recycle.
std::unique_ptr<expert_module> some_expert() {
  expert_kind kind;
  kind.layer = "ffn";
  kind.hidden = hidden;
  kind.inner = inner;
  return make_expert_factory("cpu", 1)(kind, "ffn.0", 1);
}

/// Of small numbers, from which an expert makes others.
std::vector<float> numbers(std::uint32_t samples) {
  std::vector<float> x(std::size_t{samples} * hidden);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::sin(0.37f * static_cast<float>(i));
  return x;
}

} // namespace

TEST_CASE("what a pass needs in between waits for the next pass, which is "
          "right with it") {
  constexpr std::uint32_t samples = 256;
  auto expert = some_expert();
  auto in = numbers(samples);
  std::vector<float> first(in.size());
  std::vector<float> again(in.size());
  drop_idle_blocks();
  expert->forward(samples, in.data(), first.data());
  const auto waiting = idle_blocks_bytes();
  CHECK(waiting >= std::size_t{samples} * inner * sizeof(float));
  expert->forward(samples, in.data(), again.data());
  CHECK(idle_blocks_bytes() == waiting); // Nothing fresh was needed.
  CHECK(first == again);                 // Whatever lay in it.
  drop_idle_blocks();
}

TEST_CASE("an expert learns the same in memory that is used again") {
  constexpr std::uint32_t samples = 256;
  auto in = numbers(samples);
  std::vector<float> out(in.size());
  auto once = some_expert();
  drop_idle_blocks();
  once->backward(samples, in.data(), in.data(), out.data());
  auto fresh = once->save();
  CHECK(idle_blocks_bytes() > 0);
  auto other = some_expert();
  other->backward(samples, in.data(), in.data(), out.data());
  CHECK(other->save() == fresh);
  drop_idle_blocks();
}

TEST_CASE("a large pass leaves no more memory waiting than the limit") {
  constexpr std::uint32_t samples = 32768; // 64 MiB for each value inside.
  auto expert = some_expert();
  auto in = numbers(samples);
  std::vector<float> out(in.size());
  drop_idle_blocks();
  expert->backward(samples, in.data(), in.data(), out.data());
  CHECK(idle_blocks_bytes() <= limits::recycled_bytes);
  CHECK(idle_blocks_bytes() >= std::size_t{samples} * inner * sizeof(float));
  drop_idle_blocks();
}
