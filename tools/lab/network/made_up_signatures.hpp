/// Signatures of a world without keys: a peer's key is its id, and anybody
/// could sign for it. Nobody in a simulation does but where it plays a thief.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "runtime/ports/signatures.hpp"

namespace potluck {

class made_up_signatures : public signatures {
public:
  explicit made_up_signatures(const peer_id& self) : self_(self) {
  }

  public_key key() const override {
    public_key x;
    x.bytes = self_.bytes;
    return x;
  }
  signature sign(std::string_view bytes) const override {
    return signature_by(key(), bytes);
  }
  peer_id owner_of(const public_key& key) const override {
    peer_id x;
    x.bytes = key.bytes;
    return x;
  }
  bool fits(const signature& x, const public_key& key,
            std::string_view bytes) const override {
    return x == signature_by(key, bytes);
  }

private:
  static signature signature_by(const public_key& key, std::string_view bytes) {
    std::string all{key.bytes.begin(), key.bytes.end()};
    all += bytes;
    const auto sum = digest_of(all.data(), all.size());
    signature x;
    std::copy(sum.bytes.begin(), sum.bytes.end(), x.bytes.begin());
    std::copy_n(key.bytes.begin(), key.size, x.bytes.begin() + sum.size);
    return x;
  }

  peer_id self_;
};

inline shared_signatures made_up(const peer_id& self) {
  return std::make_shared<made_up_signatures>(self);
}

} // namespace potluck
