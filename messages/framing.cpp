#include "messages/framing.hpp"

#include <cstring>
#include <memory>
#include <new>

#include "messages/hashing.hpp"

namespace potluck {

namespace {

constexpr char magic[] = {'P', 'L', 'K', '3'};
constexpr std::size_t checksum_offset = 12;

template <class T>
void put(std::uint8_t* out, T x) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    out[i] = static_cast<std::uint8_t>(x >> (8 * i));
}

template <class T>
T get(const std::uint8_t* in) {
  T x = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    x |= static_cast<T>(in[i]) << (8 * i);
  return x;
}

std::uint64_t checksum_of(const preamble& x, const std::uint8_t* head,
                          const digest& body) {
  struct release {
    void operator()(XXH3_state_t* state) const {
      XXH3_freeState(state);
    }
  };
  // Kept, so that a frame costs no allocation.
  thread_local std::unique_ptr<XXH3_state_t, release> kept{XXH3_createState()};
  auto* state = kept.get();
  auto bytes = write_preamble(x);
  if (state == nullptr || XXH3_64bits_reset(state) != XXH_OK
      || XXH3_64bits_update(state, bytes.data(), checksum_offset) != XXH_OK
      || XXH3_64bits_update(state, head, x.head_size) != XXH_OK
      || (x.body_size > 0
          && XXH3_64bits_update(state, body.bytes.data(), body.bytes.size())
                 != XXH_OK))
    throw std::bad_alloc{};
  return XXH3_64bits_digest(state);
}

digest digest_of_body(const std::uint8_t* body, std::size_t size) {
  return size > 0 ? digest_of(body, size) : digest{};
}

} // namespace

preamble preamble_for(const std::uint8_t* head, std::size_t head_size,
                      const std::uint8_t* body, std::size_t body_size,
                      const digest& body_digest) {
  preamble x{static_cast<std::uint32_t>(head_size),
             static_cast<std::uint32_t>(body_size), 0};
  x.checksum = checksum_of(x, head,
                           body_digest.empty() ? digest_of_body(body, body_size)
                                               : body_digest);
  return x;
}

bool intact(const preamble& x, const std::uint8_t* head,
            const std::uint8_t* body, digest* body_digest) {
  auto sum = digest_of_body(body, x.body_size);
  if (body_digest != nullptr)
    *body_digest = sum;
  return checksum_of(x, head, sum) == x.checksum;
}

std::array<std::uint8_t, preamble_bytes> write_preamble(const preamble& x) {
  std::array<std::uint8_t, preamble_bytes> bytes{};
  std::memcpy(bytes.data(), magic, sizeof(magic));
  put(bytes.data() + 4, x.head_size);
  put(bytes.data() + 8, x.body_size);
  put(bytes.data() + checksum_offset, x.checksum);
  return bytes;
}

std::optional<preamble> read_preamble(const std::uint8_t* bytes) {
  if (std::memcmp(bytes, magic, sizeof(magic)) != 0)
    return std::nullopt;
  preamble x{get<std::uint32_t>(bytes + 4), get<std::uint32_t>(bytes + 8),
             get<std::uint64_t>(bytes + checksum_offset)};
  if (x.head_size == 0 || x.head_size > max_head_bytes
      || x.body_size > max_body_bytes)
    return std::nullopt;
  return x;
}

} // namespace potluck
