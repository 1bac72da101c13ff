#include "runtime/state/mean_journal.hpp"

#include <algorithm>
#include <stdexcept>

namespace potluck {

namespace {

std::uint64_t bytes_of(const passed_mean& x) {
  return sizeof(float) * x.values->size();
}

} // namespace

mean_journal::mean_journal(bounds most) : most_(most) {
}

void mean_journal::add(passed_mean mean) {
  if (!mean.values)
    throw std::invalid_argument("mean_journal: a mean without values");
  if (!means_.empty()) {
    auto& last = means_.back().mean;
    if (mean.step != last.step + 1 || mean.before != last.after) {
      means_.clear();
      bytes_ = 0;
    }
  }
  bytes_ += bytes_of(mean);
  means_.push_back({std::move(mean), std::nullopt});
  shrink();
}

void mean_journal::back_to(std::uint64_t step, const digest& state) {
  while (!means_.empty()) {
    const auto& last = means_.back().mean;
    if (last.step < step || (last.step == step && last.after == state))
      return;
    bytes_ -= bytes_of(last);
    means_.pop_back();
  }
}

void mean_journal::keep_after(std::optional<std::uint64_t> step) {
  needed_after_ = step;
  shrink();
}

bool mean_journal::is_kept(const passed_mean& oldest) const {
  if (means_.size() == 1 && !oldest.lone)
    return true;
  // However large a model is, as many as whoever fetches its state can miss.
  const auto most = std::max(most_.bytes,
                             (limits::means_of_a_state + 1) * bytes_of(oldest));
  if (bytes_ > most || means_.size() > most_.means)
    return false;
  if (needed_after_ && oldest.step > *needed_after_)
    return true;
  return means_.size() <= most_.idle_means && bytes_ <= most_.idle_bytes;
}

void mean_journal::shrink() {
  while (!means_.empty() && !is_kept(means_.front().mean)) {
    bytes_ -= bytes_of(means_.front().mean);
    means_.pop_front();
  }
}

const passed_mean* mean_journal::completing(std::uint64_t step) const {
  if (means_.empty() || step < means_.front().mean.step
      || step > means_.back().mean.step)
    return nullptr;
  return &means_[step - means_.front().mean.step].mean;
}

const passed_mean* mean_journal::leading_to(const digest& state) const {
  for (auto& x : means_)
    if (x.mean.after == state)
      return &x.mean;
  return nullptr;
}

const state_manifest& mean_journal::manifest(std::uint64_t step) {
  if (!completing(step))
    throw std::out_of_range("mean_journal: that step is not here");
  auto& x = means_[step - means_.front().mean.step];
  if (!x.listed)
    x.listed = manifest_of(x.mean);
  return *x.listed;
}

} // namespace potluck
