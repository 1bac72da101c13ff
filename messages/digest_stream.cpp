#include "messages/digest_stream.hpp"

#include <cstring>
#include <new>

#include "messages/hashing.hpp"

namespace potluck {

struct digest_stream::hash {
  hash() : state(XXH3_createState()) {
    if (state == nullptr || XXH3_128bits_reset(state) != XXH_OK)
      throw std::bad_alloc{};
  }
  ~hash() {
    XXH3_freeState(state);
  }
  hash(const hash&) = delete;
  hash& operator=(const hash&) = delete;

  XXH3_state_t* state;
};

digest_stream::digest_stream() : hash_(std::make_unique<hash>()) {
}
digest_stream::~digest_stream() = default;
digest_stream::digest_stream(digest_stream&&) noexcept = default;
digest_stream& digest_stream::operator=(digest_stream&&) noexcept = default;

void digest_stream::add(const void* data, std::size_t size) {
  // Fails for no other reason than a state or data that is null.
  if (size > 0)
    XXH3_128bits_update(hash_->state, data, size);
}

digest digest_stream::result() const {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(hash_->state));
  digest result;
  std::memcpy(result.bytes.data(), canonical.digest, result.bytes.size());
  return result;
}

} // namespace potluck
