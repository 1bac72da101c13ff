#include "tools/lab/sim/mean_watch.hpp"

#include <limits>

#include "messages/codec.hpp"
#include "runtime/packing/packing.hpp"
#include "runtime/planning/chunk_size.hpp"

namespace potluck::simulation {

namespace {

float first_value(packing how, const shared_bytes& body) {
  if (how == packing::float32) // Nearly always: no need to read all values.
    return *reinterpret_cast<const float*>(body.data);
  // Rounds cut the gradient as they like: the body says how long it is.
  std::size_t values = 0;
  for (auto step = std::size_t{1} << 31; step > 0; step /= 2)
    if (packed_bytes(how, values + step) <= body.size)
      values += step;
  std::vector<float> mean(values);
  if (values > 0 && unpack(how, body.data, body.size, mean.data(), values))
    return mean.front();
  return std::numeric_limits<float>::quiet_NaN();
}

} // namespace

std::uint32_t tally_distance(const run_settings& settings) {
  const auto least = least_chunk_values(settings.chunk_values);
  return least % least_chunk_step == 0 ? least_chunk_step : least;
}

mean_watch::mean_watch(const run_settings& settings, std::size_t values)
    : shortest_chunk_{least_chunk_values(settings.chunk_values)},
      values_{values}, redrawn_{settings.redraws_groups()} {
}

bool mean_watch::has_tally(const chunk_mean& x, std::size_t bytes) const {
  if (!redrawn_)
    return true;
  // Of a shorter one, the last, nobody here knows where it begins.
  const auto length = bytes / sizeof(float);
  return length % shortest_chunk_ == 0 && x.chunk * length < values_;
}

std::optional<float> mean_watch::tally_of(const outgoing_frame& x) const {
  if (x.body.size < sizeof(float))
    return std::nullopt;
  auto content = decode(x.head.data(), x.head.size(), x.body.size);
  auto mean = content ? std::get_if<chunk_mean>(&*content) : nullptr;
  if (!mean || !has_tally(*mean, x.body.size))
    return std::nullopt;
  return first_value(mean->packing, x.body);
}

} // namespace potluck::simulation
