#include "runtime/relay/plain_stream.hpp"

#include <algorithm>
#include <cstring>

#include "messages/framing.hpp"
#include "runtime/recycled_memory.hpp"
#include "runtime/relay/limits.hpp"

namespace potluck {

namespace {

shared_bytes aligned(const std::uint8_t* from, std::size_t size) {
  if (size == 0)
    return {};
  std::shared_ptr<void> block{take_block(size),
                              [size](void* x) { give_block(x, size); }};
  std::memcpy(block.get(), from, size);
  const auto* bytes = static_cast<const std::uint8_t*>(block.get());
  return {std::move(block), bytes, size};
}

} // namespace

void plain_stream::begin() {
  // The end that opens the stream hears from the other one that it is there.
  if (!begins_) {
    open_ = true;
    to_.on_proven({});
  }
}

std::size_t plain_stream::push(outgoing_frame frame) {
  const auto& [head, body, urgent] = frame;
  const auto words = write_preamble(
      preamble_for(head.data(), head.size(), body.data, body.size, body.sum));
  out_.insert(out_.end(), words.begin(), words.end());
  out_.insert(out_.end(), head.begin(), head.end());
  out_.insert(out_.end(), body.data, body.data + body.size);
  return out_.size() > limits::circuit_queue ? out_.size() : 0;
}

std::vector<std::uint8_t> plain_stream::next(std::size_t most) {
  const auto end
      = out_.begin() + static_cast<std::ptrdiff_t>(std::min(most, out_.size()));
  std::vector<std::uint8_t> result(out_.begin(), end);
  out_.erase(out_.begin(), end);
  return result;
}

std::string plain_stream::take(const std::uint8_t* data, std::size_t size) {
  if (!open_) {
    open_ = true;
    to_.on_proven({});
  }
  in_.insert(in_.end(), data, data + size);
  std::size_t done = 0;
  while (in_.size() - done >= preamble_bytes) {
    const auto* at = in_.data() + done;
    const auto x = read_preamble(at);
    if (!x)
      return "the other side sent what is no frame";
    const auto whole = preamble_bytes + x->head_size + x->body_size;
    if (in_.size() - done < whole)
      break;
    const auto* head = at + preamble_bytes;
    if (!intact(*x, head, head + x->head_size))
      return "corrupt frame: bits changed on the way";
    to_.on_frame({{head, head + x->head_size},
                  aligned(head + x->head_size, x->body_size)});
    done += whole;
  }
  in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(done));
  return "";
}

} // namespace potluck
