#include "runtime/uv/socket_writer.hpp"

#include <utility>

namespace potluck {

namespace {

/// Batches up to this size are tried at once: the kernel has room for them as a
/// rule, and then no call-back is needed.
constexpr std::size_t small_batch_bytes = 64 * 1024;

} // namespace

socket_writer::socket_writer(tcp_handle& socket, connection_id id,
                             upload_gate& gate,
                             std::shared_ptr<outgoing_stream> from,
                             listener& to)
    : socket_(socket), id_(id), gate_(gate), from_(std::move(from)), to_(to) {
}

socket_writer::~socket_writer() {
  if (in_flight_ == 0)
    return;
  socket_.writing->data = nullptr;
  socket_.unsent = from_;
}

void socket_writer::flush() {
  if (in_flight_ > 0)
    return;
  for (;;) {
    const auto wanted = from_->wanted();
    const auto may
        = wanted == 0 ? 0 : gate_.take(id_, wanted, from_->waiting());
    const auto bytes = from_->prepare(may);
    gate_.settle(may, bytes);
    to_.on_prepared();
    if (bytes == 0)
      break;
    if (put(bytes) != progress::done)
      return;
  }
  if (from_->waiting() == 0 || from_->failed())
    to_.on_all_sent();
  // Else it waits for its turn.
}

/// Writes the batch.
socket_writer::progress socket_writer::put(std::size_t bytes) {
  auto& batch = from_->batch();
  auto fail = [this](int error) {
    to_.on_write_failed(error);
    return progress::failed;
  };
  std::size_t taken = 0;
  if (bytes <= small_batch_bytes) {
    const auto result = uv_try_write(socket_.stream(), batch.data(),
                                     static_cast<unsigned>(batch.size()));
    if (result < 0 && result != UV_EAGAIN)
      return fail(result);
    taken = result > 0 ? static_cast<std::size_t>(result) : 0;
    if (taken == bytes) {
      sent(bytes);
      return progress::done;
    }
  }
  // What is left of a batch of which the kernel took the beginning.
  auto first = batch.begin();
  for (; taken >= first->len; ++first)
    taken -= first->len;
  first->base += taken;
  first->len -= taken;
  made(socket_.writing)->data = this;
  const auto result
      = uv_write(socket_.writing.get(), socket_.stream(), &*first,
                 static_cast<unsigned>(batch.end() - first),
                 [](uv_write_t* x, int status) {
                   if (auto* self = static_cast<socket_writer*>(x->data))
                     self->written(status);
                 });
  if (result != 0)
    return fail(result);
  in_flight_ = bytes;
  return progress::goes_on;
}

void socket_writer::written(int status) {
  if (status != 0)
    return to_.on_write_failed(status);
  sent(std::exchange(in_flight_, 0));
  flush();
}

/// The kernel has the batch.
void socket_writer::sent(std::size_t bytes) {
  from_->sent(bytes);
  to_.on_sent(bytes);
}

} // namespace potluck
