/// What the actors need of a model: a gradient for some samples.
///
/// Implemented in models/ with LibTorch; tests use a few lines of arithmetic.
/// The trainer holds no training state: parameters come in and gradients go out
/// as flat float32 vectors laid out by `layout()`. Initialization and the
/// optimizer are not its business: they must give the same bits everywhere.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "runtime/state/charter.hpp"
#include "runtime/state/model_layout.hpp"

namespace potluck {

/// Which samples to compute. Samples are numbered from 0 in an endless shuffled
/// stream that `order_seed` fixes: same seed and number, same sample, same
/// masked tokens, on every machine that holds the same data.
struct batch_request {
  std::uint64_t order_seed = 0;
  std::uint64_t first_sample = 0;
  std::uint32_t samples = 0;
  std::uint32_t stride = 1; ///< Takes first, first + stride, ...
  std::uint64_t step = 0;   ///< Of the parameters: updates behind them.
  digest state = {};        ///< Of the training state that they are in.
  /// Of a trainer that `begins_sums`: nothing has been added yet, and what is
  /// in `gradient` is anything.
  bool begins = false;
};

struct batch_result {
  /// Fewer than asked when `cancelled` became true, or when the model waited
  /// too long for others; perhaps none. More where somebody else computes them
  /// in batches of its own.
  std::uint32_t samples = 0;
  double loss_sum = 0; ///< Sum of the samples' losses.
  double seconds = 0;  ///< That they took; 0: as long as the call.
};

struct evaluation {
  std::uint64_t samples = 0;
  double loss = 0; ///< Mean over samples.
  /// Labels that were predicted, 0 to 1; nothing where the model has none.
  std::optional<double> accuracy = {};
  /// What else the model says of them, by name: means over samples.
  std::map<std::string, double> metrics = {};
  /// The entropy of how often each label occurs among these, in nats: what is
  /// lost by knowing that and nothing else. 0: not known.
  double unigram = 0;
};

class trainer {
public:
  virtual ~trainer() = default;

  virtual const model_layout& layout() const = 0;

  /// Samples of a request that keep the machine busy: many where a model waits
  /// for others' answers.
  virtual std::uint32_t usual_request() const {
    return 16;
  }

  /// Adds to `gradient` the *sum* over the samples of the gradient of each
  /// sample's loss at `parameters`. Both hold `layout().values()` floats.
  /// A trainer whose memory is elsewhere, on a graphics card say, may keep the
  /// sum of this and later calls there until `collect` or `drop`.
  /// Throws std::exception on failure; then `gradient` is unspecified.
  virtual batch_result accumulate(const batch_request& request,
                                  const float* parameters, float* gradient,
                                  const std::atomic<bool>& cancelled)
      = 0;

  /// Whether `accumulate` may have to begin a sum: one pass over it less. If it
  /// gives samples it has written all values, otherwise none that count.
  virtual bool begins_sums() const {
    return false;
  }

  /// Adds to `gradient` what calls of `accumulate` have kept.
  virtual void collect(float*) {
  }

  /// Forgets that instead.
  virtual void drop() {
  }

  /// Loss, and accuracy where there is one, over `samples` samples of the
  /// stream `order_seed`.
  virtual evaluation evaluate(const float* parameters, std::uint64_t order_seed,
                              std::uint64_t samples)
      = 0;
};

/// Opens the data and builds the model that a charter asks for. Blocking.
/// Throws std::runtime_error with one sentence for a person.
using trainer_factory = std::function<std::unique_ptr<trainer>(const charter&)>;

} // namespace potluck
