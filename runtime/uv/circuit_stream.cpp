#include "runtime/uv/circuit_stream.hpp"

#include <utility>

#include "runtime/relay/limits.hpp"
#include "runtime/strangers/limits.hpp"
#include "runtime/uv/incoming_stream.hpp"
#include "runtime/uv/outgoing_stream.hpp"

namespace potluck {

namespace {

class circuit_stream final : public frame_stream, incoming_stream::listener {
public:
  circuit_stream(const tls_context& tls, bool begins, frame_stream_listener& to)
      : to_(to), tls_(tls, begins ? tls_channel::side::dialler
                                  : tls_channel::side::acceptor),
        out_(frame_queue{{limits::circuit_queue, 0}, false}, &tls_),
        decrypted_(new std::uint8_t[record_bytes]),
        in_(&tls_, decrypted_.get(), *this), begins_(begins) {
    // What is announced takes no memory before it comes.
    in_.spare(limits::small_frame_bytes);
  }

  void begin() override {
    if (begins_)
      tls_.shake();
  }
  std::size_t push(outgoing_frame frame) override {
    return out_.push(std::move(frame));
  }
  std::vector<std::uint8_t> next(std::size_t most) override {
    if (most < limits::least_circuit_piece)
      return {};
    // A batch may be a 64th larger than asked for.
    const auto size = out_.prepare(most - most / 64 - 1);
    std::vector<std::uint8_t> result;
    for (const auto& x : out_.batch())
      result.insert(result.end(), x.base, x.base + x.len);
    result.resize(size);
    out_.sent(size);
    if (size == 0)
      out_.rest();
    return result;
  }
  std::string take(const std::uint8_t* data, std::size_t size) override {
    const auto x = in_.take(data, size);
    if (x.what != incoming_stream::verdict::more)
      return x.reason;
    if (out_.overfull())
      return "the other side asks for new keys and takes none";
    if (!proven_ && (early_ += size) > limits::bytes_before_proof)
      return "the other side sends much and proves nothing";
    return "";
  }
  std::size_t begun() const override {
    return in_.come();
  }
  void finish() override {
    out_.finish();
  }

private:
  void on_proven(const peer_id& who) override {
    proven_ = true;
    out_.open();
    to_.on_proven(who);
  }
  void on_whole(frame_reader::frame frame) override {
    std::shared_ptr<aligned_buffer> owner
        = std::make_shared<aligned_buffer>(std::move(frame.body));
    const auto* bytes = owner->get();
    to_.on_frame({std::move(frame.head),
                  {std::move(owner), bytes, frame.body_size, frame.body_sum}});
  }

  frame_stream_listener& to_;
  tls_channel tls_;
  outgoing_stream out_;
  const std::unique_ptr<std::uint8_t[]> decrypted_; ///< For one record.
  incoming_stream in_;
  const bool begins_;
  std::size_t early_ = 0; ///< Bytes that came before anything was proven.
  bool proven_ = false;
};

} // namespace

std::unique_ptr<frame_stream> make_circuit_stream(const tls_context& tls,
                                                  bool begins,
                                                  frame_stream_listener& to) {
  return std::make_unique<circuit_stream>(tls, begins, to);
}

} // namespace potluck
