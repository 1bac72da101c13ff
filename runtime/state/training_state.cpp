#include "runtime/state/training_state.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "runtime/random.hpp"
#include "runtime/state/little_endian.hpp"
#include "runtime/state/state_digests.hpp"
#include "runtime/state/state_layout.hpp"

namespace potluck {

namespace {

constexpr char state_magic[] = "PLKSTATE";
constexpr std::size_t state_magic_bytes = 8;
constexpr std::uint32_t state_format = 1;

/// Twelve uniform numbers of 16 bits, summed as integers: exact.
double irwin_hall(random_stream& chance) {
  std::uint64_t sum = 0;
  for (int draw = 0; draw < 3; ++draw) {
    std::uint64_t x = chance.next();
    sum += (x & 0xffff) + (x >> 16 & 0xffff) + (x >> 32 & 0xffff) + (x >> 48);
  }
  return (static_cast<double>(sum) - 12 * 32767.5) * 0x1.0p-16;
}

void check_lengths(const training_state& state) {
  const auto fits = [&](const std::vector<float>& x) {
    return x.empty() || x.size() == state.parameters.size();
  };
  if (!fits(state.first_moment) || !fits(state.second_moment)
      || state.first_moment.size() < state.second_moment.size())
    throw std::logic_error("training_state: vectors of different lengths");
}

} // namespace

state_header write_state_header(const training_state& state) {
  state_header header{};
  std::copy_n(state_magic, state_magic_bytes, header.begin());
  put_little_endian(header.data() + 8, state_format);
  if (!state.parameters.empty())
    put_little_endian(header.data() + 12,
                      std::uint32_t{most_moments - state.moments()});
  put_little_endian(header.data() + 16, state.step);
  put_little_endian(header.data() + 24, state.history_samples);
  put_little_endian(header.data() + 32,
                    static_cast<std::uint64_t>(state.parameters.size()));
  return header;
}

expected<bool> read_state_header(const state_header& header,
                                 std::uint64_t values, training_state& state) {
  auto at = [&](std::size_t offset) {
    return get_little_endian<std::uint64_t>(header.data() + offset);
  };
  if (!std::equal(state_magic, state_magic + state_magic_bytes, header.begin()))
    return failure{"these bytes are no training state"};
  if (get_little_endian<std::uint32_t>(header.data() + 8) != state_format)
    return failure{"the training state is of another format; use the same "
                   "version of Potluck everywhere"};
  if (at(32) != values)
    return failure{"the training state has " + std::to_string(at(32))
                   + " parameters, but the model has "
                   + std::to_string(values)};
  const auto step = std::exchange(state.step, at(16));
  const auto samples = std::exchange(state.history_samples, at(24));
  // Only the canonical header has this digest; see charter::from_bytes.
  if (write_state_header(state) == header)
    return true;
  state.step = step;
  state.history_samples = samples;
  return failure{"the training state's header is malformed"};
}

std::optional<unsigned> moments_in(const state_header& header) {
  const auto without = get_little_endian<std::uint32_t>(header.data() + 12);
  if (without > most_moments)
    return std::nullopt;
  return most_moments - without;
}

void resize(training_state& state, std::uint64_t values, unsigned moments) {
  state.parameters.resize(values);
  state.first_moment.resize(moments > 0 ? values : 0);
  state.second_moment.resize(moments > 1 ? values : 0);
}

void set_moments(training_state& state, unsigned moments) {
  if (state.parameters.empty() || state.moments() == moments)
    return;
  resize(state, state.parameters.size(), moments);
  // What was dropped takes no memory.
  state.first_moment.shrink_to_fit();
  state.second_moment.shrink_to_fit();
  state.recent.clear();
  remember_digest(state);
}

training_state initial_state(const model_layout& layout, std::uint64_t seed,
                             unsigned moments) {
  training_state state;
  resize(state, layout.values(), moments);
  std::uint64_t tensor = 0;
  for (const auto& entry : layout.entries()) {
    random_stream chance(mix(seed, tensor++));
    float* values = state.parameters.data() + entry.offset;
    std::fill_n(values, entry.values, entry.initial_mean);
    if (entry.initial_deviation == 0)
      continue;
    const double mean = entry.initial_mean;
    const double deviation = entry.initial_deviation;
    for (std::uint64_t i = 0; i < entry.values; ++i)
      values[i] = static_cast<float>(mean + deviation * irwin_hall(chance));
  }
  remember_digest(state);
  return state;
}

digest digest_of_state(const training_state& state) {
  check_lengths(state);
  auto of = [](const std::vector<float>& x) {
    return x.empty() ? digest{} : digest_of(x.data(), x.size() * sizeof(float));
  };
  return digest_of_state(state, {of(state.parameters), of(state.first_moment),
                                 of(state.second_moment)});
}

digest digest_of_state(const training_state& state, const state_digests& of) {
  // A digest of digests, so that the vectors need not lie behind each other.
  const auto header = write_state_header(state);
  std::vector<digest> parts{digest_of(header.data(), header.size()),
                            of.parameters, of.first_moment, of.second_moment};
  parts.resize(2 + state.moments());
  return digest_of(parts);
}

namespace {

digest remember(training_state& state, const digest& result) {
  state.recent.insert(state.recent.begin(), result);
  if (state.recent.size() > max_recent_digests)
    state.recent.resize(max_recent_digests);
  return result;
}

} // namespace

digest remember_digest(training_state& state) {
  return remember(state, digest_of_state(state));
}

digest remember_digest(training_state& state, const state_digests& of) {
  return remember(state, digest_of_state(state, of));
}

std::uint64_t state_bytes(std::uint64_t values, unsigned moments) {
  return state_header_bytes + (1 + moments) * sizeof(float) * values;
}

std::uint64_t state_bytes(const training_state& state) {
  return state_bytes(state.parameters.size(), state.moments());
}

void read_state_bytes(const training_state& state, std::uint64_t offset,
                      std::uint8_t* out, std::size_t size) {
  check_lengths(state);
  auto header = write_state_header(state);
  auto regions = state_regions<const training_state, const std::uint8_t>(
      header.data(), state);
  auto all = state_bytes(state);
  if (offset > all || size > all - offset)
    throw std::out_of_range("read_state_bytes: behind the state's end");
  visit_bytes(regions, offset, size,
              [&](const std::uint8_t* bytes, std::size_t count) {
                std::memcpy(out, bytes, count);
                out += count;
              });
}

} // namespace potluck
