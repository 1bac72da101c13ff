/// TLS 1.3's record layer once the handshake is over (RFC 8446, section 5):
/// frames' bytes to records, and records to bytes. Does no I/O.
///
/// OpenSSL's own copies every byte twice on each side, for it does not know
/// where they come from and belong. Here they are encrypted from where they lie
/// to what is written, and decrypted from what was read to where they belong.
#pragma once

#include "runtime/recycled_memory.hpp"
#include "runtime/uv/tls_keys.hpp"

namespace potluck {

/// What one record carries at most; each adds 22 bytes to what it carries.
constexpr std::size_t record_bytes = 16 * 1024;
constexpr std::size_t record_overhead_bytes
    = record_header_bytes + 1 + record_tag_bytes;
/// One that is full.
constexpr std::size_t whole_record_bytes = record_bytes + record_overhead_bytes;

/// Records in a row that may carry nothing for us (empty ones, tickets, key
/// updates): each costs us more than who sends it.
constexpr unsigned idle_records = 32;

/// What a record carries (section 5.1).
enum class record_type : std::uint8_t {
  alert = 21,
  handshake = 22,
  application_data = 23,
};

/// Those that we send, and those that we tell apart (section 6).
enum class tls_alert : std::uint8_t {
  close_notify = 0,
  unexpected_message = 10,
  bad_record_mac = 20,
  record_overflow = 22,
  illegal_parameter = 47,
  decode_error = 50,
  user_canceled = 90,
};

class record_sealer {
public:
  /// @param records_per_key After so many the key is replaced (section 5.5).
  record_sealer(tls_cipher which, const traffic_secret& secret,
                std::uint64_t records_per_key);

  /// Appends records with these bytes to `output`, full ones but for the last.
  void seal(const std::uint8_t* data, std::size_t size, byte_array& output);

  /// Appends an alert; any but `close_notify` is fatal.
  void seal(tls_alert what, byte_array& output);

  /// Replaces the key before more is sealed: the other side wants it.
  void replace_soon() {
    due_ = true;
  }

private:
  void append(record_type type, const std::uint8_t* data, std::size_t size,
              byte_array& output);

  traffic_key key_;
  const std::uint64_t records_per_key_;
  bool due_ = false;
};

/// Takes what comes as it was cut by the line.
///
///     feed(what came) -> read() until `more`
///
/// Gives out nothing of a record before its tag has been checked, and nothing
/// at all after the first that is not as it should be.
class record_opener {
public:
  enum class verdict {
    content, ///< `size` bytes of what the other side has written.
    more,    ///< All that was fed is used up, and more is needed.
    closed,  ///< The other side said that nothing more will come.
    alerted, ///< The other side has failed, and said how: see `alert`.
    refused, ///< It sent what it must not; `alert` is what to answer.
  };

  struct outcome {
    verdict what;
    std::size_t size = 0;
  };

  /// @param tickets Whether the other side may offer sessions to resume, which
  /// are not taken: only who accepted may (section 4.6.1).
  record_opener(tls_cipher which, const traffic_secret& secret, bool tickets);

  /// Must stay until it is used up. Precondition: the last is used up.
  void feed(const std::uint8_t* data, std::size_t size);

  /// Decrypts at most one record. Precondition: `size` is not zero.
  /// @param into Whatever is behind the bytes that are given out, up to `size`,
  /// may be overwritten.
  outcome read(std::uint8_t* into, std::size_t size);

  tls_alert alert() const {
    return alert_;
  }

  /// Whether the other side wants our key replaced; says so once.
  bool take_update_request();

private:
  const std::uint8_t* next_record();
  void gather(std::size_t size);
  outcome open(const std::uint8_t* record, std::uint8_t* into,
               std::size_t size);
  outcome take(std::uint8_t type, const std::uint8_t* content,
               std::size_t size);
  outcome take_alert(const std::uint8_t* content, std::size_t size);
  outcome take_handshake(const std::uint8_t* content, std::size_t size);
  outcome end(verdict what, tls_alert alert);
  outcome hand_out(std::uint8_t* into, std::size_t size);

  traffic_key key_;
  const bool tickets_;
  const std::uint8_t* fed_ = nullptr;
  std::size_t fed_size_ = 0;
  byte_array partial_; ///< The beginning of a record that was cut.
  byte_array opened_;  ///< Of a record that had no room.
  std::size_t handed_out_ = 0;
  /// Of the handshake message in progress: its header, then a key update's
  /// only byte. A ticket is skipped.
  std::array<std::uint8_t, 5> message_{};
  std::size_t message_size_ = 0;
  std::size_t skip_ = 0;
  unsigned idle_ = 0; ///< In a row.
  bool update_requested_ = false;
  verdict ended_ = verdict::more; ///< Else nothing is taken any more.
  tls_alert alert_ = tls_alert::close_notify;
};

} // namespace potluck
