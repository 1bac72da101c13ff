#include "models/experts/catalogue.hpp"

#include <stdexcept>

#include "models/device.hpp"
#include "models/experts/nop_expert.hpp"
#include "models/experts/trained_expert.hpp"
#include "models/tensor_memory.hpp"

namespace potluck {

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
