#include "models/model_memory.hpp"

#include <algorithm>
#include <thread>

#include <c10/core/Event.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace potluck {

namespace {

/// Values that are copied at once: one piece is on its way between the memories
/// while the processor works on another.
constexpr std::int64_t piece = 4 << 20;

/// `each(begin, values)` for all pieces.
template <class F>
void in_pieces(std::int64_t values, F each) {
  for (std::int64_t begin = 0; begin < values; begin += piece)
    each(begin, std::min(piece, values - begin));
}

} // namespace

std::vector<at::Tensor> split(const model_layout& layout,
                              const at::Tensor& flat) {
  std::vector<at::Tensor> result;
  for (const auto& entry : layout.entries())
    result.push_back(flat.narrow(0, static_cast<std::int64_t>(entry.offset),
                                 static_cast<std::int64_t>(entry.values))
                         .view(entry.shape)
                         .detach());
  return result;
}

at::Tensor flat_view(const float* values, std::uint64_t count) {
  // LibTorch knows no constant tensors.
  return at::from_blob(const_cast<float*>(values),
                       {static_cast<std::int64_t>(count)}, at::kFloat);
}

std::uint64_t model_memory::bytes(const model_layout& layout, precision how) {
  return layout.values()
         * (2 * sizeof(float) + (how == precision::float32 ? 0 : 2));
}

model_memory::model_memory(const model_layout& layout, at::Device device,
                           precision how)
    : device_(device) {
  const auto options = at::TensorOptions(device).dtype(at::kFloat);
  const auto values = static_cast<std::int64_t>(layout.values());
  flat_ = at::empty({values}, options);
  parts_ = split(layout, flat_);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto& part = parts_[i];
    // Autocast wants the vectors of its norms in float32.
    const bool as_it_is = part.dim() < 2 || layout.entries()[i].buffer
                          || how == precision::float32;
    tensors_.push_back(as_it_is ? part.detach()
                                : at::empty_like(part, type_of(how)));
    tensors_.back().requires_grad_(true);
  }
  sum_ = at::zeros({values}, options);
  sums_ = split(layout, sum_);
}

at::Tensor& model_memory::staging() {
  if (!staging_.defined())
    staging_ = at::empty(
        {flat_.numel()},
        at::TensorOptions(at::kCPU).dtype(at::kFloat).pinned_memory(true));
  return staging_;
}

void model_memory::set_parameters(const float* values, const digest& state) {
  if (!state.empty() && state == state_)
    return;
  state_ = {};
  const c10::NoGradGuard no_recording;
  const auto from
      = flat_view(values, static_cast<std::uint64_t>(flat_.numel()));
  if (device_.is_cpu())
    flat_.copy_(from);
  else
    in_pieces(flat_.numel(), [&](std::int64_t begin, std::int64_t count) {
      const auto staged = staging().narrow(0, begin, count);
      staged.copy_(from.narrow(0, begin, count));
      flat_.narrow(0, begin, count).copy_(staged, /*non_blocking=*/true);
    });
  for (std::size_t i = 0; i < parts_.size(); ++i)
    if (tensors_[i].data_ptr() != parts_[i].data_ptr())
      tensors_[i].copy_(parts_[i]);
  state_ = state;
}

void model_memory::add(const std::vector<at::Tensor>& gradient, double factor) {
  const c10::NoGradGuard no_recording;
  std::vector<at::Tensor> to, from;
  for (std::size_t i = 0; i < gradient.size(); ++i)
    if (gradient[i].defined()) {
      to.push_back(sums_[i]);
      from.push_back(gradient[i]);
    }
  empty_ = false;
  at::_foreach_add_(to, from, factor);
}

void model_memory::collect(float* gradient) {
  if (empty_)
    return;
  const c10::NoGradGuard no_recording;
  const auto into
      = flat_view(gradient, static_cast<std::uint64_t>(sum_.numel()));
  if (device_.is_cpu()) {
    into.add_(sum_);
    drop();
    return;
  }
  const auto stream
      = c10::impl::VirtualGuardImpl(device_.type()).getStream(device_);
  std::vector<c10::Event> arrived;
  in_pieces(sum_.numel(), [&](std::int64_t begin, std::int64_t count) {
    staging()
        .narrow(0, begin, count)
        .copy_(sum_.narrow(0, begin, count), /*non_blocking=*/true);
    arrived.emplace_back(device_.type());
    arrived.back().record(stream);
  });
  in_pieces(sum_.numel(), [&](std::int64_t begin, std::int64_t count) {
    while (!arrived[static_cast<std::size_t>(begin / piece)].query())
      std::this_thread::yield();
    into.narrow(0, begin, count).add_(staging().narrow(0, begin, count));
  });
  drop();
}

void model_memory::drop() {
  if (empty_)
    return;
  const c10::NoGradGuard no_recording;
  sum_.zero_();
  empty_ = true;
}

} // namespace potluck
