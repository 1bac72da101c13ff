#include "runtime/uv/tls_records.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace potluck {

namespace {

constexpr std::uint8_t new_session_ticket = 4, key_update = 24;
constexpr std::size_t message_header_bytes = 4;

/// Room for what is encrypted before it is written.
constexpr std::size_t usual_batch_bytes = 17 * whole_record_bytes;

} // namespace

// ---- out
// -----------------------------------------------------------------

record_sealer::record_sealer(tls_cipher which, const traffic_secret& secret,
                             std::uint64_t records_per_key)
    : key_(which, secret, traffic_key::use::seal),
      records_per_key_(records_per_key) {
}

void record_sealer::seal(const std::uint8_t* data, std::size_t size,
                         byte_array& output) {
  // Behind a whole record comes a batch of them.
  if (output.empty() && size >= record_bytes)
    output.reserve(usual_batch_bytes);
  while (size > 0) {
    if (due_ || key_.records() >= records_per_key_) {
      // The old key's last record; it asks for none in return.
      constexpr std::uint8_t message[] = {key_update, 0, 0, 1, 0};
      append(record_type::handshake, message, sizeof(message), output);
      key_.replace();
      due_ = false;
    }
    const auto part = std::min(size, record_bytes);
    append(record_type::application_data, data, part, output);
    data += part;
    size -= part;
  }
}

void record_sealer::seal(tls_alert what, byte_array& output) {
  constexpr std::uint8_t warning = 1, fatal = 2;
  const std::uint8_t content[]
      = {what == tls_alert::close_notify ? warning : fatal,
         static_cast<std::uint8_t>(what)};
  append(record_type::alert, content, sizeof(content), output);
}

void record_sealer::append(record_type type, const std::uint8_t* data,
                           std::size_t size, byte_array& output) {
  const auto before = output.size();
  output.resize(before + size + record_overhead_bytes);
  key_.seal(static_cast<std::uint8_t>(type), data, size,
            output.data() + before);
}

// ---- in
// -----------------------------------------------------------------

record_opener::record_opener(tls_cipher which, const traffic_secret& secret,
                             bool tickets)
    : key_(which, secret, traffic_key::use::open), tickets_(tickets) {
}

void record_opener::feed(const std::uint8_t* data, std::size_t size) {
  if (fed_size_ != 0)
    throw std::logic_error("record_opener: fed before the last was used up");
  fed_ = data;
  fed_size_ = size;
}

bool record_opener::take_update_request() {
  return std::exchange(update_requested_, false);
}

record_opener::outcome record_opener::read(std::uint8_t* into,
                                           std::size_t size) {
  if (!opened_.empty())
    return hand_out(into, size);
  while (ended_ == verdict::more) {
    const auto* record = next_record();
    if (record == nullptr)
      break;
    const auto result = open(record, into, size);
    if (record == partial_.data())
      byte_array{}.swap(partial_);
    if (result.what != verdict::more)
      return result;
  }
  if (ended_ != verdict::more)
    fed_size_ = 0; // What comes behind an end is ignored (section 6.1).
  return {ended_};
}

/// The next one, once it is there as a whole; null when it is not, or will not
/// be taken.
const std::uint8_t* record_opener::next_record() {
  const bool cut = !partial_.empty() || fed_size_ < record_header_bytes;
  if (cut)
    gather(record_header_bytes);
  const auto* record = cut ? partial_.data() : fed_;
  if (cut && partial_.size() < record_header_bytes)
    return nullptr;
  // Before the rest is waited for. An unencrypted alert proves nothing.
  if (record[0] != static_cast<std::uint8_t>(record_type::application_data)) {
    end(verdict::refused, tls_alert::unexpected_message);
    return nullptr;
  }
  if (record[1] != 3 || record[2] != 3) {
    end(verdict::refused, tls_alert::decode_error);
    return nullptr;
  }
  const auto whole = record_header_bytes + carried_bytes(record);
  if (whole > whole_record_bytes) {
    end(verdict::refused, tls_alert::record_overflow);
    return nullptr;
  }
  if (whole < record_overhead_bytes) {
    end(verdict::refused, tls_alert::bad_record_mac);
    return nullptr;
  }
  if (!cut && fed_size_ >= whole) {
    fed_ += whole;
    fed_size_ -= whole;
    return record;
  }
  gather(whole);
  return partial_.size() == whole ? partial_.data() : nullptr;
}

/// Takes what was fed until `partial_` has so many bytes.
void record_opener::gather(std::size_t size) {
  if (partial_.size() >= size || fed_size_ == 0)
    return;
  const auto part = std::min(size - partial_.size(), fed_size_);
  partial_.reserve(size);
  const auto before = partial_.size();
  partial_.resize(before + part);
  // Inserted, they would be constructed one by one.
  std::memcpy(partial_.data() + before, fed_, part);
  fed_ += part;
  fed_size_ -= part;
}

