/// How the amendments of one run come to all its peers: what this one asks,
/// answers and passes on.
///
/// Whoever connects is asked what it holds behind what is here, and some again
/// now and then, so that a neighbour that says nothing hides nothing. What is
/// accepted goes on to all neighbours at once. Nothing is kept or passed on
/// that no organiser has signed; what such a neighbour says is not read any
/// more after a few times. Pure: facts in, letters out, the time comes in.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "messages/organiser.hpp"
#include "runtime/clock.hpp"
#include "runtime/organiser/amendment_book.hpp"

namespace potluck {

class amendment_exchange {
public:
  /// Between two rounds of questions, each to so many.
  static constexpr duration pause = std::chrono::seconds{30};
  static constexpr std::size_t asked_at_once = 3;
  /// One peer is not asked again within this time.
  static constexpr duration same_peer_pause = std::chrono::milliseconds{500};
  /// A newcomer trains no sooner than its neighbours have answered, or:
  static constexpr duration patience = std::chrono::seconds{2};
  /// A peer that gave so much that nobody has signed is not read any more.
  static constexpr unsigned most_wrong = 3;
  /// Complaints about different amendments that are said.
  static constexpr std::size_t most_said = 16;

  amendment_exchange(std::string run, amendment_book book, time_point now)
      : run_(std::move(run)), book_(std::move(book)), began_(now),
        next_(now + pause) {
  }

  const amendment_book& book() const {
    return book_;
  }

  struct outgoing {
    peer_id to;
    std::variant<amendments_request, amendments_reply> what;
  };
  struct outcome {
    std::vector<outgoing> letters;
    /// Accepted just now, in order.
    std::vector<amendment> news;
    /// For people: what the organiser, or an older version, did wrong.
    std::vector<std::string> complaints;
    /// What no honest peer sends.
    std::optional<std::string> offence;
  };

  /// A peer of the run is connected, or a bootstrap.
  outcome joined(const peer_id& who, time_point now);
  void left(const peer_id& who) {
    neighbours_.erase(who);
  }
  /// Anybody connected asks; also one that is no neighbour.
  outcome asked(const peer_id& from, const amendments_request& x,
                time_point now);
  /// Anybody answers, or brings news.
  outcome told(const peer_id& from, const amendments_reply& x, time_point now);
  /// Time has passed.
  outcome look(time_point now);

  /// Whether what is here may be trained by: the neighbours of the beginning
  /// have answered, or had the time to.
  bool settled(time_point now) const;

private:
  struct neighbour {
    time_point asked_at{};
    bool asked = false;
    bool answered = false;
  };
  /// Unless that was done a moment ago.
  void ask(const peer_id& whom, outcome& out, time_point now);

  std::string run_;
  amendment_book book_;
  time_point began_;
  time_point next_;
  std::map<peer_id, neighbour> neighbours_;
  peer_id last_asked_; ///< In the last round.
  std::map<peer_id, unsigned> wrong_;
  std::set<std::string> said_;
};

} // namespace potluck
