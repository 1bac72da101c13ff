#include "runtime/uv/frame_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace potluck {

frame_reader::frame_reader(std::size_t direct_bytes, bool checked)
    : direct_bytes_(direct_bytes), checked_(checked) {
}

frame_reader::window frame_reader::direct() {
  if (state_ != state::body || !bulky_)
    return {};
  return {frame_.body.get() + done_, frame_.body_size - done_};
}

bool frame_reader::filled(std::size_t size) {
  advance(size);
  return !corrupt();
}

std::optional<std::size_t> frame_reader::feed(const std::uint8_t* data,
                                              std::size_t size) {
  std::size_t taken = 0;
  while (taken < size && state_ != state::complete) {
    std::uint8_t* piece = nullptr;
    std::size_t length = 0;
    switch (state_) {
      case state::preamble:
        piece = preamble_.data();
        length = preamble_.size();
        break;
      case state::head:
        piece = frame_.head.data();
        length = frame_.head.size();
        break;
      default:
        piece = frame_.body.get();
        length = frame_.body_size;
        break;
    }
    auto part = std::min(length - done_, size - taken);
    std::memcpy(piece + done_, data + taken, part);
    taken += part;
    if (state_ == state::preamble && done_ + part == length) {
      if (!enter_frame())
        return std::nullopt;
    } else {
      advance(part);
      if (corrupt())
        return std::nullopt;
    }
  }
  return taken;
}

frame_reader::frame frame_reader::take() {
  state_ = state::preamble;
  done_ = 0;
  return std::exchange(frame_, {});
}

bool frame_reader::enter_frame() {
  auto announced = read_preamble(preamble_.data());
  if (!announced)
    return false;
  announced_ = *announced;
  state_ = state::head;
  done_ = 0;
  frame_.head.resize(announced_.head_size);
  frame_.body_size = announced_.body_size;
  bulky_ = frame_.body_size >= direct_bytes_;
  return true;
}

void frame_reader::advance(std::size_t size) {
  done_ += size;
  if (state_ == state::head && done_ == frame_.head.size()) {
    done_ = 0;
    if (frame_.body_size == 0) {
      finish();
    } else {
      // Not initialized: the kernel or a copy fills it.
      frame_.body = {static_cast<std::uint8_t*>(take_block(frame_.body_size)),
                     recycle_block{frame_.body_size}};
      state_ = state::body;
    }
  } else if (state_ == state::body && done_ == frame_.body_size) {
    finish();
  }
}

void frame_reader::finish() {
  const bool whole = !checked_
                     || intact(announced_, frame_.head.data(),
                               frame_.body.get(), &frame_.body_sum);
  state_ = whole ? state::complete : state::corrupt;
}

} // namespace potluck
