#include "runtime/sandbox/inside/service.hpp"

#include <cerrno>
#include <exception>
#include <new>
#include <string_view>

#include <unistd.h>

#include "runtime/sandbox/frames.hpp"

namespace potluck::sandbox {

namespace {

bool read_all(char* out, std::size_t size) {
  while (size > 0) {
    const auto got = ::read(channel, out, size);
    if (got == 0 || (got < 0 && errno != EINTR))
      return false;
    if (got > 0) {
      out += got;
      size -= static_cast<std::size_t>(got);
    }
  }
  return true;
}

bool write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto put = ::write(channel, bytes.data(), bytes.size());
    if (put < 0 && errno != EINTR)
      return false;
    if (put > 0)
      bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

bool say(answer_kind kind, std::string_view body) {
  return write_all(frame_head(static_cast<std::uint8_t>(kind), body.size()))
         && write_all(body);
}

bool answer(std::uint8_t kind, const std::string& body,
            const request_handler& handle) {
  try {
    const auto result = handle(kind, body);
    return result ? say(answer_kind::done, *result)
                  : say(answer_kind::refused, result.error());
  } catch (const std::bad_alloc&) {
    return say(answer_kind::out_of_memory, {});
  } catch (const std::exception& x) {
    return say(answer_kind::refused, x.what());
  }
}

} // namespace

void decline(const std::string& reason) {
  say(answer_kind::unconfined, reason);
}

void serve(const std::string& greeting, std::size_t largest_request,
           const request_handler& handle) {
  if (!say(answer_kind::done, greeting))
    return;
  char head[frame_head_bytes];
  while (read_all(head, sizeof(head))) {
    const auto data = reinterpret_cast<const std::uint8_t*>(head);
    const auto size = get_little_endian<std::uint32_t>(data + 1);
    if (size > largest_request)
      return;
    std::string body(size, '\0');
    if (!read_all(body.data(), size) || !answer(data[0], body, handle))
      return;
  }
}

} // namespace potluck::sandbox
