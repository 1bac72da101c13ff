/// What comes on one connection, from bytes to frames: tells TLS from what is
/// none, shakes hands, decrypts, cuts. Does no I/O.
///
///     read into room() -> take() what was read
#pragma once

#include <string>

#include "runtime/uv/frame_reader.hpp"
#include "runtime/uv/tls_channel.hpp"

namespace potluck {

/// What is read at most into memory that all connections share.
constexpr std::size_t staging_bytes = 64 * 1024;
/// Bodies are never read directly then, so that larger reads pay.
constexpr std::size_t encrypted_staging_bytes = 256 * 1024;

class incoming_stream {
public:
  /// Whom it tells, while it takes bytes.
  class listener {
  public:
    virtual ~listener() = default;
    /// The handshake is over: who is at the other end.
    virtual void on_proven(const peer_id& who) = 0;
    virtual void on_whole(frame_reader::frame frame) = 0;
  };

  enum class verdict {
    more,      ///< All is used up.
    ended,     ///< Nothing will follow.
    failed,    ///< Likewise, and TLS may have output that says so.
    unrelated, ///< One encrypts and the other does not: only an unencrypted
               ///< alert is understood by both, since neither has an answer of
               ///< its own to such bytes.
  };

  struct outcome {
    verdict what;
    std::string reason; ///< But of `more`.
  };

  /// @param tls Null: nothing is encrypted. Must outlive this, as all others.
  /// @param decrypted `record_bytes` bytes, used until `take` returns.
  incoming_stream(tls_channel* tls, std::uint8_t* decrypted, listener& to);

  /// Where the next bytes are best read to.
  /// @param staging `encrypted_staging_bytes` bytes, if there is no better
  /// place; used until `take` has returned.
  frame_reader::window room(std::uint8_t* staging);

  /// So many bytes have been read there.
  outcome take(const std::uint8_t* data, std::size_t size);

  /// See `frame_reader`.
  void spare(std::size_t bytes) {
    reader_.spare(bytes);
  }
  std::size_t begun() const {
    return reader_.begun();
  }
  std::size_t come() const {
    return reader_.come();
  }
  void make_room() {
    reader_.make_room();
  }

  /// Why, when the stream ends here.
  std::string reason_of_end() const;

private:
  outcome decrypt();
  outcome cut(const std::uint8_t* data, std::size_t size);
  outcome filled(std::size_t size);
  std::string cut_short() const;

  tls_channel* const tls_;
  std::uint8_t* const decrypted_;
  listener& to_;
  frame_reader reader_;
  bool heard_ = false; ///< Anything at all.
  bool proven_ = false;
};

} // namespace potluck
