#include "runtime/uv/frame_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace potluck {

frame_reader::frame_reader(std::size_t direct_bytes, bool checked)
    : direct_bytes_(direct_bytes), checked_(checked) {
}

frame_reader::window frame_reader::direct() {
  if (!frame_.body || !bulky_ || state_ != state::body)
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
    const auto* next = data + taken;
    std::size_t length = preamble_.size();
    if (state_ == state::head)
      length = announced_.head_size;
    else if (state_ == state::body)
      length = frame_.body_size;
    const auto part = std::min(length - done_, size - taken);
    taken += part;
    switch (state_) {
      case state::preamble:
        std::memcpy(preamble_.data() + done_, next, part);
        done_ += part;
        if (done_ == length && !enter_frame())
          return std::nullopt;
        break;
      case state::head:
        take_head(next, part);
        break;
      default:
        take_body(next, part);
        break;
    }
    if (corrupt())
      return std::nullopt;
  }
  return taken;
}

/// Memory is taken for what has come, not for what is announced.
void frame_reader::take_head(const std::uint8_t* data, std::size_t size) {
  frame_.head.insert(frame_.head.end(), data, data + size);
  advance(size);
}

void frame_reader::take_body(const std::uint8_t* data, std::size_t size) {
  if (!frame_.body && done_ + size == frame_.body_size)
    make_room();
  if (frame_.body)
    std::memcpy(frame_.body.get() + done_, data, size);
  else
    beginning_.insert(beginning_.end(), data, data + size);
  advance(size);
}

void frame_reader::make_room() {
  has_room_ = true;
  if (state_ != state::body || frame_.body)
    return;
  // Not initialized: the kernel or a copy fills it.
  frame_.body = {static_cast<std::uint8_t*>(take_block(frame_.body_size)),
                 recycle_block{frame_.body_size}};
  std::copy(beginning_.begin(), beginning_.end(), frame_.body.get());
  std::vector<std::uint8_t>{}.swap(beginning_);
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
  frame_.body_size = announced_.body_size;
  has_room_ = frame_.body_size < spared_;
  bulky_ = frame_.body_size >= direct_bytes_;
  return true;
}

void frame_reader::advance(std::size_t size) {
  done_ += size;
  if (state_ == state::head && done_ == announced_.head_size) {
    done_ = 0;
    if (frame_.body_size == 0) {
      finish();
    } else {
      state_ = state::body;
      if (has_room_)
        make_room();
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
