#include "tools/library/expert_desk.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "messages/limits.hpp"
#include "runtime/experts/beam_search.hpp"
#include "runtime/experts/expert_calls.hpp"
#include "runtime/experts/mixture_calls.hpp"
#include "runtime/vector_loops.hpp"
#include "tools/library/complaint.hpp"
#include "tools/library/potluck.h"

namespace potluck::library {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_samples = 1u << 20;
/// Who answers later than this behind a sample's first answer is left out.
constexpr auto grace = 1s;

void must_be_samples(std::size_t samples) {
  if (samples == 0 || samples > most_samples)
    throw complaint{"samples is " + std::to_string(samples)
                    + ", but must be 1 to " + std::to_string(most_samples)};
}

void must_be_finite(const std::string& what, const float* values,
                    std::size_t count, const std::string& mend) {
  if (!all_finite(values, count))
    throw complaint{what + " are not all finite; " + mend, POTLUCK_NOT_FINITE};
}

/// As calls take it.
std::chrono::milliseconds milliseconds_of(duration x) {
  return std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(x),
                    1ms, std::chrono::milliseconds{max_patience_ms});
}

complaint nobody(const expert_layer& layer, const std::string& why) {
  return complaint{"no expert of layer " + layer.name + " answers: "
                       + (why.empty() ? "Nobody announces one." : why),
                   POTLUCK_NO_EXPERTS};
}

} // namespace

struct expert_desk::pass {
  mixture_rules rules;
  std::vector<expert_group> groups;
};

expert_desk::expert_desk(std::shared_ptr<expert_network> network,
                         std::shared_ptr<expert_memory> known,
                         expert_layer layer, std::uint32_t width)
    : network_(std::move(network)), known_(std::move(known)),
      layer_(std::move(layer)), width_(width) {
}

int expert_desk::find(std::size_t samples, const float* scores, int* places,
                      unsigned char* alive, duration patience) const {
  must_be_samples(samples);
  const product_key grid{layer_.grid};
  must_be_finite("the scores of layer " + layer_.name, scores,
                 samples * grid.scores(), "its gating has grown too large");
  beam_search search{{layer_.name, layer_.grid, layer_.k},
                     samples,
                     {scores, scores + samples * grid.scores()}};
  const auto problem
      = find_experts(*network_, search, *known_, milliseconds_of(patience));
  const auto width = layer_.k * grid.dimensions();
  std::fill_n(places, samples * width, -1);
  bool any = false;
  for (std::size_t i = 0; i < samples; ++i) {
    auto* out = places + i * width;
    for (const auto& choice : search.best(i)) {
      out = std::copy(choice.place.begin(), choice.place.end(), out);
      any = true;
    }
  }
  if (alive) {
    std::fill_n(alive, grid.scores(), static_cast<unsigned char>(0));
    for (std::size_t d = 0; d < grid.dimensions(); ++d)
      for (auto x : search.alive(d))
        alive[grid.offset(d) + x] = 1;
  }
  if (!any)
    throw nobody(layer_, problem);
  return POTLUCK_OK;
}

expert_desk::pass expert_desk::prepare(std::size_t samples, const int* places,
                                       const float* inputs,
                                       const unsigned char* answered,
                                       duration patience) const {
  must_be_samples(samples);
  must_be_finite("the inputs of layer " + layer_.name, inputs, samples * width_,
                 "look at what computes them");
  const auto dimensions = layer_.grid.size();
  seating seats{layer_.name};
  std::vector<std::uint32_t> place(dimensions);
  for (std::size_t i = 0; i < samples * layer_.k; ++i) {
    const auto* at = places + i * dimensions;
    if (*at == -1 || (answered && answered[i] == 0))
      continue;
    for (std::size_t d = 0; d < dimensions; ++d) {
      if (at[d] < 0 || at[d] >= static_cast<std::int64_t>(layer_.grid[d]))
        throw complaint{"places names coordinate " + std::to_string(at[d])
                        + " of dimension " + std::to_string(d)
                        + ", but the grid has 0 to "
                        + std::to_string(layer_.grid[d] - 1)
                        + "; hand in what potluck_find_experts gave"};
      place[d] = static_cast<std::uint32_t>(at[d]);
    }
    seats.add(place, {static_cast<std::uint32_t>(i / layer_.k),
                      static_cast<std::uint32_t>(i % layer_.k)});
  }
  pass result;
  result.rules.slots = layer_.k;
  result.rules.inputs = result.rules.outputs = width_;
  result.rules.timeout_after_k_min = grace;
  result.rules.patience = milliseconds_of(patience);
  result.rules.packing = layer_.packing;
  result.groups = seats.groups();
  return result;
}

int expert_desk::forward(std::size_t samples, const int* places,
                         const float* inputs, float* outputs,
                         unsigned char* answered, duration patience) const {
  auto x = prepare(samples, places, inputs, nullptr, patience);
  std::fill_n(outputs, samples * layer_.k * width_, 0.0f);
  const auto done = forward_pass(
      {*network_, known_.get(), x.rules, std::move(x.groups), samples, inputs},
      outputs);
  std::copy(done.answered.begin(), done.answered.end(), answered);
  if (std::count(done.answered.begin(), done.answered.end(), true) == 0)
    throw nobody(layer_, done.problem);
  return POTLUCK_OK;
}

int expert_desk::backward(std::size_t samples, const int* places,
                          const float* inputs, const float* gradients,
                          float* input_gradients, unsigned char* answered,
                          duration patience) const {
  auto x = prepare(samples, places, inputs, answered, patience);
  must_be_finite("the gradients of layer " + layer_.name, gradients,
                 samples * layer_.k * width_,
                 "lower the learning rate, or leave this batch out");
  if (input_gradients)
    std::fill_n(input_gradients, samples * width_, 0.0f);
  const auto done = backward_pass(
      {*network_, known_.get(), x.rules, std::move(x.groups), samples, inputs},
      gradients, input_gradients);
  std::copy(done.answered.begin(), done.answered.end(), answered);
  return POTLUCK_OK;
}

} // namespace potluck::library
