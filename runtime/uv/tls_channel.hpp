/// One end of a TLS connection, between the bytes on the wire and those of
/// frames. Does no I/O: what came is fed, what is to be sent piles up.
///
/// OpenSSL shakes hands, and is done then; what follows is `tls_records`.
///
///     feed(what came) -> shake() until done
///     feed(what came) -> read() until `more`
///     write() ..., flush() -> take_output()
///
/// What was fed is used up by the calls that follow, before the next `feed`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/uv/tls_context.hpp"
#include "runtime/uv/tls_records.hpp"

struct ssl_st; // OpenSSL's SSL.

namespace potluck {

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

  /// @param records_per_key After so many records the key is replaced.
  tls_channel(const tls_context& context, side which,
              std::uint64_t records_per_key);
  ~tls_channel();
  tls_channel(const tls_channel&) = delete;
  tls_channel& operator=(const tls_channel&) = delete;

  /// The stream's next bytes, which must stay until they are used up.
  void feed(const std::uint8_t* data, std::size_t size);

  /// Goes on with the handshake, which the dialler begins without being fed.
  verdict shake();

  /// Who is at the other end. Precondition: the handshake is done.
  const peer_id& peer() const;

  /// Decrypts at most `size` bytes to `into`: straight from what was fed, if
  /// there is room for a record, or for all that one carries. What of `into` is
  /// behind them may be overwritten.
  portion read(std::uint8_t* into, std::size_t size);

  /// Encrypts. Small pieces wait for a full record or for `flush`; large ones
  /// are encrypted from where they lie. Nothing may refer to them afterwards.
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
  /// Gives the memory back that is kept for further output.
  void rest();

  /// Why the handshake or a read failed: a sentence about the other side.
  const std::string& failure() const {
    return failure_;
  }

private:
  struct wire;

  verdict failed_or_more(int result);
  verdict take_over();
  void encrypt(const std::uint8_t* data, std::size_t size);

  const side side_;
  const std::uint64_t records_per_key_;
  handshake_result result_; ///< Its secrets are copied to where they are used.
  std::unique_ptr<ssl_st, void (*)(ssl_st*)> ssl_; ///< Null once it is done.
  std::optional<record_sealer> sealer_;            ///< Then there are these.
  std::optional<record_opener> opener_;
  const std::uint8_t* fed_ = nullptr; ///< For the handshake.
  std::size_t fed_size_ = 0;
  byte_array output_;
  std::vector<std::uint8_t> small_; ///< Waits for a full record.
  bool failed_ = false;
  bool goodbye_said_ = false;
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
