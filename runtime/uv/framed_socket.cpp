#include "runtime/uv/framed_socket.hpp"

#include <algorithm>
#include <utility>

#include "runtime/strangers/limits.hpp"
#include "runtime/uv/kernel_view.hpp"

namespace potluck {

namespace {

/// What a frame costs beyond its bytes, so that tiny ones count, too.
constexpr std::size_t frame_overhead_bytes = 256;

std::string broken(int error) {
  return std::string{"the connection broke: "} + uv_strerror(error);
}

/// Keeps a body, and the credit that it has taken, until nobody needs it.
struct held_frame {
  held_frame(aligned_buffer body, std::size_t bytes,
             std::shared_ptr<read_credit> credit)
      : body(std::move(body)), bytes(bytes), credit(std::move(credit)) {
    this->credit->take(bytes);
  }
  ~held_frame() {
    body.reset(); // First, for the credit stands for its memory.
    credit->give_back(bytes);
  }
  held_frame(const held_frame&) = delete;
  held_frame& operator=(const held_frame&) = delete;

  aligned_buffer body;
  std::size_t bytes;
  std::shared_ptr<read_credit> credit;
};

} // namespace

socket_context::socket_context(
    uv_loop_t* loop, const key_pair* mine, double max_upload,
    double max_download, const std::function<void(connection_id)>& turn,
    const std::function<void(connection_id)>& read_turn,
    std::function<upload_gate::bytes_of_each()> under_way)
    : uploads(loop, max_upload, turn, std::move(under_way)),
      downloads(loop, max_download, read_turn),
      staging(new std::uint8_t[encrypted_staging_bytes]),
      decrypted(new std::uint8_t[record_bytes]) {
  if (mine != nullptr)
    tls = std::make_shared<tls_context>(*mine);
}

framed_socket::framed_socket(connection_id id, socket_context& shared,
                             tcp_socket socket,
                             std::unique_ptr<tls_channel> tls,
                             frame_queue waiting,
                             std::shared_ptr<read_credit> credit, listener& to)
    : id_(id), shared_(shared), to_(to), socket_(std::move(socket)),
      tls_(std::move(tls)), credit_(std::move(credit)),
      out_(std::make_shared<outgoing_stream>(std::move(waiting), tls_.get())),
      in_(tls_.get(), shared.decrypted.get(), *this),
      writer_(*socket_, id, shared.uploads, out_, *this),
      reader_(*socket_, id, shared.downloads, credit_, *this) {
  in_.spare(limits::small_frame_bytes);
  uv_tcp_nodelay(&socket_->tcp, 1);
  keep_alive(descriptor_of(*socket_));
}

framed_socket::~framed_socket() {
  if (socket_ && socket_->ending)
    socket_->ending->data = nullptr;
}

void framed_socket::start() {
  if (tls_)
    tls_->shake(); // The dialler's first words; the acceptor has none.
  else
    on_proven({});
  reader_.read_on();
  flush();
}

tcp_socket framed_socket::take_back() {
  uv_read_stop(socket_->stream());
  socket_->owner = nullptr;
  return std::move(socket_);
}

void framed_socket::finish() {
  out_->finish();
  reader_.drain();
  flush();
}

void framed_socket::mind_our_windows() const {
  avoid_bbr(descriptor_of(*socket_));
}

// ---- what comes ------------------------------------------------------------

void framed_socket::on_proven(const peer_id& who) {
  proven_ = true;
  out_->open();
  to_.on_open(who);
}

void framed_socket::on_whole(frame_reader::frame frame) {
  auto* body = frame.body.get();
  if (std::exchange(large_, false)) {
    to_.on_large_over();
    hold(reason::room, false);
  }
  const auto bytes = frame.head.size() + frame.body_size + frame_overhead_bytes;
  auto owner
      = std::make_shared<held_frame>(std::move(frame.body), bytes, credit_);
  to_.on_frame({std::move(frame.head),
                {std::move(owner), body, frame.body_size, frame.body_sum}});
}

frame_reader::window framed_socket::room() {
  if (out_->finished())
    return {shared_.staging.get(), staging_bytes};
  auto room = in_.room(shared_.staging.get());
  if (!trusted_)
    room.size = std::min(room.size, limits::strangers_portion);
  return room;
}

bool framed_socket::on_bytes(const std::uint8_t* data, std::size_t size) {
  shared_.received.fetch_add(size, std::memory_order_relaxed);
  silent_ = false;
  meter_.received(size);
  if (out_->finished())
    return false;
  const auto x = in_.take(data, size);
  switch (x.what) {
    case incoming_stream::verdict::more:
      if (out_->overfull()) {
        to_.on_end("the other side asks for new keys and takes none");
      } else if (proves_nothing(size)) {
        to_.on_end("the other side sends much and proves nothing");
      } else {
        look_at_frame();
        return true;
      }
      break;
    case incoming_stream::verdict::ended:
      to_.on_end(x.reason);
      break;
    case incoming_stream::verdict::failed:
      tell_failure(x.reason);
      break;
    case incoming_stream::verdict::unrelated:
      turn_away(x.reason);
      break;
  }
  return false;
}

/// Whether so much has come that an honest peer would be proven by now.
bool framed_socket::proves_nothing(std::size_t bytes) {
  if (proven_)
    return false;
  early_bytes_ += bytes;
  return early_bytes_ > limits::bytes_before_proof;
}

/// A stranger's large one needs room before the rest of it is read.
void framed_socket::look_at_frame() {
  if (trusted_ || large_ || in_.begun() <= limits::small_frame_bytes)
    return;
  large_ = true;
  if (to_.on_large(in_.begun()))
    in_.make_room();
  else
    hold(reason::room, true);
}

void framed_socket::has_room() {
  in_.make_room();
  hold(reason::room, false);
}

/// A stranger that does not read our answers is not read. Frames with bodies do
/// not count, nor does the batch in which they are encrypted: two that send
/// each other much would wait for each other.
void framed_socket::look_at_unread() {
  if (trusted_ || !proven_) // What waits leaves after the handshake.
    return;
  const auto waits = out_->letter_bytes();
  if (waits > limits::unread_answers)
    hold(reason::unread, true);
  else if (waits < limits::unread_answers / 2)
    hold(reason::unread, false);
}

void framed_socket::hold(reason why, bool yes) {
  const auto bit = static_cast<unsigned>(why);
  const auto before = held_;
  held_ = yes ? held_ | bit : held_ & ~bit;
  if ((held_ == 0) != (before == 0))
    reader_.hold(held_ != 0);
}

void framed_socket::trust() {
  trusted_ = true;
  if (std::exchange(large_, false))
    to_.on_large_over();
  in_.spare(std::size_t{max_body_bytes} + 1);
  hold(reason::unread, false);
  has_room();
}

void framed_socket::on_taken() {
  if (tls_ && (out_->waiting() > 0 || tls_->output_size() > 0))
    flush();
}

void framed_socket::on_read_end(int error) {
  to_.on_end(error == UV_EOF ? in_.reason_of_end() : broken(error));
}

// ---- what goes out ---------------------------------------------------------

void framed_socket::on_sent(std::size_t bytes) {
  shared_.sent.fetch_add(bytes, std::memory_order_relaxed);
  meter_.sent(bytes, out_->waiting());
}

void framed_socket::on_prepared() {
  look_at_unread();
}

void framed_socket::on_all_sent() {
  if (out_->finished())
    shut_down();
  else if (out_->failed())
    tell_failure(tls_->failure());
  else
    out_->rest();
}

void framed_socket::on_write_failed(int error) {
  to_.on_end(broken(error));
}

// ---- the end ---------------------------------------------------------------

void framed_socket::tell_failure(const std::string& reason) {
  if (tls_->output_size() == 0)
    return to_.on_end(reason);
  out_->drop();
  to_.on_wrong(reason);
}

void framed_socket::turn_away(const std::string& reason) {
  if (writer_.in_flight() > 0) // It comes too late to be understood.
    return to_.on_end(reason);
  auto bytes = not_tls_alert();
  auto alert = uv_buf_init(reinterpret_cast<char*>(bytes.data()),
                           static_cast<unsigned>(bytes.size()));
  uv_try_write(socket_->stream(), &alert, 1);
  out_->drop();
  to_.on_wrong(reason);
}

void framed_socket::shut_down() {
  if (std::exchange(shut_down_, true))
    return;
  made(socket_->ending)->data = this;
  uv_shutdown(socket_->ending.get(), socket_->stream(),
              [](uv_shutdown_t* x, int status) {
                auto* self = static_cast<framed_socket*>(x->data);
                if (self != nullptr && status != 0)
                  self->to_.on_end(broken(status));
              });
  // From here on we wait for the other side's end.
}

} // namespace potluck
