/// Seals this peer's records, and says which of those that others pass on are
/// their owners' own words.
///
/// Pure but for the arithmetic of signatures, which it bounds: what is known
/// already is not checked again, every sender has an allowance of checks, all
/// together have one, and whoever passes a forgery on is not read for a while:
/// an honest node would not have kept it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "messages/routing.hpp"
#include "runtime/clock.hpp"
#include "runtime/lines/token_bucket.hpp"
#include "runtime/ports/signatures.hpp"

namespace potluck {

class notary {
public:
  /// Signatures that are checked for one sender, and for all: one takes some 60
  /// microseconds, so a flood takes an eighth of a core. A frame has up to 256
  /// records, and a look-up's five answers have the same ones.
  static constexpr double checks_a_second = 100;
  static constexpr double checks_at_once = 1024;
  static constexpr double all_checks_a_second = 2000;
  static constexpr double all_checks_at_once = 8192;
  /// Whoever passed a forgery on is not read for so long.
  static constexpr duration shunned_for = std::chrono::minutes{10};
  /// Senders remembered, and what two clocks may differ by.
  static constexpr std::size_t most_senders = 1024;
  static constexpr std::uint64_t tolerance_ms = 5 * 60 * 1000;

  enum class verdict {
    sound,
    ill_typed, ///< Not what its kind allows, or no kind.
    expired,   ///< Its owner's time for it is over.
    early,     ///< It was signed later than now.
    forged,    ///< Its owner has not said that.
  };

  /// @param how Null: nothing is sealed, and nothing believed.
  explicit notary(shared_signatures how);

  /// What the clocks say: this peer's, and that of those that it chose
  /// (`swarm_clock`), in milliseconds since 1970. Records count that are fresh
  /// by either; what is sealed goes by the latter.
  void clocks(std::uint64_t own_ms, std::uint64_t swarm_ms);

  /// Makes a record this peer's own: its sub-key and its seal. False where it
  /// cannot: it has no key, or the record is against its kind's rule.
  bool seal(dht_record& x);

  /// Judges one record; its sub-key becomes its owner's id.
  verdict judge(dht_record& x) const;

  /// The number of what is known of a key and sub-key; none: nothing.
  using known = std::function<std::optional<std::uint64_t>(
      const record_key&, const std::string& subkey)>;
  /// Those of a frame that are sound and newer than what is known.
  std::vector<dht_record> read(const peer_id& from,
                               std::vector<dht_record> said,
                               const known& newest, time_point now);
  /// Forgeries that were seen.
  std::uint64_t forgeries() const {
    return forgeries_;
  }

private:
  struct sender {
    token_bucket checks{checks_a_second, checks_at_once};
    time_point heard;
    std::optional<time_point> shunned_until;
  };
  sender& sender_of(const peer_id& who, time_point now);

  shared_signatures how_;
  std::uint64_t own_ms_ = 0;
  std::uint64_t swarm_ms_ = 0;
  std::uint64_t last_number_ = 0; ///< Given to a record of this peer's.
  token_bucket all_{all_checks_a_second, all_checks_at_once};
  std::map<peer_id, sender> senders_;
  std::uint64_t forgeries_ = 0;
};

} // namespace potluck
