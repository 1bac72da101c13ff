/// One end of a TLS connection, between the bytes on the wire and those of
/// frames. Does no I/O: what came is fed, what is to be sent piles up.
///
///     feed(what came) -> shake() until done
///     feed(what came) -> read() until `more`
///     write() ..., flush() -> take_output()
///
/// What was fed is used up by the calls that follow, before the next `feed`.
///
/// All of TLS is OpenSSL's (RFC 8446), and no secret leaves it. It reads what
/// was fed, and writes what piles up, by a BIO of this class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/identity/certificate.hpp"
#include "runtime/recycled_memory.hpp"
#include "runtime/uv/tls_context.hpp"

struct ssl_st; // OpenSSL's SSL.

namespace potluck {

/// What one record carries at most (section 5.1), and what each adds: a header
/// of five bytes, its type, and a tag of sixteen.
constexpr std::size_t record_bytes = 16 * 1024;
constexpr std::size_t record_overhead_bytes = 5 + 1 + 16;

/// A key encrypts so many records of 16 KiB (16 GiB), then it is replaced:
/// AES-GCM is good for 2^24.5 (section 5.5), a slow line's day.
constexpr std::uint64_t records_per_key = 1u << 20;

/// Messages of the handshake that may come after it: requests for new keys, as
/// a rule, which cost their sender 27 bytes. Each so many bytes of frames allow
/// for one more; an honest peer sends one every 2^20 records.
constexpr std::size_t late_messages = 32;
constexpr std::size_t bytes_per_late_message = 32 * 1024;

class tls_channel {
public:
  enum class side { dialler, acceptor };

  enum class verdict {
    done,   ///< The handshake is over; or something was read.
    more,   ///< All that was fed is used up, and more is needed.
    closed, ///< The other side said that nothing more will come.
    failed, ///< See `failure`; there may be output that says so.
  };

  struct portion {
    verdict what;
    std::size_t size;
  };

  /// @param key_life After so many records the key is replaced.
  tls_channel(const tls_context& context, side which,
              std::uint64_t key_life = records_per_key);
  ~tls_channel();
  tls_channel(const tls_channel&) = delete;
  tls_channel& operator=(const tls_channel&) = delete;

  /// Of the dialler, before it begins: whose certificate it wants to be shown.
  void ask_for(const peer_id& whom);
  /// Whose certificate this end shows: known once the handshake is done.
  const ssl_ctx_st* shows() const;

  /// The stream's next bytes, which must stay until they are used up.
  void feed(const std::uint8_t* data, std::size_t size);

  /// Goes on with the handshake, which the dialler begins without being fed.
  verdict shake();

  /// Who is at the other end. Precondition: the handshake is done.
  const peer_id& peer() const;

  /// Decrypts to `into` at most `size` bytes, and at most one record.
  portion read(std::uint8_t* into, std::size_t size);

  /// Encrypts. Small pieces wait for a full record or for `flush`; large ones
  /// are encrypted from where they lie. Nothing may refer to them afterwards.
  /// After a failure, which this may be, nothing is written: see `failed`.
  void write(const std::uint8_t* data, std::size_t size);
  void flush();

  /// Nothing more will be written. Does nothing after a failure.
  void say_goodbye();

  /// Whether there are bytes to be sent.
  std::size_t output_size() const {
    return output_.size();
  }
  /// Swaps them for `into`, whose memory is used again.
  void take_output(byte_array& into);
  /// Has room for so much output at once.
  void make_room(std::size_t bytes);
  /// Gives the memory back that is kept for further output.
  void rest();

  /// For good.
  bool failed() const {
    return failed_;
  }
  /// Why: a sentence about the other side.
  const std::string& failure() const {
    return failure_;
  }

private:
  struct wire;

  void hear_late_message();
  portion failed_or_more(int result);
  void encrypt(const std::uint8_t* data, std::size_t size);

  const std::uint64_t key_life_;
  certificate_check shown_; ///< By the other side.
  std::unique_ptr<ssl_st, void (*)(ssl_st*)> ssl_;
  std::uint64_t records_ = 0; ///< With the present key.
  /// For messages of the handshake after it, less what has come since.
  std::size_t late_bytes_ = 0;
  bool shaken_ = false;
  const std::uint8_t* fed_ = nullptr;
  std::size_t fed_size_ = 0;
  byte_array output_;
  std::vector<std::uint8_t> small_; ///< Waits for a full record.
  bool failed_ = false;
  std::string failure_;
};

/// What the first bytes on a connection are.
enum class first_words {
  tls,   ///< As far as one sees.
  frame, ///< Of a peer that does not encrypt.
  other, ///< Of some other program.
};

/// Precondition: `size` is above zero.
first_words recognize(const std::uint8_t* data, std::size_t size);

/// A fatal alert, unencrypted: what to answer to somebody who does not speak
/// TLS, so that a peer at least is told why.
std::vector<std::uint8_t> not_tls_alert();

} // namespace potluck
