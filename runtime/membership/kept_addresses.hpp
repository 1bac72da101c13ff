/// The addresses that a peer keeps from one start to the next, so that it comes
/// back to its run when every bootstrap is gone: of peers that answered there,
/// of a few that say that they are there, and of a few bootstraps that records
/// name. And its own port, so that others find it where it was. Pure.
///
/// The text has a line for each, the latest first:
///
///     potluck addresses 1
///     port 41234
///     peer <id, 64 hex digits> <HOST:PORT> <last seen, seconds since 1970>
///     claim <likewise>
///     bootstrap <likewise>
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "messages/contact.hpp"

namespace potluck {

class kept_addresses {
public:
  /// Addresses kept, the bootstraps among them: a run's peers tell of all
  /// others, so that one that answers is enough.
  static constexpr std::size_t most = 64;
  static constexpr std::size_t most_bootstraps = 8;
  static constexpr std::size_t most_peers = most - most_bootstraps;
  static constexpr std::size_t most_claims = 16; ///< Of these peers.
  /// Seconds after which one that nobody met is forgotten.
  static constexpr std::uint64_t hearsay_life = 14 * 24 * 3600;
  /// Of them, the latest ones that a start tries, beside all bootstraps.
  static constexpr std::size_t most_tried = 32;
  /// Bytes of the text: 64 lines with the longest host that DNS knows.
  static constexpr std::size_t most_bytes = 32 * 1024;

  /// Reads what `text` wrote. Fails with the end of a sentence that begins with
  /// the file's name, when any of it is no such line.
  static expected<kept_addresses> read(const std::string& text);
  std::string text() const;

  /// The peer answered there, at this time in seconds since 1970.
  /// @returns Whether that is news.
  bool met(const contact& who, std::uint64_t seconds);
  /// A connected peer says that it listens there, on the host that it is
  /// connected from. Nobody else gives way to that but another that says so.
  bool claimed(const contact& who, std::uint64_t seconds);
  /// A record says that a bootstrap is there.
  bool named(const contact& bootstrap, std::uint64_t seconds);
  /// It is connected, wherever it is; does nothing when it was never met.
  /// @returns Whether it was.
  bool seen(const peer_id& who, std::uint64_t seconds);
  bool listens(std::uint16_t port);

  /// To be tried at a start: the latest first, those that nobody met last.
  std::vector<address> addresses() const;
  /// This peer's own; 0: unknown.
  std::uint16_t port() const {
    return port_;
  }
  std::size_t size() const {
    return all_.size();
  }

private:
  /// How it is known; the best first.
  enum class word { met, claim, bootstrap };
  struct entry {
    address where;
    std::uint64_t seen = 0;
    word how = word::met;
  };
  using entries = std::map<peer_id, entry>;

  static std::size_t most_of(word how);
  std::size_t count(word how) const;
  bool put(const contact& who, entry x);
  /// Those that are no bootstraps.
  std::size_t peers() const {
    return all_.size() - count(word::bootstrap);
  }
  bool drop_oldest(word how, const peer_id& but);
  std::vector<const entries::value_type*> by_age() const;

  entries all_;
  std::uint16_t port_ = 0;
};

} // namespace potluck
