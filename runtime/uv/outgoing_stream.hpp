/// What one connection writes next: its frames as they lie, or encrypted. Does
/// no I/O.
///
///     push() ... -> while prepare(what may be written): write batch(), sent()
///
/// Encrypted, a batch is a copy, and frames are released as soon as they are
/// encrypted; else it refers to them.
#pragma once

#include "runtime/uv/frame_queue.hpp"
#include "runtime/uv/tls_channel.hpp"

namespace potluck {

class outgoing_stream {
public:
  /// @param queue May have frames already.
  /// @param tls Null: nothing is encrypted. Must outlive this.
  outgoing_stream(frame_queue queue, tls_channel* tls);

  /// See `frame_queue::push`.
  std::size_t push(outgoing_frame frame);

  /// The handshake, if there is one, is over: frames may be sent.
  void open() {
    open_ = true;
  }
  /// No more will be pushed: the goodbye follows what waits.
  void finish() {
    finished_ = true;
  }
  bool finished() const {
    return finished_;
  }
  /// Drops what is queued: what TLS has to say is all.
  void drop() {
    queue_.clear();
  }

  /// Bytes on the wire that wait, nearly.
  std::size_t waiting() const;
  /// Of letters that wait, beside the batch: frames without a body.
  std::size_t letter_bytes() const {
    return queue_.letter_bytes();
  }
  /// Memory of this connection alone that what waits takes, what TLS has to say
  /// by itself included.
  std::size_t own_bytes() const {
    return queue_.own_bytes() + all_records();
  }
  /// Of bodies that wait, which others may hold as well.
  std::size_t body_bytes() const {
    return queue_.body_bytes();
  }
  /// The next batch, if it may be as large as it pays: 0 when there is none but
  /// what TLS has to say by itself, which is little and asks nobody.
  std::size_t wanted() const;

  /// Makes the next batch, of `may` bytes on the wire or little more, and of
  /// what TLS has to say. Says how many bytes it has.
  std::size_t prepare(std::size_t may);
  std::vector<uv_buf_t>& batch() {
    return batch_;
  }
  /// All of the batch.
  void sent(std::size_t bytes);

  /// Encryption has: nothing will be sent any more.
  bool failed() const {
    return tls_ != nullptr && tls_->failed();
  }
  /// More waits than what we have encrypted can be: TLS answers every request
  /// for a new key, and the other side takes none of the answers.
  bool overfull() const;

  /// Gives memory back that is kept for the next batch.
  void rest();

private:
  std::size_t waiting_records() const {
    return records_.size() - records_sent_;
  }
  /// With those that TLS has made since the batch.
  std::size_t all_records() const {
    return waiting_records() + (tls_ != nullptr ? tls_->output_size() : 0);
  }
  void encrypt(std::size_t wanted);
  void take_records();

  frame_queue queue_;
  tls_channel* const tls_;
  bool open_ = false;
  bool finished_ = false;
  bool lent_ = false; ///< The batch is being written.
  std::vector<uv_buf_t> batch_;
  byte_array records_;           ///< What is being, or to be written.
  std::size_t records_sent_ = 0; ///< Of these.
};

} // namespace potluck
