#include "tools/lab/bench/packing_trials.hpp"

#include <stdexcept>

#include "runtime/averaging/chunk_map.hpp"
#include "runtime/optimizer/lamb.hpp"
#include "runtime/random.hpp"
#include "runtime/state/training_state.hpp"
#include "runtime/vector_loops.hpp"

namespace potluck::bench {

namespace {

using values = std::vector<float>;

/// One group whose members are all here.
class exchange {
public:
  exchange(packing what, const run_settings& settings, std::size_t length,
           std::uint32_t members)
      : what_{what}, map_{length, settings.chunk_values,
                          equal_shares(
                              count_chunks(length, settings.chunk_values),
                              members)} {
  }

  /// @param gradients Of the members: sums over `samples` samples in all.
  values mean_of(std::vector<values> gradients, std::uint64_t samples) {
    values mean(gradients.front().size(), 0.0f);
    for (std::size_t member = 0; member < gradients.size(); ++member)
      add_part(mean, member, gradients[member]);
    scale(mean.data(), mean.size(),
          static_cast<float>(1.0 / static_cast<double>(samples)));
    for (std::uint32_t chunk = 0; chunk < map_.chunk_count(); ++chunk) {
      auto at = map_.range(chunk);
      mean_bytes_ += static_cast<double>(gradients.size() - 1)
                     * there_and_back(what_, mean.data() + at.offset, at.count);
    }
    return mean;
  }

  /// What all members have sent.
  double part_bytes() const {
    return part_bytes_;
  }
  double mean_bytes() const {
    return mean_bytes_;
  }

private:
  static std::vector<std::uint32_t> equal_shares(std::uint32_t chunks,
                                                 std::uint32_t members) {
    std::vector<std::uint32_t> result;
    for (std::uint32_t i = 0; i < members; ++i)
      result.push_back(chunks * (i + 1) / members - chunks * i / members);
    return result;
  }

  /// Makes the values what others unpack. @returns The bytes.
  static double there_and_back(packing how, float* x, std::size_t count) {
    if (!all_finite(x, count))
      throw std::runtime_error{"The network has diverged."};
    return static_cast<double>(pack_and_round(how, x, count, x).size);
  }

  /// @param part The member's gradient; afterwards, what others unpack of it.
  void add_part(values& sum, std::size_t member, values& part) {
    for (std::uint32_t chunk = 0; chunk < map_.chunk_count(); ++chunk) {
      auto at = map_.range(chunk);
      if (map_.owner(chunk) != member)
        part_bytes_ += there_and_back(what_, part.data() + at.offset, at.count);
    }
    add_to(sum.data(), part.data(), sum.size());
  }

  packing what_;
  chunk_map map_;
  double part_bytes_ = 0;
  double mean_bytes_ = 0;
};

} // namespace

packed_learning_curve learn_packed(trainer& model, const run_settings& settings,
                                   packing what,
                                   const packed_learning_options& how) {
  const auto length = model.layout().values();
  auto state = initial_state(model.layout(), settings.seed);
  const optimizer lamb{settings};
  exchange group{what, settings, length, how.members};
  const std::atomic<bool> never{false};
  packed_learning_curve curve;
  double loss = 0;
  std::uint64_t samples_seen = 0;
  for (std::uint64_t step = 1; step <= settings.steps; ++step) {
    std::vector<values> gradients(how.members, values(length, 0.0f));
    std::uint64_t samples = 0;
    for (std::uint32_t i = 0; i < how.members; ++i) {
      // Whoever is first takes what is left over.
      auto share = static_cast<std::uint32_t>(
          settings.target_batch * (i + 1) / how.members
          - settings.target_batch * i / how.members);
      auto done = model.accumulate(
          {mix(settings.seed, i), step * share, share, 1},
          state.parameters.data(), gradients[i].data(), never);
      samples += done.samples;
      loss += done.loss_sum;
    }
    samples_seen += samples;
    auto mean = group.mean_of(std::move(gradients), samples);
    if (lamb.apply(model.layout(), state.parameters.data(),
                   state.first_moment.data(), state.second_moment.data(),
                   mean.data(), step)
        != optimizer::verdict::applied)
      throw std::runtime_error{"The network has diverged."};
    if (step % how.look_every == 0 || step == settings.steps) {
      curve.points.push_back({step, loss / static_cast<double>(samples_seen)});
      loss = 0;
      samples_seen = 0;
    }
  }
  curve.end
      = model.evaluate(state.parameters.data(), ~settings.seed, how.look_at);
  const auto shares
      = static_cast<double>(settings.steps) * static_cast<double>(how.members);
  curve.part_bytes = group.part_bytes() / shares;
  curve.mean_bytes = group.mean_bytes() / shares;
  return curve;
}

} // namespace potluck::bench
