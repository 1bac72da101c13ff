/// The donors of a fetch: in which order they are asked for what, what each
/// said last, and which are left alone because they lied.
///
/// Pure bookkeeping: it writes the requests that its owner sends, and decides
/// nothing about versions or pieces.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/state/preferred_relay.hpp"
#include "runtime/state/state_action.hpp"

namespace potluck {

class donor_panel {
public:
  enum class answer {
    none,     ///< Asked.
    serves,   ///< The version, or in a catch-up its means.
    declines, ///< Means at most.
    busy,
  };
  struct refusal {
    std::uint64_t at = 0;      ///< Where the donor is,
    std::uint64_t offered = 0; ///< and what it has instead, or 0.
  };
  struct donor {
    answer said = answer::none;
    state_request wish; ///< As it was asked last.
    time_point asked;
    time_point reminded;       ///< Of us: when the request was sent last.
    time_point retry;          ///< Of a busy one.
    refusal instead;           ///< Of one that declines.
    std::uint64_t arrived = 0; ///< Bytes of pieces.
  };
  using letters = std::vector<state_letter>;

  /// @param self Decides the order in which donors are asked: each joiner has
  /// another, so that they spread.
  /// @param most Donors at once.
  donor_panel(const peer_id& self, std::size_t most)
      : self_(self), most_(most) {
  }

  /// A fetch begins: these can be asked, nobody has been.
  /// @param relay One that is asked first; it is none of the others.
  void begin(std::vector<peer_id> candidates, std::uint64_t step,
             preferred_relay relay);
  /// It is over: nobody counts as asked any more.
  /// @returns Those that were, who are to be told.
  std::vector<peer_id> dismiss();

  /// Where a peer is in the order in which joiners ask for lists, and the hub
  /// that gives them pieces for its own: they ask the same few.
  static std::uint64_t rank(const peer_id& hub, const peer_id& candidate);

  // ---- asking

  /// All are asked for this from here on; the relay first, if there is one.
  letters ask_for(std::uint64_t step, const digest& state, bool means_only,
                  time_point now);
  state_letter ask(const peer_id& who, time_point now);
  /// One more can be asked. @returns The request, if one more is wanted.
  std::optional<state_letter> add(const peer_id& candidate, time_point now);
  /// Those that were asked for lists are asked for pieces, and more are asked.
  letters ask_for_pieces(time_point now);
  /// What is due: busy ones are asked again, the others hear that we live.
  letters look(time_point now);
  /// It has left, and is asked no more.
  void remove(const peer_id& who);

  // ---- the relay

  preferred_relay& relay() {
    return relay_;
  }
  const preferred_relay& relay() const {
    return relay_;
  }
  /// Nobody is preferred from here on.
  /// @param as_donor It may be asked again like any other.
  /// @returns It, who is to be told; empty if there was none.
  peer_id release_relay(bool as_donor);

  // ---- what they said

  /// Null when it has not been asked.
  donor* find(const peer_id& who);
  void declines(const peer_id& who, const refusal& instead);
  std::size_t size() const {
    return donors_.size();
  }
  /// Those that serve or decline, and are thus worth asking for pieces.
  std::set<peer_id> answered() const;
  /// Those with that answer, but for the relay, which has nothing of its own.
  std::vector<peer_id> that(answer said) const;

  struct tally {
    std::size_t waiting = 0;
    std::size_t serving = 0;
    std::size_t declining = 0; ///< Past the version, or it has no name.
    std::size_t busy = 0;
    std::vector<refusal> refusals; ///< Of all that decline.
  };
  /// Of what was asked for last; without the relay.
  tally count() const;
  /// Those that say nothing for longer than anybody is waited for.
  /// @param since When it could be had first, what they were asked for; none:
  /// not yet, and then nobody is.
  std::vector<peer_id> silent(std::optional<time_point> since,
                              time_point now) const;

  // ---- trust, which outlasts a fetch

  /// It is asked no more, and not in later fetches until then.
  void distrust(const peer_id& who, time_point until);
  void expire_distrust(time_point now);
  bool distrusts(const peer_id& who) const {
    return distrusted_.count(who) != 0;
  }

private:
  std::size_t wanted() const;
  letters ask_more(bool again, time_point now);

  peer_id self_;
  std::size_t most_;
  std::uint64_t token_ = 0;
  state_request wish_;
  preferred_relay relay_;
  std::vector<peer_id> candidates_;          ///< In the order to ask them.
  std::map<peer_id, donor> donors_;          ///< Those that were asked.
  std::map<peer_id, time_point> distrusted_; ///< Until when.
};

} // namespace potluck
