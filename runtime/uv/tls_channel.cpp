#include "runtime/uv/tls_channel.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

namespace potluck {

namespace {

/// Pieces of at least so much become records of their own: copying them into a
/// shared one would cost more than a record does.
constexpr std::size_t large_piece_bytes = 4 * 1024;

constexpr std::uint8_t handshake_record = 22;
constexpr std::uint8_t alert_record = 21;

/// A sentence about the other side, from OpenSSL's first error.
std::string describe(unsigned long error, const certificate_check& shown) {
  switch (ERR_GET_REASON(error)) {
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      return std::string{"the other side "}
             + in_words(certificate_check::verdict::missing);
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
      return std::string{"the other side "} + in_words(shown.what);
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_WRONG_SSL_VERSION:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return "the other side does not speak TLS 1.3; it may be another "
             "program, or run with --insecure";
    case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC:
      return "corrupt record: bits changed on the way, or somebody meddled";
    case SSL_R_SSLV3_ALERT_BAD_RECORD_MAC:
      return "corrupt record, says the other side: bits changed on the way, or "
             "somebody meddled";
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
      return "the other side did not accept our certificate";
    default:
      break;
  }
  auto* words = ERR_reason_error_string(error);
  return std::string{"the encrypted connection failed: "}
         + (words != nullptr ? words : "no reason known");
}

/// OpenSSL's reason for what was refused (see `record_opener`).
int reason_of(tls_alert answer) {
  switch (answer) {
    case tls_alert::record_overflow:
      return SSL_R_ENCRYPTED_LENGTH_TOO_LONG;
    case tls_alert::decode_error:
      return SSL_R_BAD_LENGTH;
    case tls_alert::illegal_parameter:
      return SSL_R_BAD_KEY_UPDATE;
    case tls_alert::unexpected_message:
      return SSL_R_UNEXPECTED_MESSAGE;
    default:
      return SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC;
  }
}

/// OpenSSL's reason for an alert that came.
int reason_for(tls_alert alert) {
  return SSL_AD_REASON_OFFSET + static_cast<int>(alert);
}

} // namespace

/// What OpenSSL takes for its network: the bytes that were fed, and the output.
struct tls_channel::wire {
  static int read(BIO* x, char* into, std::size_t size, std::size_t* got) {
    auto* self = static_cast<tls_channel*>(BIO_get_data(x));
    BIO_clear_retry_flags(x);
    *got = std::min(size, self->fed_size_);
    if (*got == 0) {
      BIO_set_retry_read(x);
      return 0;
    }
    std::memcpy(into, self->fed_, *got);
    self->fed_ += *got;
    self->fed_size_ -= *got;
    return 1;
  }

  static int write(BIO* x, const char* data, std::size_t size,
                   std::size_t* put) {
    auto* self = static_cast<tls_channel*>(BIO_get_data(x));
    BIO_clear_retry_flags(x);
    auto& output = self->output_;
    output.insert(output.end(), data, data + size);
    *put = size;
    return 1;
  }

  static long control(BIO*, int what, long, void*) {
    return what == BIO_CTRL_FLUSH ? 1 : 0;
  }

  static const BIO_METHOD* method() {
    static const std::unique_ptr<BIO_METHOD, void (*)(BIO_METHOD*)> made{
        [] {
          auto* x = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK,
                                 "potluck");
          if (x != nullptr) {
            BIO_meth_set_read_ex(x, read);
            BIO_meth_set_write_ex(x, write);
            BIO_meth_set_ctrl(x, control);
          }
          return x;
        }(),
        BIO_meth_free};
    return made.get();
  }
};

tls_channel::tls_channel(const tls_context& context, side which,
                         std::uint64_t records_per_key)
    : side_(which), records_per_key_(records_per_key),
      ssl_(SSL_new(context.native()), SSL_free) {
  auto* bio = ssl_ ? BIO_new(wire::method()) : nullptr;
  ERR_clear_error();
  if (bio == nullptr)
    throw std::bad_alloc{};
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio); // Frees it.
  SSL_set_app_data(ssl_.get(), &result_);
  if (which == side::dialler)
    SSL_set_connect_state(ssl_.get());
  else
    SSL_set_accept_state(ssl_.get());
}

tls_channel::~tls_channel() = default;

void tls_channel::feed(const std::uint8_t* data, std::size_t size) {
  if (opener_)
    return opener_->feed(data, size);
  if (fed_size_ != 0)
    throw std::logic_error("tls_channel: fed before the last was used up");
  fed_ = data;
  fed_size_ = size;
}

tls_channel::verdict tls_channel::shake() {
  if (opener_)
    return verdict::done;
  ERR_clear_error();
  auto result = SSL_do_handshake(ssl_.get());
  if (result != 1)
    return failed_or_more(result);
  return take_over();
}

