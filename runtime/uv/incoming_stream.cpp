#include "runtime/uv/incoming_stream.hpp"

#include <utility>

namespace potluck {

namespace {

/// Bodies from here on are read to where they belong.
constexpr std::size_t direct_bytes = 16 * 1024;
/// When bodies are read directly, what precedes them is read in small portions,
/// so that little of the body has to be copied.
constexpr std::size_t bulky_staging_bytes = 4 * 1024;

constexpr const char* damaged = "corrupt frame: bits changed on the way";
constexpr const char* no_frame
    = "the other side sent what is no frame; it may be another program, or a "
      "newer version";

} // namespace

incoming_stream::incoming_stream(tls_channel* tls, std::uint8_t* decrypted,
                                 listener& to)
    : tls_(tls), decrypted_(decrypted), to_(to),
      reader_(direct_bytes, tls == nullptr) {
}

frame_reader::window incoming_stream::room(std::uint8_t* staging) {
  if (tls_ != nullptr)
    return {staging, encrypted_staging_bytes};
  const auto body = reader_.direct();
  if (body.size > 0)
    return body;
  return {staging, reader_.bulky() ? bulky_staging_bytes : staging_bytes};
}

incoming_stream::outcome incoming_stream::take(const std::uint8_t* data,
                                               std::size_t size) {
  const bool first = !std::exchange(heard_, true);
  const auto words = first ? recognize(data, size) : first_words::tls;
  if (tls_ == nullptr) {
    if (first && words == first_words::tls)
      return {verdict::unrelated,
              "the other side encrypts, but this one was started with "
              "insecure: start both with it, or neither"};
    return data == reader_.direct().data ? filled(size) : cut(data, size);
  }
  if (words != first_words::tls)
    return {verdict::unrelated,
            words == first_words::frame
                ? "the other side does not encrypt: it was started with "
                  "insecure, or is an older potluck; start both alike"
                : "the other side does not speak TLS 1.3; it is another "
                  "program"};
  tls_->feed(data, size);
  if (!proven_) {
    switch (tls_->shake()) {
      case tls_channel::verdict::more:
        return {verdict::more, {}};
      case tls_channel::verdict::done:
        proven_ = true;
        to_.on_proven(tls_->peer());
        break;
      default:
        return {verdict::failed, tls_->failure()};
    }
  }
  return decrypt();
}

/// Takes frames from all that was fed.
incoming_stream::outcome incoming_stream::decrypt() {
  for (;;) {
    auto room = reader_.direct();
    const bool direct = room.size > 0;
    if (!direct)
      room = {decrypted_, record_bytes};
    const auto got = tls_->read(room.data, room.size);
    switch (got.what) {
      case tls_channel::verdict::done:
        if (auto x = direct ? filled(got.size) : cut(room.data, got.size);
            x.what != verdict::more)
          return x;
        break;
      case tls_channel::verdict::more:
        return {verdict::more, {}};
      case tls_channel::verdict::closed:
        return {verdict::ended, cut_short()};
      case tls_channel::verdict::failed:
        return {verdict::failed, tls_->failure()};
    }
  }
}

/// So much was read into the body in progress.
incoming_stream::outcome incoming_stream::filled(std::size_t size) {
  if (!reader_.filled(size))
    return {verdict::ended, damaged};
  if (reader_.complete())
    to_.on_whole(reader_.take());
  return {verdict::more, {}};
}

incoming_stream::outcome incoming_stream::cut(const std::uint8_t* data,
                                              std::size_t size) {
  while (size > 0) {
    const auto taken = reader_.feed(data, size);
    if (!taken)
      return {verdict::ended, reader_.corrupt() ? damaged : no_frame};
    if (reader_.complete())
      to_.on_whole(reader_.take());
    data += *taken;
    size -= *taken;
  }
  return {verdict::more, {}};
}

std::string incoming_stream::cut_short() const {
  return reader_.between_frames()
             ? "the other side closed the connection"
             : "the other side closed the connection within a frame";
}

std::string incoming_stream::reason_of_end() const {
  if (tls_ == nullptr)
    return cut_short();
  return proven_ ? "the other side ended, or the line was cut, without a "
                   "goodbye"
                 : "the other side closed the connection before it had proven "
                   "who it is";
}

} // namespace potluck
