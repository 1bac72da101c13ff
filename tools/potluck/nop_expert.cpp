#include "tools/potluck/nop_expert.hpp"

#include <algorithm>
#include <stdexcept>

#include "runtime/state/little_endian.hpp"

namespace potluck::tools {

namespace {

class nop_expert : public expert_module {
public:
  explicit nop_expert(std::uint32_t values) : shape_{values, values} {
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
    std::vector<std::uint8_t> bytes(sizeof(updates_));
    put_little_endian(bytes.data(), updates_);
    return bytes;
  }
  void load(const std::vector<std::uint8_t>& bytes) override {
    if (bytes.size() != sizeof(updates_))
      throw std::runtime_error("The saved state is not that of a nop expert.");
    updates_ = get_little_endian<std::uint64_t>(bytes.data());
  }

private:
  expert_shape shape_;
  std::uint64_t updates_ = 0;
};

} // namespace

expert_factory make_nop_factory() {
  return [](const expert_kind& kind, const std::string&, std::uint64_t) {
    return std::make_unique<nop_expert>(kind.hidden * kind.tokens);
  };
}

} // namespace potluck::tools
