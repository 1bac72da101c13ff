#include "runtime/uv/outgoing_stream.hpp"

#include <algorithm>
#include <utility>

namespace potluck {

namespace {

/// What one write holds: enough that its call-back costs nothing, little enough
/// that what its checksums have read, or encryption has written, is still in
/// the cache, and that the owners of sent bodies are released early.
constexpr std::size_t batch_bytes = 256 * 1024;

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

outgoing_stream::outgoing_stream(frame_queue queue, tls_channel* tls)
    : queue_(std::move(queue)), tls_(tls) {
}

std::size_t outgoing_stream::push(outgoing_frame frame) {
  // A batch that is no copy refers to the queue, which then only grows at its
  // end.
  return queue_.push(std::move(frame), tls_ != nullptr || !lent_);
}

std::size_t outgoing_stream::waiting() const {
  if (tls_ == nullptr || queue_.empty())
    return queue_.bytes() + waiting_records();
  return with_records(queue_.bytes()) + waiting_records();
}

std::size_t outgoing_stream::wanted() const {
  if (!open_)
    return 0;
  if (tls_ != nullptr)
    return std::min(waiting(), with_records(batch_bytes));
  // A large frame is one write, unless a cap cuts it.
  return queue_.empty() ? 0 : std::max(batch_bytes, queue_.front_rest());
}

std::size_t outgoing_stream::prepare(std::size_t may) {
  if (tls_ == nullptr) {
    const auto bytes = queue_.gather(may, batch_);
    lent_ = bytes > 0;
    return bytes;
  }
  const auto waits = waiting_records();
  if (open_ && may > waits && !queue_.empty())
    encrypt(may - waits);
  if (finished_ && queue_.empty())
    tls_->say_goodbye();
  take_records();
  auto bytes = waiting_records();
  // A little more than was allowed is no write of its own.
  if ((may > 0 || waits > 0) && bytes > may + may / 64)
    bytes = may;
  batch_.assign(
      1, uv_buf_init(reinterpret_cast<char*>(records_.data() + records_sent_),
                     static_cast<unsigned>(bytes)));
  return bytes;
}

/// About `wanted` on the wire or more, behind what waits to be written: never
/// less than a record, for each adds to what it carries and is read as a whole;
/// nor less than the rest of the frame, if that is two at most, or its end
/// would be read with the next one.
void outgoing_stream::encrypt(std::size_t wanted) {
  const auto rest = queue_.front_rest();
  const auto least = rest <= 2 * record_bytes ? rest : record_bytes;
  const auto bytes
      = queue_.gather(std::max(without_records(wanted), least), batch_);
  if (all_records() == 0) {
    tls_->take_output(records_); // Gives it memory to use again.
    records_sent_ = 0;
  }
  tls_->make_room(with_records(bytes));
  for (const auto& x : batch_)
    tls_->write(reinterpret_cast<const std::uint8_t*>(x.base), x.len);
  tls_->flush();
  queue_.release(bytes);
}

/// Takes what TLS has made, and what waits of before, together.
void outgoing_stream::take_records() {
  if (tls_->output_size() == 0)
    return;
  if (const auto waits = waiting_records(); waits == 0) {
    tls_->take_output(records_);
  } else {
    byte_array more;
    tls_->take_output(more);
    records_.erase(records_.begin(),
                   records_.end() - static_cast<std::ptrdiff_t>(waits));
    records_.insert(records_.end(), more.begin(), more.end());
  }
  records_sent_ = 0;
}

void outgoing_stream::sent(std::size_t bytes) {
  lent_ = false;
  if (tls_ != nullptr)
    records_sent_ += bytes;
  else
    queue_.release(bytes);
}

bool outgoing_stream::overfull() const {
  return all_records() > 2 * batch_bytes;
}

void outgoing_stream::rest() {
  if (tls_ == nullptr)
    return;
  byte_array{}.swap(records_);
  records_sent_ = 0;
  std::vector<uv_buf_t>{}.swap(batch_);
  tls_->rest();
}

} // namespace potluck
