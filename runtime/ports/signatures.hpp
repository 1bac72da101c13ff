/// Signing as one peer, and checking what others have signed: Ed25519
/// (identity/key_pair.hpp), or names that vouch for themselves where a
/// simulation has no keys.
#pragma once

#include <memory>
#include <string_view>

#include "messages/seal.hpp"

namespace potluck {

class signatures {
public:
  virtual ~signatures() = default;

  /// This peer's own.
  virtual public_key key() const = 0;
  /// By this peer.
  virtual signature sign(std::string_view bytes) const = 0;

  /// Which peer holds the other half of a key.
  virtual peer_id owner_of(const public_key& key) const = 0;
  virtual bool fits(const signature& x, const public_key& key,
                    std::string_view bytes) const = 0;
};

/// Any thread may use them.
using shared_signatures = std::shared_ptr<const signatures>;

} // namespace potluck
