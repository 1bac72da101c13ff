#include "models/experts/catalogue.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/device.hpp"
#include "models/experts/trained_expert.hpp"
#include "models/tensor_memory.hpp"

namespace potluck {

namespace {

/// Computes nothing, for trying out a network of hosts and callers: outputs are
/// the inputs, and the inputs' gradients those of the outputs; a backward pass
/// counts as an update.
class nop_expert : public expert_module {
public:
  explicit nop_expert(const expert_kind& kind)
      : kind_(kind), shape_(shape_of(kind)) {
  }

  const expert_shape& shape() const override {
    return shape_;
  }
  void forward(std::uint32_t samples, const float* in, float* out) override {
    std::copy_n(in, std::size_t{samples} * shape_.inputs, out);
  }
  void backward(std::uint32_t samples, const float*, const float* grad_out,
                float* grad_in) override {
    std::copy_n(grad_out, std::size_t{samples} * shape_.inputs, grad_in);
    ++updates_;
  }
  std::uint64_t updates() const override {
    return updates_;
  }
  std::vector<std::uint8_t> save() const override {
    training_state state;
    state.step = updates_;
    return expert_bytes(kind_, state);
  }
  void load(const std::vector<std::uint8_t>& bytes) override {
    updates_ = unwrap(read_expert(kind_, bytes)).step;
  }

private:
  expert_kind kind_;
  expert_shape shape_;
  std::uint64_t updates_ = 0;
};

} // namespace

expert_factory make_expert_factory(std::string device, int threads) {
  return [device = std::move(device),
          threads](const expert_kind& kind, const std::string& uid,
                   std::uint64_t seed) -> std::unique_ptr<expert_module> {
    auto problem = problem_with(kind);
    if (!problem.empty())
      throw std::runtime_error(problem);
    if (kind.layer == "nop")
      return std::make_unique<nop_expert>(kind);
    limit_interop_threads();
    recycle_tensor_memory();
    return std::make_unique<trained_expert>(kind, fresh_expert(kind, uid, seed),
                                            choose_device(device),
                                            choose_threads(threads));
  };
}

} // namespace potluck