/// OpenSSL has read what belongs to the handshake, record by record, and not a
/// byte more; what else was fed is ours.
tls_channel::verdict tls_channel::take_over() {
  const auto cipher
      = SSL_CIPHER_get_protocol_id(SSL_get_current_cipher(ssl_.get()))
                == (TLS1_3_CK_AES_128_GCM_SHA256 & 0xffff)
            ? tls_cipher::aes_128_gcm
            : tls_cipher::chacha20_poly1305;
  if (!result_.knows_client || !result_.knows_server
      || SSL_has_pending(ssl_.get()) != 0) {
    // No peer can bring that about: OpenSSL refuses a last flight that does not
    // end with its record. If one could, it would lose its connection by it.
    failed_ = true;
    failure_ = "the encrypted connection failed: its handshake has no end";
    fed_size_ = 0;
    return verdict::failed;
  }
  const bool dialled = side_ == side::dialler;
  sealer_.emplace(cipher, dialled ? result_.client : result_.server,
                  records_per_key_);
  opener_.emplace(cipher, dialled ? result_.server : result_.client, dialled);
  opener_->feed(fed_, std::exchange(fed_size_, 0));
  result_.client = result_.server = {};
  ssl_.reset();
  return verdict::done;
}

const peer_id& tls_channel::peer() const {
  if (!opener_ || result_.shown.what != certificate_check::verdict::sound)
    throw std::logic_error("tls_channel: nobody has proven anything yet");
  return result_.shown.id;
}

tls_channel::portion tls_channel::read(std::uint8_t* into, std::size_t size) {
  if (!opener_)
    throw std::logic_error("tls_channel: nobody has proven anything yet");
  const auto got = opener_->read(into, size);
  // Answered before we write again, once for all that came until then.
  if (opener_->take_update_request())
    sealer_->replace_soon();
  switch (got.what) {
    case record_opener::verdict::content:
      return {verdict::done, got.size};
    case record_opener::verdict::more:
      return {verdict::more, 0};
    case record_opener::verdict::closed:
      return {verdict::closed, 0};
    default:
      break;
  }
  if (!std::exchange(failed_, true)) {
    const bool refused = got.what == record_opener::verdict::refused;
    const auto alert = opener_->alert();
    const auto reason = refused ? reason_of(alert) : reason_for(alert);
    failure_ = describe(ERR_PACK(ERR_LIB_SSL, 0, reason), result_.shown);
    if (refused)
      sealer_->seal(alert, output_);
  }
  return {verdict::failed, 0};
}

tls_channel::verdict tls_channel::failed_or_more(int result) {
  if (SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_READ)
    return verdict::more;
  failed_ = true;
  failure_ = describe(ERR_peek_error(), result_.shown);
  ERR_clear_error();
  fed_size_ = 0;
  return verdict::failed;
}

void tls_channel::write(const std::uint8_t* data, std::size_t size) {
  if (size >= large_piece_bytes) {
    flush();
    encrypt(data, size);
    return;
  }
  if (small_.capacity() == 0)
    small_.reserve(record_bytes);
  if (small_.size() + size > record_bytes)
    flush();
  small_.insert(small_.end(), data, data + size);
}

void tls_channel::flush() {
  if (small_.empty())
    return;
  encrypt(small_.data(), small_.size());
  small_.clear();
}

void tls_channel::encrypt(const std::uint8_t* data, std::size_t size) {
  if (failed_) // The connection is about to end, and hears why.
    return;
  if (!sealer_)
    throw std::logic_error("tls_channel: nobody has proven anything yet");
  sealer_->seal(data, size, output_);
}

void tls_channel::say_goodbye() {
  if (sealer_ && !failed_ && !std::exchange(goodbye_said_, true))
    sealer_->seal(tls_alert::close_notify, output_);
}

void tls_channel::take_output(byte_array& into) {
  into.clear();
  into.swap(output_);
}

void tls_channel::rest() {
  byte_array{}.swap(output_);
  std::vector<std::uint8_t>{}.swap(small_);
}

first_words recognize(const std::uint8_t* data, std::size_t size) {
  if (data[0] == handshake_record || data[0] == alert_record)
    return first_words::tls;
  constexpr char magic[] = {'P', 'L', 'K'};
  return std::memcmp(data, magic, std::min(size, sizeof(magic))) == 0
             ? first_words::frame
             : first_words::other;
}

std::vector<std::uint8_t> not_tls_alert() {
  constexpr std::uint8_t fatal = 2, protocol_version = 70;
  return {alert_record, 3, 3, 0, 2, fatal, protocol_version};
}

} // namespace potluck
