#include "models/moe/decentralized_moe.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "messages/limits.hpp"
#include "models/moe/expert_function.hpp"
#include "runtime/experts/beam_search.hpp"
#include "runtime/experts/expert_calls.hpp"
#include "runtime/experts/expert_uid.hpp"
#include "runtime/vector_loops.hpp"

namespace potluck {

namespace {

void must(bool holds, const std::string& sentence) {
  if (!holds)
    throw std::invalid_argument(sentence);
}

/// `outputs`, or `inputs` where it is zero.
std::int64_t checked_outputs(std::int64_t inputs, std::int64_t outputs,
                             std::chrono::milliseconds patience) {
  must(inputs > 0 && outputs >= 0
           && inputs + std::max(inputs, outputs) <= max_sample_values,
       "A sample of an expert needs at least one value, and inputs and "
       "outputs together must fit one frame of 16 MiB.");
  must(patience.count() > 0 && patience.count() <= max_patience_ms,
       "The patience with experts must be between 1 ms and an hour.");
  return outputs > 0 ? outputs : inputs;
}

/// The values of a sample's output.
std::int64_t check(const moe_options& x) {
  must(x.k > 0 && x.k_min > 0 && x.k_min <= x.k,
       "A mixture of experts needs 1 <= k_min <= k.");
  must(x.k <= product_key{x.grid}.experts(),
       "A mixture of experts wants more experts than its grid has: lower k.");
  auto first = expert_uid{x.layer, std::vector<std::uint32_t>(x.grid.size())};
  auto uid = parse_expert_uid(to_string(first));
  if (!uid)
    must(false, uid.error());
  must(x.timeout_after_k_min.count() >= 0,
       "timeout_after_k_min must not be negative.");
  must(x.known != nullptr,
       "A mixture of experts needs a memory: leave `known` alone.");
  return checked_outputs(x.inputs, x.outputs, x.patience);
}

void check_gating(const moe_options& x, const std::vector<at::Tensor>& gating) {
  auto right = gating.size() == 2 * x.grid.size();
  for (std::size_t i = 0; right && i < x.grid.size(); ++i) {
    std::vector<std::int64_t> weight{x.grid[i], x.inputs};
    std::vector<std::int64_t> bias{x.grid[i]};
    right = gating[2 * i].sizes() == weight && gating[2 * i + 1].sizes() == bias
            && gating[2 * i].scalar_type() == at::kFloat
            && gating[2 * i + 1].scalar_type() == at::kFloat;
  }
  must(right, "The gating of layer " + x.layer
                  + " needs a float32 weight [grid[i], inputs] and bias "
                    "[grid[i]] for each dimension.");
}

/// What the search found, as tensors and as a plan of calls.
struct selection {
  std::shared_ptr<moe::expert_plan> plan;
  at::Tensor columns; ///< [samples, k * dimensions] int64, into the scores.
};

selection select(const beam_search& search, const moe_options& options,
                 std::int64_t samples) {
  const auto& grid = search.grid();
  selection x;
  x.plan = std::make_shared<moe::expert_plan>();
  x.plan->rules.slots = options.k;
  auto width = static_cast<std::int64_t>(options.k * grid.dimensions());
  x.columns = at::zeros({samples, width}, at::kLong);
  auto* columns = x.columns.data_ptr<std::int64_t>();
  seating seats{options.layer};
  for (std::int64_t i = 0; i < samples; ++i, columns += width) {
    auto best = search.best(static_cast<std::size_t>(i));
    if (best.size() < options.k_min)
      continue; // Lost already.
    for (std::size_t slot = 0; slot < best.size(); ++slot) {
      const auto& place = best[slot].place;
      for (std::size_t d = 0; d < place.size(); ++d)
        columns[slot * place.size() + d]
            = static_cast<std::int64_t>(grid.offset(d) + place[d]);
      seats.add(place, {static_cast<std::uint32_t>(i),
                        static_cast<std::uint32_t>(slot)});
    }
  }
  x.plan->groups = seats.groups();
  return x;
}

/// See moe_output::balance_loss. `scores` is [samples, all coordinates].
at::Tensor balance(const beam_search& search, const at::Tensor& scores) {
  const auto& grid = search.grid();
  auto samples = scores.size(0);
  std::vector<std::vector<float>> calls;
  for (std::size_t d = 0; d < grid.dimensions(); ++d)
    calls.emplace_back(grid.size(d));
  float all = 0;
  for (std::int64_t i = 0; i < samples; ++i)
    for (const auto& choice : search.best(static_cast<std::size_t>(i))) {
      for (std::size_t d = 0; d < choice.place.size(); ++d)
        ++calls[d][choice.place[d]];
      ++all;
    }
  auto sum = at::zeros({}, scores.options());
  if (all == 0)
    return sum;
  for (std::size_t d = 0; d < grid.dimensions(); ++d) {
    std::vector<std::int64_t> living;
    std::vector<float> shares;
    for (auto x : search.alive(d)) {
      living.push_back(static_cast<std::int64_t>(grid.offset(d) + x));
      shares.push_back(calls[d][x] / all);
    }
    auto columns = at::tensor(living, at::kLong).to(scores.device());
    auto share = at::tensor(shares, at::kFloat).to(scores.device());
    auto chance = at::softmax(scores.index_select(1, columns), 1).mean(0);
    sum = sum + (chance * share).sum() * static_cast<double>(living.size());
  }
  return sum / static_cast<double>(grid.dimensions());
}

moe_output mix(const moe_options& options,
               std::shared_ptr<expert_network> network,
               const std::vector<at::Tensor>& gating, const at::Tensor& input) {
  auto outputs = check(options);
  check_gating(options, gating);
  moe::check_input("Layer " + options.layer, input, options.inputs);
  auto x = input.reshape({-1, options.inputs});
  auto samples = x.size(0);

  std::vector<at::Tensor> columns;
  for (std::size_t i = 0; i < gating.size(); i += 2)
    columns.push_back(at::linear(x, gating[i], gating[i + 1]));
  auto scores = at::cat(columns, 1);
  auto plain = scores.detach().to(at::kCPU).contiguous();
  const auto* first = plain.data_ptr<float>();
  std::vector<float> flat(first, first + plain.numel());
  must(all_finite(flat.data(), flat.size()),
       "The scores of layer " + options.layer
           + " are not finite: its gating has grown too large.");

  beam_search search{{options.layer, options.grid, options.k, options.beam},
                     static_cast<std::size_t>(samples),
                     std::move(flat)};
  auto problem
      = find_experts(*network, search, *options.known, options.patience);
  auto chosen = select(search, options, samples);
  chosen.plan->network = std::move(network);
  auto& rules = chosen.plan->rules;
  rules.inputs = static_cast<std::uint32_t>(options.inputs);
  rules.outputs = static_cast<std::uint32_t>(outputs);
  rules.k_min = options.k_min;
  rules.timeout_after_k_min = options.timeout_after_k_min;
  rules.patience = options.patience;
  rules.packing = options.call_packing;
  chosen.plan->known = options.known;
  auto called = moe::call_experts(chosen.plan, x);

  auto enough = at::zeros({samples, 1}, at::kBool);
  std::copy(called.enough.begin(), called.enough.end(),
            enough.data_ptr<bool>());
  auto lost = std::count(called.enough.begin(), called.enough.end(), false);
  if (lost > 0 && (lost == samples || !options.zero_when_too_few))
    throw too_few_experts(
        "Layer " + options.layer + ": " + std::to_string(lost) + " of "
        + std::to_string(samples) + " samples had answers of fewer than "
        + std::to_string(options.k_min) + " experts. "
        + (!called.problem.empty()   ? called.problem
           : !problem.empty()        ? problem
           : search.alive(0).empty() ? "Nobody announces one."
                                     : "Too few are announced."));

  // The softmax over those that answered; zero where nobody counts.
  auto counts = (called.answered & enough).to(x.device());
  auto dimensions = static_cast<std::int64_t>(options.grid.size());
  auto score = scores.gather(1, chosen.columns.to(x.device()))
                   .view({samples, options.k, dimensions})
                   .sum(2)
                   .masked_fill(~counts, -1e30);
  auto weights = at::softmax(score, 1) * counts;
  auto mixed = at::bmm(weights.unsqueeze(1), called.values).squeeze(1);
  auto shape = input.sizes().vec();
  shape.back() = outputs;
  return {mixed.view(shape), balance(search, scores)};
}

} // namespace

moe_output mix_experts(const moe_options& options, expert_network& network,
                       const std::vector<at::Tensor>& gating,
                       const at::Tensor& input) {
  // Not ours: the caller keeps it.
  return mix(options, {std::shared_ptr<void>{}, &network}, gating, input);
}

// ---- modules ---------------------------------------------------------------

decentralized_moeImpl::decentralized_moeImpl(
    moe_options options, std::shared_ptr<expert_network> network)
    : options_(std::move(options)), network_(std::move(network)) {
  options_.outputs = check(options_);
  must(network_ != nullptr, "A layer of experts needs a network to call them.");
  reset();
}

void decentralized_moeImpl::reset() {
  gating_.clear();
  auto bound = 1 / std::sqrt(static_cast<double>(options_.inputs));
  for (std::size_t i = 0; i < options_.grid.size(); ++i) {
    auto add = [&](const std::string& name, std::vector<std::int64_t> shape) {
      gating_.push_back(
          register_parameter(name + std::to_string(i),
                             torch::empty(shape).uniform_(-bound, bound)));
    };
    add("weight", {options_.grid[i], options_.inputs});
    add("bias", {options_.grid[i]});
  }
}

torch::Tensor decentralized_moeImpl::forward(const torch::Tensor& input) {
  return mix(input).values;
}

moe_output decentralized_moeImpl::mix(const torch::Tensor& input) {
  return potluck::mix(options_, network_, gating_, input);
}

remote_expertImpl::remote_expertImpl(remote_expert_options options,
                                     std::shared_ptr<expert_network> network)
    : options_(std::move(options)), network_(std::move(network)) {
  auto uid = parse_expert_uid(options_.uid);
  if (!uid)
    must(false, uid.error());
  options_.outputs
      = checked_outputs(options_.inputs, options_.outputs, options_.patience);
  must(network_ != nullptr, "A remote expert needs a network to call it.");
}

torch::Tensor remote_expertImpl::forward(const torch::Tensor& input) {
  moe::check_input("Expert " + options_.uid, input, options_.inputs);
  auto x = input.reshape({-1, options_.inputs});
  auto plan = std::make_shared<moe::expert_plan>();
  plan->network = network_;
  plan->groups.push_back({options_.uid, {}});
  for (std::int64_t i = 0; i < x.size(0); ++i)
    plan->groups[0].seats.push_back({static_cast<std::uint32_t>(i), 0});
  plan->rules.inputs = static_cast<std::uint32_t>(options_.inputs);
  plan->rules.outputs = static_cast<std::uint32_t>(options_.outputs);
  plan->rules.timeout_after_k_min = options_.patience;
  plan->rules.patience = options_.patience;
  plan->rules.packing = options_.call_packing;
  plan->strict = true;
  auto called = moe::call_experts(plan, x);
  if (!called.problem.empty())
    throw std::runtime_error(called.problem);
  auto shape = input.sizes().vec();
  shape.back() = options_.outputs;
  return called.values.view(shape);
}

} // namespace potluck