/// `more` when there was nothing in it for who reads.
record_opener::outcome record_opener::open(const std::uint8_t* record,
                                           std::uint8_t* into,
                                           std::size_t size) {
  auto length = carried_bytes(record) - record_tag_bytes - 1;
  const bool fits = length <= size;
  byte_array elsewhere(fits ? 0 : length);
  auto* content = fits ? into : elsewhere.data();
  std::uint8_t type = 0;
  if (!key_.open(record, content, type))
    return end(verdict::refused, tls_alert::bad_record_mac);
  // Padding, which is zeros, stands behind the type.
  while (type == 0 && length > 0)
    type = content[--length];
  const auto result = take(type, content, length);
  if (result.what != verdict::content || fits)
    return result;
  elsewhere.resize(length);
  opened_.swap(elsewhere);
  return hand_out(into, size);
}

record_opener::outcome record_opener::hand_out(std::uint8_t* into,
                                               std::size_t size) {
  const auto part = std::min(size, opened_.size() - handed_out_);
  std::memcpy(into, opened_.data() + handed_out_, part);
  handed_out_ += part;
  if (handed_out_ == opened_.size()) {
    byte_array{}.swap(opened_);
    handed_out_ = 0;
  }
  return {verdict::content, part};
}

record_opener::outcome record_opener::take(std::uint8_t type,
                                           const std::uint8_t* content,
                                           std::size_t size) {
  const bool between_messages = message_size_ == 0 && skip_ == 0;
  if (type == static_cast<std::uint8_t>(record_type::handshake))
    return take_handshake(content, size);
  if (!between_messages) // Nothing may stand in one (section 5.1).
    return end(verdict::refused, tls_alert::unexpected_message);
  if (type == static_cast<std::uint8_t>(record_type::alert))
    return take_alert(content, size);
  if (type != static_cast<std::uint8_t>(record_type::application_data))
    return end(verdict::refused, tls_alert::unexpected_message);
  if (size > 0) {
    idle_ = 0;
    return {verdict::content, size};
  }
  if (++idle_ > idle_records)
    return end(verdict::refused, tls_alert::unexpected_message);
  return {verdict::more};
}

record_opener::outcome record_opener::take_alert(const std::uint8_t* content,
                                                 std::size_t size) {
  if (size != 2) // One alert, whole (section 5.1).
    return end(verdict::refused, tls_alert::decode_error);
  const auto what = static_cast<tls_alert>(content[1]);
  if (what == tls_alert::close_notify)
    return end(verdict::closed, what);
  if (what != tls_alert::user_canceled) // Whatever its level says.
    return end(verdict::alerted, what);
  if (++idle_ > idle_records)
    return end(verdict::refused, tls_alert::unexpected_message);
  return {verdict::more};
}

/// Messages may share a record and be cut by records. Of those that may come
/// after a handshake, key updates are obeyed, and tickets, which a program may
/// send that does not know better, skipped.
record_opener::outcome
record_opener::take_handshake(const std::uint8_t* content, std::size_t size) {
  if (size == 0 || ++idle_ > idle_records)
    return end(verdict::refused, tls_alert::unexpected_message);
  while (size > 0) {
    const auto skipped = std::min(skip_, size);
    skip_ -= skipped;
    content += skipped;
    size -= skipped;
    if (size == 0)
      break;
    message_[message_size_++] = *content++;
    --size;
    if (message_size_ < message_header_bytes)
      continue;
    const auto length = static_cast<std::size_t>(message_[1]) << 16
                        | static_cast<std::size_t>(message_[2]) << 8
                        | message_[3];
    if (message_[0] == new_session_ticket && tickets_) {
      if (length > record_bytes)
        return end(verdict::refused, tls_alert::illegal_parameter);
      skip_ = length;
      message_size_ = 0;
      continue;
    }
    if (message_[0] != key_update)
      return end(verdict::refused, tls_alert::unexpected_message);
    if (length != 1)
      return end(verdict::refused, tls_alert::decode_error);
    if (message_size_ == message_header_bytes)
      continue;
    if (message_[4] > 1)
      return end(verdict::refused, tls_alert::illegal_parameter);
    if (size > 0) // What follows has another key (section 5.1).
      return end(verdict::refused, tls_alert::unexpected_message);
    update_requested_ = update_requested_ || message_[4] == 1;
    message_size_ = 0;
    key_.replace();
  }
  return {verdict::more};
}

/// Nothing is taken from here on.
record_opener::outcome record_opener::end(verdict what, tls_alert alert) {
  ended_ = what;
  alert_ = alert;
  fed_size_ = 0;
  return {what};
}

} // namespace potluck
