/// Opens a direct line to a peer that only a circuit leads to, after DCUtR of
/// libp2p: both tell their addresses, one says when, and both connect to each
/// other at one moment (`transport::punch`).
///
///     first                                second
///       |------ hole_connect ---------------->|
///       |<----- hole_connect, answer ---------|
///       |------ hole_sync ------------------->| punches
///       | half a round trip later: punches
///
/// The first is the one with the smaller peer id; it begins the encryption,
/// too. A try whose punches all fail is followed by another, with a round trip
/// measured anew; after three, both rest for a minute.
///
/// Pure: neither sends nor punches, and is told the time. Its user keeps one
/// for each session, as long as that lives, and
/// - calls `know` when what is known of both changes, `relayed` when the line
///   becomes a circuit or ceases to be one;
/// - passes on the peer's `hole_connect` and `hole_sync`, calls `tick` at
/// `due`,
///   and does what all of these return, in that order;
/// - calls `failed` when every punch of an action has ended without a line to
///   that very peer. A punch may end so since the other side has come in: the
///   line is an accepted connection then. Several may succeed: the session
///   keeps one, as always.
///
/// Addresses in `known::seen` and `known::hosts` have to be those that a router
/// gives to the port that is listened on. Nobody sees that port on a connection
/// that was dialled; on one that was punched with `begins` everybody does, and
/// a hub answers it as any other.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "messages/lines.hpp"
#include "messages/progress.hpp"
#include "runtime/clock.hpp"
#include "runtime/random.hpp"

namespace potluck {

class hole_puncher {
public:
  /// What its user knows.
  struct known {
    std::vector<address> seen;  ///< Ours, as others see us.
    std::vector<address> local; ///< Ours, within our house.
    reach ours = reach::unknown;
    reach theirs = reach::unknown;
    /// Under which hosts others see the peer, by hubs or records: what it says
    /// of itself is checked against these, so that nobody is punched for it.
    std::set<std::string> hosts;
  };

  /// Call `transport::punch` for each of these.
  struct punch_now {
    std::uint64_t attempt = 0; ///< For `failed`.
    std::vector<address> at;   ///< One to `most_punched`.
    bool begins = false;       ///< The encryption.
  };
  /// Three tries failed: the peer stays relayed for a minute, or for good. Only
  /// the first says so.
  struct given_up {};
  using action = std::variant<hole_connect, hole_sync, punch_now, given_up>;
  using actions = std::vector<action>;

  /// Addresses of one try; tries in a row; then a rest.
  static constexpr std::size_t most_punched = 4;
  static constexpr std::size_t most_tries = 3;
  static constexpr std::chrono::seconds rest{60};
  /// For the other's answer, or for its sync. A circuit takes two hops, of
  /// satellites at worst.
  static constexpr std::chrono::seconds patience{10};
  /// For the punches of one try, encryption included, which end by themselves.
  static constexpr std::chrono::seconds punches_patience{20};
  /// Between two tries: the other side's punches end a little later than ours.
  static constexpr std::chrono::seconds pause{1};
  /// When nothing is known that a try could begin with: for a next look.
  static constexpr std::chrono::seconds look_again{5};

  /// @param seed Of the tokens; another one for each session.
  hole_puncher(const peer_id& own, const peer_id& other, std::uint64_t seed,
               time_point now);

  void know(known x) {
    known_ = std::move(x);
  }
  /// At first it is.
  void relayed(bool x, time_point now);

  /// When to call `tick`.
  time_point due() const {
    return due_;
  }
  actions tick(time_point now);
  actions on(const hole_connect& x, time_point now);
  actions on(const hole_sync& x, time_point now);
  /// @param attempt As `punch_now` says; others are ignored.
  actions failed(std::uint64_t attempt, time_point now);

private:
  enum class state { idle, asking, answered, syncing, punching };

  /// Whether holes may help at all.
  bool possible() const;
  /// Whether there may be another try in this minute; then there is.
  bool spend_try(time_point now);
  /// Whether one router stands before both.
  bool same_house() const;
  /// Of the peer's addresses those that it may have us punch.
  std::vector<address> believed(const hole_connect& x) const;
  hole_connect our_addresses(bool answer) const;
  actions begin(time_point now);
  actions punch(time_point now);
  actions try_failed(time_point now);
  void go(state to, time_point due) {
    state_ = to;
    due_ = due;
  }

  const bool first_;
  random_stream random_;
  known known_;
  bool relayed_ = true;
  state state_ = state::idle;
  time_point due_;
  std::uint64_t token_ = 0; ///< Of this try.
  time_point asked_{};
  std::vector<address> at_;
  std::uint64_t attempt_ = 0;
  std::size_t failures_ = 0;     ///< Since the last rest.
  std::deque<time_point> tries_; ///< Of the last minute.
};

} // namespace potluck
