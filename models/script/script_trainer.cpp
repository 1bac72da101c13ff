#include "models/script/script_trainer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <stdexcept>

#include "models/script/script_batch.hpp"
#include "runtime/random.hpp"
#include "runtime/vector_loops.hpp"

namespace potluck {

namespace {

/// So many micro-batches in a row without a finite loss are no accident.
constexpr std::uint32_t most_left_out = 8;

std::string blamed(const std::string& what) {
  return "The run's script " + what
         + "; do not join this run, or have its founder mend the module.";
}

script_program opened(const std::string& file,
                      const std::vector<std::string>& inputs,
                      const model_layout& layout, const script_terms& how) {
  if (file.empty())
    throw std::runtime_error("The run's charter holds no script.");
  auto result = script_program::open(file, inputs, layout, how);
  if (!result)
    throw std::runtime_error(blamed(result.error()));
  return std::move(*result);
}

} // namespace

script_trainer::script_trainer(const std::string& file,
                               std::vector<std::string> inputs,
                               model_layout layout,
                               std::unique_ptr<sample_source> samples,
                               script_computing options)
    : inputs_(std::move(inputs)), layout_(std::move(layout)),
      samples_(std::move(samples)), options_(std::move(options)),
      program_(opened(file, inputs_, layout_, options_.terms)) {
  if (options_.micro_batch == 0)
    options_.micro_batch
        = static_cast<std::uint32_t>(samples_->usual_micro_batch(at::kCPU));
}

std::uint32_t script_trainer::usual_request() const {
  return std::max(trainer::usual_request(), options_.micro_batch);
}

void script_trainer::set_parameters(const float* values, const digest& state) {
  if (!state.empty() && state == state_)
    return;
  std::copy_n(values, layout_.values(), program_.parameters());
  state_ = state;
}

std::string script_trainer::encode(const labelled_batch& batch,
                                   std::uint64_t samples) const {
  std::string result;
  for (const auto& x : inputs_of(inputs_, batch, samples)) {
    append_tensor_head(result,
                       x.scalar_type() == at::kLong
                           ? scripting::element::int64
                           : scripting::element::float32,
                       x.sizes().vec());
    result.append(static_cast<const char*>(x.data_ptr()), x.nbytes());
  }
  return result;
}

script_outcome script_trainer::pass(scripting::pass_kind kind,
                                    std::uint64_t order_seed,
                                    std::uint64_t first, std::uint64_t stride,
                                    std::uint64_t count,
                                    const std::atomic<bool>& cancelled) {
  const auto part = kind == scripting::pass_kind::training
                        ? sample_part::training
                        : sample_part::evaluation;
  const auto batch
      = samples_->gather(part, order_seed, first, stride, count, at::kCPU);
  const auto result = program_.pass({kind, mix(order_seed, first), count},
                                    encode(batch, count), cancelled);
  if (!result && !cancelled)
    throw std::runtime_error(blamed(result.error()));
  return result ? *result : script_outcome{};
}

void script_trainer::leave_out(std::uint64_t first, double loss) {
  const auto what = "gives the loss " + std::to_string(loss)
                    + " for the samples from " + std::to_string(first) + " on";
  if (++left_out_ == most_left_out)
    throw std::runtime_error(blamed(what + ", as for all before them"));
  if (options_.notice)
    options_.notice("The run's script " + what + ": these are left out.");
}

batch_result script_trainer::accumulate(const batch_request& request,
                                        const float* parameters, float*,
                                        const std::atomic<bool>& cancelled) {
  std::lock_guard<std::mutex> alone{busy_};
  set_parameters(parameters, request.state);
  batch_result result;
  for (std::uint32_t done = 0; done < request.samples && !cancelled;) {
    const auto count = std::min(options_.micro_batch, request.samples - done);
    const auto first
        = request.first_sample + std::uint64_t{done} * request.stride;
    const auto got = pass(scripting::pass_kind::training, request.order_seed,
                          first, request.stride, count, cancelled);
    done += count;
    if (cancelled)
      break;
    if (!std::isfinite(got.loss)) {
      leave_out(first, got.loss);
      continue;
    }
    left_out_ = 0;
    result.samples += count;
    result.loss_sum += got.loss * count;
  }
  return result;
}

void script_trainer::collect(float* gradient) {
  std::lock_guard<std::mutex> alone{busy_};
  auto* sum = program_.gradient();
  for (const auto& x : layout_.entries())
    if (!all_finite(sum + x.offset, x.values))
      throw std::runtime_error(
          blamed("gives a gradient of " + x.name + " that is not finite"));
  add_to(gradient, sum, layout_.values());
  std::fill_n(sum, layout_.values(), 0.0f);
}

void script_trainer::drop() {
  std::lock_guard<std::mutex> alone{busy_};
  std::fill_n(program_.gradient(), layout_.values(), 0.0f);
}

evaluation script_trainer::evaluate(const float* parameters,
                                    std::uint64_t order_seed,
                                    std::uint64_t samples) {
  std::lock_guard<std::mutex> alone{busy_};
  set_parameters(parameters, {});
  const std::atomic<bool> never{false};
  evaluation result;
  struct mean {
    double sum = 0;
    double samples = 0;
  };
  std::map<std::string, mean> metrics;
  while (result.samples < samples) {
    const auto count = std::min<std::uint64_t>(options_.micro_batch,
                                               samples - result.samples);
    const auto got = pass(scripting::pass_kind::evaluation, order_seed,
                          result.samples, 1, count, never);
    result.loss += got.loss * static_cast<double>(count);
    for (const auto& [name, value] : got.metrics) {
      metrics[name].sum += value * static_cast<double>(count);
      metrics[name].samples += static_cast<double>(count);
    }
    result.samples += count;
  }
  if (samples > 0)
    result.loss /= static_cast<double>(samples);
  for (const auto& [name, of] : metrics)
    result.metrics[name] = of.sum / of.samples;
  // Models of other kinds have it, too.
  if (const auto right = result.metrics.find("accuracy");
      right != result.metrics.end()) {
    result.accuracy = right->second;
    result.metrics.erase(right);
  }
  return result;
}

} // namespace potluck
