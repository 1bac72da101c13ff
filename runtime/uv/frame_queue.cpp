#include "runtime/uv/frame_queue.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace potluck {

namespace {

/// Listed at a time: more than one write takes.
constexpr std::size_t most_frames = 128;

} // namespace

frame_queue::frame_queue(const bounds& most, bool checked)
    : most_(most), checked_(checked) {
}

std::size_t frame_queue::push(outgoing_frame frame, bool may_overtake) {
  const bool overtakes = frame.urgent && may_overtake;
  queued next{{}, std::move(frame)};
  bytes_ += next.size();
  own_bytes_ += next.own_size();
  letter_bytes_ += next.letter_size();
  body_bytes_ += next.frame.body.size;
  frames_.insert(overtakes ? first_body() : frames_.end(), std::move(next));
  if (bytes_ <= std::max(most_.bytes, next_look_))
    return 0;
  next_look_ = bytes_ + most_.bytes / 8;
  const auto bytes = bytes_beyond_arrays();
  return bytes > most_.bytes ? bytes : 0;
}

/// That is not urgent, and has not begun.
std::list<frame_queue::queued>::iterator frame_queue::first_body() {
  return std::find_if(
      std::next(frames_.begin(), front_sent_ > 0 ? 1 : 0), frames_.end(),
      [](auto& x) { return x.frame.body.size > 0 && !x.frame.urgent; });
}

std::size_t frame_queue::bytes_beyond_arrays() const {
  std::unordered_map<const void*, std::size_t> arrays;
  for (const auto& x : frames_)
    arrays[x.frame.body.owner.get()] += x.frame.body.size;
  arrays.erase(nullptr);
  std::vector<std::size_t> sizes;
  for (const auto& [owner, bytes] : arrays)
    sizes.push_back(bytes);
  const auto free = std::min(most_.arrays, sizes.size());
  const auto end = sizes.begin() + static_cast<std::ptrdiff_t>(free);
  std::partial_sort(sizes.begin(), end, sizes.end(), std::greater<>{});
  const auto spared = std::accumulate(sizes.begin(), end, std::size_t{0});
  return bytes_ - std::min(spared, bytes_);
}

/// Writes its preamble. Not before its turn has come: what a checksum has read
/// is in the processor's cache then, and the kernel copies it from there.
void frame_queue::introduce(queued& x) const {
  const auto& [head, body, urgent] = x.frame;
  preamble announced{static_cast<std::uint32_t>(head.size()),
                     static_cast<std::uint32_t>(body.size), 0};
  if (checked_)
    announced = preamble_for(head.data(), head.size(), body.data, body.size,
                             body.sum);
  x.preamble = write_preamble(announced);
  x.introduced = true;
}

std::size_t frame_queue::gather(std::size_t most, std::vector<uv_buf_t>& into) {
  into.clear();
  std::size_t bytes = 0;
  auto skip = front_sent_;
  // uv_buf_t is not const-correct; writing only reads.
  auto append = [&](const std::uint8_t* data, std::size_t size) {
    auto past = std::min(skip, size);
    skip -= past;
    size = std::min(size - past, most - bytes);
    if (size == 0)
      return;
    into.push_back(uv_buf_init(
        reinterpret_cast<char*>(const_cast<std::uint8_t*>(data + past)),
        static_cast<unsigned>(size)));
    bytes += size;
  };
  std::size_t frames = 0;
  for (auto& x : frames_) {
    if (frames++ == most_frames || bytes == most)
      break;
    if (!x.introduced)
      introduce(x);
    append(x.preamble.data(), x.preamble.size());
    append(x.frame.head.data(), x.frame.head.size());
    append(x.frame.body.data, x.frame.body.size);
  }
  return bytes;
}

void frame_queue::release(std::size_t bytes) {
  bytes_ -= bytes;
  // What comes in place of it may be of another kind.
  next_look_ = std::min(next_look_, bytes_ + most_.bytes / 8);
  front_sent_ += bytes;
  while (!frames_.empty() && front_sent_ >= frames_.front().size()) {
    front_sent_ -= frames_.front().size();
    own_bytes_ -= frames_.front().own_size();
    letter_bytes_ -= frames_.front().letter_size();
    body_bytes_ -= frames_.front().frame.body.size;
    frames_.pop_front();
  }
}

void frame_queue::clear() {
  frames_.clear();
  bytes_ = own_bytes_ = letter_bytes_ = body_bytes_ = front_sent_ = 0;
}

} // namespace potluck
