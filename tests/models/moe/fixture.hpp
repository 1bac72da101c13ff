/// LibTorch and doctest in one file: LibTorch's log library takes CHECK and its
/// kin for itself, so doctest must come last and take them back.
#pragma once

#include "models/moe/decentralized_moe.hpp"

#include "tests/support/memory_experts.hpp"

#undef CHECK
#undef CHECK_EQ
#undef CHECK_NE
#undef CHECK_LT
#undef CHECK_LE
#undef CHECK_GT
#undef CHECK_GE

#include <doctest/doctest.h>

namespace potluck::test {

using support::memory_experts;
using fault = memory_experts::fault;

/// All uids of a grid, of layer "x".
inline std::set<std::string> uids_of(const std::vector<std::uint32_t>& grid) {
  std::vector<std::string> stems{"x"};
  for (auto size : grid) {
    std::vector<std::string> longer;
    for (const auto& stem : stems)
      for (std::uint32_t i = 0; i < size; ++i)
        longer.push_back(stem + "." + std::to_string(i));
    stems = longer;
  }
  return {stems.begin(), stems.end()};
}

/// A layer of three inputs, two outputs and a grid of 3x3 over a network within
/// memory, with a gating drawn from the seed.
struct lab {
  explicit lab(std::uint64_t seed, memory_experts::settings how = {}) {
    how.inputs = 3;
    how.outputs = 2;
    how.seed = seed;
    options.layer = "x";
    options.grid = {3, 3};
    options.inputs = 3;
    options.outputs = 2;
    options.k = 4;
    options.timeout_after_k_min = std::chrono::seconds{20};
    network = std::make_shared<memory_experts>(how, uids_of(options.grid));
    torch::manual_seed(seed);
    for (auto size : options.grid) {
      gating.push_back(torch::randn({size, 3}).set_requires_grad(true));
      gating.push_back(torch::randn({size}).set_requires_grad(true));
    }
  }

  /// Nobody is left alone because of calls before, unless `remembers`.
  moe_output mix(const at::Tensor& x) {
    if (!remembers)
      options.known = std::make_shared<expert_memory>();
    return mix_experts(options, *network, gating, x);
  }

  /// Those of the set fail in the given pass.
  void fail(std::set<std::string> uids, expert_pass pass,
            fault what = {fault::kind::fails, {}}) {
    network->set_faults([=](const expert_call& x) {
      return x.pass == pass && uids.count(x.uid) > 0 ? what : fault{};
    });
  }

  /// What one expert answers, without a graph.
  at::Tensor ask(const std::string& uid, const at::Tensor& x) {
    torch::NoGradGuard none;
    remote_expert expert{remote_expert_options{uid, 3, 2}, network};
    return expert(x);
  }

  moe_options options;
  bool remembers = false;
  std::shared_ptr<memory_experts> network;
  std::vector<at::Tensor> gating;
};

inline bool near(const at::Tensor& a, const at::Tensor& b, double by = 1e-5) {
  return a.sizes() == b.sizes() && at::allclose(a, b, by, by);
}

} // namespace potluck::test
