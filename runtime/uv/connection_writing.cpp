/// What a connection does with frames that go out.

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "runtime/uv/connection.hpp"

namespace potluck {

namespace {

/// What one write holds: enough that its call-back costs nothing, little enough
/// that what its checksums have read is still in the cache, and that the owners
/// of sent bodies are released early.
constexpr std::size_t batch_bytes = 256 * 1024;
constexpr std::size_t batch_frames = 128;
/// Likewise encrypted, which is a copy: little enough to stay in a cache.
constexpr std::size_t encrypted_batch_bytes = 256 * 1024;
/// Batches up to this size are tried at once: the kernel has room for them as a
/// rule, and then no call-back is needed.
constexpr std::size_t small_batch_bytes = 64 * 1024;

std::string broken(int error) {
  return std::string{"the connection broke: "} + uv_strerror(error);
}

connection* owner_of(uv_stream_t* stream) {
  return static_cast<connection*>(
      static_cast<tcp_handle*>(stream->data)->owner);
}

/// What `bytes` of frames take on the wire, nearly: how they fall into records
/// is not known before.
std::size_t with_records(std::size_t bytes) {
  return bytes + (bytes / record_bytes + 1) * record_overhead_bytes;
}

/// The frames' part of `bytes` on the wire, nearly; never zero.
std::size_t without_records(std::size_t bytes) {
  auto most = (bytes / record_bytes + 1) * record_overhead_bytes;
  return bytes > most ? bytes - most : 1;
}

} // namespace

void connection::enqueue(outgoing_frame frame) {
  if (state_ == state::draining)
    return;
  queued_frame next{{}, std::move(frame)};
  queued_bytes_ += next.size();
  queue_.insert(place_of(next), std::move(next));
  const auto most = hub_.options().max_queued_bytes;
  if (queued_bytes_ <= std::max(most, next_look_at_queue_))
    return;
  next_look_at_queue_ = queued_bytes_ + most / 8;
  if (auto bytes = bytes_beyond_arrays(); bytes > most)
    end("the other side stopped reading: " + std::to_string(bytes >> 20)
        + " MiB were waiting for it");
}

/// What waits, but for the bodies in the arrays that most of it lies in.
std::size_t connection::bytes_beyond_arrays() const {
  std::unordered_map<const void*, std::size_t> arrays;
  for (const auto& x : queue_)
    arrays[x.frame.body.owner.get()] += x.frame.body.size;
  arrays.erase(nullptr);
  std::vector<std::size_t> sizes;
  for (const auto& [owner, bytes] : arrays)
    sizes.push_back(bytes);
  const auto free = std::min(hub_.options().queued_arrays, sizes.size());
  const auto end = sizes.begin() + static_cast<std::ptrdiff_t>(free);
  std::partial_sort(sizes.begin(), end, sizes.end(), std::greater<>{});
  const auto spared = std::accumulate(sizes.begin(), end, std::size_t{0});
  return queued_bytes_ - std::min(spared, queued_bytes_);
}

/// Behind all, or, if it is urgent, before the first body that has not begun:
/// conversations are not overtaken, least of all their first words. A write
/// under way that is no copy refers to the queue, which then only grows at its
/// end.
std::deque<queued_frame>::iterator connection::place_of(const queued_frame& x) {
  if (!x.frame.urgent || (!tls_ && in_flight_ > 0))
    return queue_.end();
  return std::find_if(
      queue_.begin() + (front_sent_ > 0 ? 1 : 0), queue_.end(),
      [](auto& x) { return x.frame.body.size > 0 && !x.frame.urgent; });
}

/// Writes its preamble. Not before its turn has come: what a checksum has read
/// is in the processor's cache then, and the kernel copies it from there.
void connection::introduce(queued_frame& x) const {
  const auto& [head, body, urgent] = x.frame;
  preamble announced{static_cast<std::uint32_t>(head.size()),
                     static_cast<std::uint32_t>(body.size), 0};
  if (!tls_) // Else every record has a better checksum.
    announced = preamble_for(head.data(), head.size(), body.data, body.size,
                             body.sum);
  x.preamble = write_preamble(announced);
  x.introduced = true;
}

/// Lists the queue's next bytes, at most so many.
std::size_t connection::gather(std::size_t most) {
  buffers_.clear();
  std::size_t bytes = 0;
  auto skip = front_sent_;
  // uv_buf_t is not const-correct; writing only reads.
  auto append = [&](const std::uint8_t* data, std::size_t size) {
    auto past = std::min(skip, size);
    skip -= past;
    size = std::min(size - past, most - bytes);
    if (size == 0)
      return;
    buffers_.push_back(uv_buf_init(
        reinterpret_cast<char*>(const_cast<std::uint8_t*>(data + past)),
        static_cast<unsigned>(size)));
    bytes += size;
  };
  std::size_t frames = 0;
  for (auto& x : queue_) {
    if (frames++ == batch_frames || bytes == most)
      break;
    if (!x.introduced)
      introduce(x);
    append(x.preamble.data(), x.preamble.size());
    append(x.frame.head.data(), x.frame.head.size());
    append(x.frame.body.data, x.frame.body.size);
  }
  return bytes;
}

/// The next batch as it lies; nothing when there is none, or it is not our
/// turn.
std::size_t connection::gather_allowed() {
  if (queue_.empty())
    return 0;
  // A large frame is one write, unless a cap cuts it.
  auto wanted = std::max(batch_bytes, queue_.front().size() - front_sent_);
  auto turn = std::min(wanted, hub_.take_turn(id_, queued_bytes_));
  if (turn == 0)
    return 0;
  auto may = hub_.uploads().take(hub_.loop(), id_, turn);
  if (may == 0)
    return 0;
  auto bytes = gather(may);
  hub_.uploads().give_back(may - bytes);
  return bytes;
}

/// More waits than what we have encrypted can be: TLS answers every request for
/// a new key, and the other side takes none of the answers.
bool connection::overfull() const {
  return waiting_records() + tls_->output_size() > 2 * encrypted_batch_bytes;
}

/// Encrypts the queue's next bytes, about `wanted` on the wire or more, behind
/// what waits to be written: never less than a record, for each adds to what it
/// carries and is read as a whole; nor less than the rest of the frame, if that
/// is two at most, or its end would be read with the next one. Frames are
/// released as soon as they are encrypted.
void connection::encrypt_next(std::size_t wanted) {
  const auto rest = queue_.front().size() - front_sent_;
  const auto record = rest <= 2 * record_bytes ? rest : record_bytes;
  const auto bytes = gather(std::max(without_records(wanted), record));
  if (waiting_records() == 0)
    take_records(); // Its memory is used again.
  tls_->make_room(with_records(bytes));
  for (const auto& x : buffers_)
    tls_->write(reinterpret_cast<const std::uint8_t*>(x.base), x.len);
  tls_->flush();
  release(bytes);
}

/// Takes what TLS has made, and what waits of before, together.
void connection::take_records() {
  const auto waits = waiting_records();
  if (waits == 0) {
    tls_->take_output(encrypted_);
  } else if (tls_->output_size() > 0) {
    byte_array more;
    tls_->take_output(more);
    encrypted_.erase(encrypted_.begin(),
                     encrypted_.end() - static_cast<std::ptrdiff_t>(waits));
    encrypted_.insert(encrypted_.end(), more.begin(), more.end());
  } else {
    return;
  }
  encrypted_sent_ = 0;
}

/// The next batch of records, with what TLS has to say by itself, which is
/// little and asks no cap.
std::size_t connection::encrypt_allowed() {
  const bool may_speak = state_ == state::open || state_ == state::draining;
  const auto waits = waiting_records();
  std::size_t may = 0;
  if (may_speak && (waits > 0 || !queue_.empty())) {
    const auto all = waits + (queue_.empty() ? 0 : with_records(queued_bytes_));
    const auto wanted = std::min(all, with_records(encrypted_batch_bytes));
    const auto turn = std::min(wanted, hub_.take_turn(id_, all));
    may = turn == 0 ? 0 : hub_.uploads().take(hub_.loop(), id_, turn);
    if (may > waits && !queue_.empty())
      encrypt_next(may - waits);
  }
  const auto asks_cap = may_speak && (may > 0 || waits > 0);
  if (state_ == state::draining && queue_.empty()
      && !std::exchange(goodbye_said_, true))
    tls_->say_goodbye();
  take_records();
  auto bytes = waiting_records();
  if (asks_cap) {
    // A little more than was allowed is no write of its own.
    if (bytes > may + may / 64)
      bytes = may;
    if (bytes <= may)
      hub_.uploads().give_back(may - bytes);
    else
      hub_.uploads().overdraw(bytes - may);
  }
  buffers_.assign(1, uv_buf_init(reinterpret_cast<char*>(encrypted_.data()
                                                         + encrypted_sent_),
                                 static_cast<unsigned>(bytes)));
  return bytes;
}

void connection::flush() {
  // One write at a time keeps order simple, and lets small frames gather
  // meanwhile. The kernel's buffer covers the gap between two.
  if (state_ == state::connecting || in_flight_ > 0)
    return;
  while (auto bytes = tls_ ? encrypt_allowed() : gather_allowed())
    if (!put(bytes))
      return;
  if (tls_ && tls_->failed() && state_ == state::open)
    return give_up(tls_->failure());
  if (waiting_bytes() > 0)
    return; // Until our turn.
  if (state_ == state::draining)
    shut_down();
  else if (tls_ && encrypted_.capacity() > small_batch_bytes) {
    byte_array{}.swap(encrypted_);
    encrypted_sent_ = 0;
    tls_->rest();
  }
}

/// Writes `buffers_`. False when that goes on, or the connection has ended.
bool connection::put(std::size_t bytes) {
  std::size_t taken = 0;
  if (bytes <= small_batch_bytes) {
    auto result = uv_try_write(socket_->stream(), buffers_.data(),
                               static_cast<unsigned>(buffers_.size()));
    if (result < 0 && result != UV_EAGAIN) {
      end(broken(result));
      return false;
    }
    taken = result > 0 ? static_cast<std::size_t>(result) : 0;
    if (taken == bytes) {
      sent(bytes);
      return true;
    }
  }
  // What is left of a batch of which the kernel took the beginning.
  auto first = buffers_.begin();
  in_flight_ = bytes;
  for (; taken >= first->len; ++first)
    taken -= first->len;
  first->base += taken;
  first->len -= taken;
  auto result = uv_write(&socket_->writing, socket_->stream(), &*first,
                         static_cast<unsigned>(buffers_.end() - first),
                         [](uv_write_t* x, int status) {
                           if (auto* self = owner_of(x->handle))
                             self->written(status);
                         });
  if (result != 0)
    end(broken(result));
  return false;
}

void connection::written(int status) {
  if (status != 0)
    return end(state_ == state::draining ? last_reason_ : broken(status));
  sent(std::exchange(in_flight_, 0));
  flush();
}

/// The kernel has the batch.
void connection::sent(std::size_t bytes) {
  hub_.count_sent(bytes);
  if (tls_)
    encrypted_sent_ += bytes;
  else
    release(bytes);
  meter_.sent(bytes, waiting_bytes());
}

/// The queue's next `bytes` are not needed any more.
void connection::release(std::size_t bytes) {
  queued_bytes_ -= bytes;
  // What comes in place of it may be of another kind.
  next_look_at_queue_ = std::min(
      next_look_at_queue_, queued_bytes_ + hub_.options().max_queued_bytes / 8);
  front_sent_ += bytes;
  while (!queue_.empty() && front_sent_ >= queue_.front().size()) {
    front_sent_ -= queue_.front().size();
    queue_.pop_front();
  }
}

} // namespace potluck
