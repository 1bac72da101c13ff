/// An expert of a few lines of arithmetic, for tests: outputs are `scale` times
/// the inputs, where every update adds one to `scale`; it counts what it is
/// asked.
#pragma once

#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "runtime/ports/expert_module.hpp"
#include "runtime/state/little_endian.hpp"

namespace potluck {

/// What the modules of one test were asked, all together. Any thread.
struct expert_diary {
  struct entry {
    std::string uid;
    bool forward = true;
    std::uint32_t samples = 0;
  };

  void note(const entry& x) {
    std::lock_guard<std::mutex> guard{mutex_};
    entries_.push_back(x);
  }
  std::vector<entry> entries() const {
    std::lock_guard<std::mutex> guard{mutex_};
    return entries_;
  }

private:
  mutable std::mutex mutex_;
  std::vector<entry> entries_;
};

/// Makes it throw, as the first value of a batch.
constexpr float input_that_throws = 666;
/// Anywhere: an infinite output, or an unusable gradient.
constexpr float input_that_overflows = 777;

class arithmetic_expert : public expert_module {
public:
  arithmetic_expert(std::uint32_t hidden, std::string uid,
                    std::shared_ptr<expert_diary> diary)
      : shape_{hidden, hidden}, uid_(std::move(uid)), diary_(std::move(diary)) {
  }

  const expert_shape& shape() const override {
    return shape_;
  }
  void forward(std::uint32_t samples, const float* in, float* out) override {
    diary_->note({uid_, true, samples});
    if (in[0] == input_that_throws)
      throw std::runtime_error("out of memory");
    for (std::size_t i = 0; i < std::size_t{samples} * shape_.inputs; ++i)
      out[i] = in[i] == input_that_overflows
                   ? 1e30f * in[i] * 1e30f
                   : in[i] * static_cast<float>(1 + updates_);
  }
  void backward(std::uint32_t samples, const float* in, const float* grad_out,
                float* grad_in) override {
    diary_->note({uid_, false, samples});
    if (in[0] == input_that_throws)
      throw std::runtime_error("out of memory");
    for (std::size_t i = 0; i < std::size_t{samples} * shape_.inputs; ++i)
      if (in[i] == input_that_overflows)
        throw unusable_gradient();
    for (std::size_t i = 0; i < std::size_t{samples} * shape_.inputs; ++i)
      grad_in[i] = grad_out[i] * static_cast<float>(1 + updates_);
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
      throw std::runtime_error("these are not an expert's bytes");
    updates_ = get_little_endian<std::uint64_t>(bytes.data());
  }

private:
  expert_shape shape_;
  std::string uid_;
  std::shared_ptr<expert_diary> diary_;
  std::uint64_t updates_ = 0;
};

inline expert_factory arithmetic_factory(std::shared_ptr<expert_diary> diary) {
  return
      [diary](const expert_kind& kind, const std::string& uid, std::uint64_t) {
        return std::make_unique<arithmetic_expert>(kind.hidden, uid, diary);
      };
}

} // namespace potluck
