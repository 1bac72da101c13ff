/// A training loop over the C interface and nothing else of ours: a point has
/// to find the mean of others.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tools/library/potluck.h"

namespace potluck::library_test {

using options = std::vector<std::pair<std::string, std::string>>;

/// A handle, freed in the end.
class loop {
public:
  static constexpr unsigned long batch = 8;

  /// @param start Of all parameters: six of `weight`, two of `bias`.
  explicit loop(float start, const options& more = {})
      : weight_(6, start), bias_(2, start) {
    REQUIRE(run != 0);
    for (auto& [name, value] : options{{"identity-dir", "none"},
                                       {"listen", "127.0.0.1:0"},
                                       {"port-mapping", "no"},
                                       {"target-batch", "16"},
                                       {"learning-rate", "0.1"}})
      set(name, value);
    for (auto& [name, value] : more)
      set(name, value);
  }
  ~loop() {
    potluck_free(run);
  }
  loop(const loop&) = delete;
  loop& operator=(const loop&) = delete;

  void set(const std::string& name, const std::string& value) {
    INFO(name, "=", value, ": ", error());
    REQUIRE(potluck_set(run, name.c_str(), value.c_str()) == POTLUCK_OK);
  }
  void declare() {
    const long shape[] = {2, 3};
    REQUIRE(
        potluck_tensor(run, "weight", shape, 2, POTLUCK_DECAYS, weight_.data())
        == POTLUCK_OK);
    REQUIRE(potluck_tensor(run, "bias", shape, 1, POTLUCK_FIXED, bias_.data())
            == POTLUCK_OK);
  }
  void open() {
    declare();
    const auto result = potluck_open(run);
    INFO(error());
    REQUIRE(result == POTLUCK_OK);
  }

  std::string error() const {
    return potluck_error(run);
  }
  std::string get(const std::string& name) const {
    char text[4096] = "";
    potluck_get(run, name.c_str(), text, sizeof(text));
    return text;
  }
  /// Where it listens, once it does.
  std::string address() const {
    for (int i = 0; i < 600 && get("address").empty(); ++i) {
      char event[4096];
      potluck_event(run, event, sizeof(event), 0.1);
    }
    return get("address");
  }
  std::string digest() const {
    char text[33] = "";
    potluck_digest(run, text);
    return text;
  }
  struct potluck_status status() const {
    struct potluck_status x = {};
    x.size = sizeof(x);
    REQUIRE(potluck_status(run, &x) == POTLUCK_OK);
    return x;
  }

  /// Waits until it knows of so many peers; for a minute.
  void await_peers(unsigned long count) const {
    for (int i = 0; i < 600 && status().peers < count; ++i) {
      char event[4096];
      potluck_event(run, event, sizeof(event), 0.1);
    }
    REQUIRE(status().peers >= count);
  }

  /// Waits until it is said how to go on; fails after a minute.
  int take() {
    float* tensors[] = {weight_.data(), bias_.data()};
    for (int i = 0; i < 60; ++i)
      if (auto outcome = potluck_take(run, tensors, 1.0);
          outcome != POTLUCK_TIMEOUT)
        return outcome;
    return POTLUCK_TIMEOUT;
  }
  int add(float goal, double loss = 1) {
    std::vector<float> weight, bias;
    for (auto x : weight_)
      weight.push_back(x - goal);
    for (auto x : bias_)
      bias.push_back(x - goal);
    const float* gradients[] = {weight.data(), bias.data()};
    for (int i = 0; i < 60; ++i)
      if (auto outcome = potluck_add(run, gradients, batch, loss, 1.0);
          outcome != POTLUCK_TIMEOUT)
        return outcome;
    return POTLUCK_TIMEOUT;
  }
  /// To the run's end. @return What ended it.
  int train(float goal) {
    auto outcome = take();
    while (outcome == POTLUCK_OK || outcome == POTLUCK_SAME) {
      outcome = add(goal);
      if (outcome == POTLUCK_OK || outcome == POTLUCK_OVER)
        outcome = take();
    }
    return outcome;
  }

  const potluck_run run = potluck_new();

  const std::vector<float>& weight() const {
    return weight_;
  }

private:
  std::vector<float> weight_;
  std::vector<float> bias_;
};

} // namespace potluck::library_test
