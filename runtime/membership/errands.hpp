/// Dials on behalf of others: whom this peer sends, and for whom it goes.
///
/// Pure. A peer that asks to be dialled is, at its own host, by the peer that
/// it asks or by a guest of that one. So nobody is dialled who has not asked,
/// but on the word of a guest that lies; that costs the liar more bytes than it
/// causes (`errand_bytes`), and the limits below keep it from being a nuisance.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "messages/lines.hpp"
#include "runtime/membership/guest_book.hpp"
#include "runtime/membership/knock_limit.hpp"

namespace potluck {

class errands {
public:
  /// @param seed Of the choice whom to send.
  errands(const peer_id& self, std::uint64_t seed) : self_(self), seed_(seed) {
  }

  /// Whom to dial because it asks to be: nobody, or the asker at its own host.
  std::optional<contact> dials(const contact& asker, std::uint16_t port,
                               time_point now);
  /// Which guest to send instead: one of another host than the asker and this
  /// peer, both of the internet, that can be dialled if there is one. None:
  /// this peer goes itself.
  /// @param own Where others see this peer.
  std::optional<peer_id> send(const contact& asker, std::uint64_t nonce,
                              const std::string& own, const guest_book& guests,
                              time_point now);
  /// Whether to dial where a guest says that somebody asks to be.
  bool goes(const reach_errand& x, time_point now);
  /// Whose question a guest that was sent has answered; nobody's when it was
  /// not sent.
  std::optional<peer_id> answered(const peer_id& from, std::uint64_t nonce);

private:
  struct sent {
    peer_id whom, asker;
    std::uint64_t nonce = 0;
    time_point at;
  };

  peer_id self_;
  std::uint64_t seed_;
  std::uint64_t number_ = 0;
  knock_limit knocks_;
  knock_limit strangers_{limits::errand_pause, limits::errand_tries};
  std::vector<sent> sent_; ///< Not answered yet; the oldest first.
};

} // namespace potluck
