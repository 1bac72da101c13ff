#include "runtime/admission/kept_admission.hpp"

#include <cstdint>

#include "messages/limits.hpp"
#include "runtime/manifest/byte_reader.hpp"

namespace potluck {

const std::size_t kept_admission::most_bytes = 2 * (2 + max_admission_bytes);

std::string to_bytes(const kept_admission& x) {
  std::string bytes;
  for (const auto* part : {&x.token, &x.voucher}) {
    append_little_endian(bytes, static_cast<std::uint16_t>(part->size()));
    bytes += *part;
  }
  return bytes;
}

kept_admission read_kept_admission(std::string_view bytes) {
  byte_reader all{bytes};
  kept_admission x;
  for (auto* part : {&x.token, &x.voucher})
    *part = all.bytes(all.integer<std::uint16_t>());
  return all.done() ? x : kept_admission{};
}

} // namespace potluck
