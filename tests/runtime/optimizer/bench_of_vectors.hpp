/// A model of odd sizes with its vectors, on which the tests try the rules.
#pragma once

#include <cstdint>
#include <doctest/doctest.h>
#include <map>
#include <string>
#include <vector>

#include "messages/ids.hpp"
#include "runtime/optimizer/optimizer.hpp"
#include "runtime/optimizer/optimizer_kinds.hpp"
#include "runtime/random.hpp"

namespace potluck::test {

/// Sizes around the optimizer's blocks and lanes, decaying and not.
inline model_layout odd_layout() {
  model_layout layout;
  layout.add("large", {3, 9001}, true, 0, 0.02f);
  layout.add("bias", {17}, false, 0, 0);
  layout.add("one", {1}, true, 0, 0.02f);
  layout.add("empty", {0, 4}, true, 0, 0);
  layout.add("square", {8, 8}, true, 0, 0.02f);
  layout.add("norm", {8193}, false, 1, 0);
  return layout;
}

struct vectors {
  std::vector<float> x, m, v, gradient;

  vectors(std::size_t size, std::uint64_t seed)
      : x(size), m(size), v(size), gradient(size) {
    random_stream chance(seed);
    for (auto& value : x)
      value = static_cast<float>(chance.uniform01() - 0.5);
    draw_gradient(chance.next());
  }

  void draw_gradient(std::uint64_t seed) {
    random_stream chance(seed);
    for (auto& value : gradient)
      value = static_cast<float>((chance.uniform01() - 0.5) * 0.01);
  }

  optimized_vectors all() {
    return {x.data(), m.data(), v.data()};
  }

  potluck::digest digest() const {
    std::string all;
    for (auto* part : {&x, &m, &v}) {
      auto d = digest_of(part->data(), part->size() * sizeof(float));
      all.append(reinterpret_cast<const char*>(d.bytes.data()), d.size);
    }
    return digest_of(all.data(), all.size());
  }
};

using rule_numbers = std::map<std::string, double>;

inline std::map<std::string, std::string> as_text(const rule_numbers& numbers) {
  std::map<std::string, std::string> result;
  for (const auto& [name, x] : numbers)
    result[name] = name != "nesterov" ? print_real(x) : x > 0 ? "yes" : "no";
  return result;
}

/// With the rule's usual numbers, but for `numbers`.
inline optimizer optimizer_of(const std::string& name,
                              const model_layout& layout,
                              optimizer::options how = {1.0, 1, {}},
                              const rule_numbers& numbers = {}) {
  return {unwrap(make_rule(name, as_text(numbers))), layout, std::move(how)};
}

/// The state after some updates by random gradients, at 0.002, 0.004, ...
inline vectors after(const std::string& name, std::uint64_t steps,
                     unsigned threads, const rule_numbers& numbers = {}) {
  const auto layout = odd_layout();
  vectors state(layout.values(), 7);
  auto rule = optimizer_of(name, layout, {1.0, threads, {}}, numbers);
  for (std::uint64_t step = 1; step <= steps; ++step) {
    state.draw_gradient(step);
    const auto rate = 0.01 * static_cast<double>(step) / 5;
    REQUIRE(rule.apply(state.all(), state.gradient.data(), step, rate)
            == optimizer::verdict::applied);
  }
  return state;
}

} // namespace potluck::test
