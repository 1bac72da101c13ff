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
             "program, or run with insecure";
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

/// Destroys the keys that were made for the handshake alone, which OpenSSL
/// keeps as long as the connection: whoever gets hold of this machine later
/// must not find them, and a hub has thousands.
void destroy_handshake_keys(SSL* ssl) {
  for (const auto which : {SSL_CTRL_GET_TMP_KEY, SSL_CTRL_GET_PEER_TMP_KEY}) {
    EVP_PKEY* key = nullptr;
    if (SSL_ctrl(ssl, which, 0, &key) == 1)
      EVP_PKEY_set_type(key, EVP_PKEY_X25519); // Empty from here on.
    EVP_PKEY_free(key);
  }
  ERR_clear_error();
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

  /// Called for each message that OpenSSL has read or written, among others.
  static void note(int written, int, int type, const void*, std::size_t, SSL*,
                   void* self) {
    if (written == 0 && type == SSL3_RT_HANDSHAKE)
      static_cast<tls_channel*>(self)->hear_late_message();
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
                         std::uint64_t key_life)
    : key_life_(key_life), ssl_(SSL_new(context.native()), SSL_free) {
  auto* bio = ssl_ ? BIO_new(wire::method()) : nullptr;
  ERR_clear_error();
  if (bio == nullptr)
    throw std::bad_alloc{};
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio); // Frees it.
  SSL_set_app_data(ssl_.get(), &shown_);
  SSL_set_msg_callback(ssl_.get(), wire::note);
  SSL_set_msg_callback_arg(ssl_.get(), this);
  if (which == side::dialler)
    SSL_set_connect_state(ssl_.get());
  else
    SSL_set_accept_state(ssl_.get());
}

tls_channel::~tls_channel() = default;

void tls_channel::ask_for(const peer_id& whom) {
  SSL_set_tlsext_host_name(ssl_.get(), server_name_of(whom).c_str());
}

const ssl_ctx_st* tls_channel::shows() const {
  return SSL_get_SSL_CTX(ssl_.get());
}

void tls_channel::feed(const std::uint8_t* data, std::size_t size) {
  if (fed_size_ != 0)
    throw std::logic_error("tls_channel: fed before the last was used up");
  fed_ = data;
  fed_size_ = size;
}

tls_channel::verdict tls_channel::shake() {
  ERR_clear_error();
  const auto result = SSL_do_handshake(ssl_.get());
  if (result != 1)
    return failed_or_more(result).what;
  if (!std::exchange(shaken_, true))
    destroy_handshake_keys(ssl_.get());
  return verdict::done;
}

const peer_id& tls_channel::peer() const {
  if (!shaken_ || shown_.what != certificate_check::verdict::sound)
    throw std::logic_error("tls_channel: nobody has proven anything yet");
  return shown_.id;
}

tls_channel::portion tls_channel::read(std::uint8_t* into, std::size_t size) {
  if (!shaken_)
    throw std::logic_error("tls_channel: nobody has proven anything yet");
  if (failed_) {
    fed_size_ = 0;
    return {verdict::failed, 0};
  }
  ERR_clear_error();
  std::size_t got = 0;
  const auto result = SSL_read_ex(ssl_.get(), into, size, &got);
  late_bytes_ -= std::min(late_bytes_, got);
  return result == 1 ? portion{verdict::done, got} : failed_or_more(result);
}

/// The answer to one costs much more than to ask for it.
void tls_channel::hear_late_message() {
  if (!shaken_ || failed_)
    return;
  late_bytes_ += bytes_per_late_message;
  if (late_bytes_ <= late_messages * bytes_per_late_message)
    return;
  failed_ = true;
  failure_ = "the other side asks for new keys again and again";
  fed_size_ = 0; // OpenSSL, which would go on, finds nothing more.
}

tls_channel::portion tls_channel::failed_or_more(int result) {
  if (failed_)
    return {verdict::failed, 0};
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {verdict::more, 0};
    case SSL_ERROR_ZERO_RETURN:
      fed_size_ = 0; // What follows a goodbye is ignored.
      return {verdict::closed, 0};
    default:
      failed_ = true;
      failure_ = describe(ERR_peek_error(), shown_);
      ERR_clear_error();
      fed_size_ = 0;
      return {verdict::failed, 0};
  }
}

void tls_channel::write(const std::uint8_t* data, std::size_t size) {
  if (size >= large_piece_bytes) {
    flush();
    encrypt(data, size);
    return;
  }
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
  if (!shaken_)
    throw std::logic_error("tls_channel: nobody has proven anything yet");
  ERR_clear_error();
  if (records_ >= key_life_) {
    SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED);
    records_ = 0;
  }
  std::size_t put = 0;
  const auto result = SSL_write_ex(ssl_.get(), data, size, &put);
  records_ += (size + record_bytes - 1) / record_bytes;
  if (result == 1)
    return;
  // Within a message of the handshake that the other side has cut into records,
  // which nobody needs to, OpenSSL writes nothing before it has the rest.
  if (failed_or_more(result).what == verdict::more) {
    failed_ = true;
    failure_ = "the encrypted connection failed: the other side began a "
               "message and did not end it";
  }
}

void tls_channel::say_goodbye() {
  // A second call would wait for the other side's.
  if (!shaken_ || failed_
      || (SSL_get_shutdown(ssl_.get()) & SSL_SENT_SHUTDOWN) != 0)
    return;
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

void tls_channel::take_output(byte_array& into) {
  into.clear();
  into.swap(output_);
}

void tls_channel::make_room(std::size_t bytes) {
  output_.reserve(output_.size() + bytes);
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
