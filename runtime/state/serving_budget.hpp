/// How much a donor gives: to how many joiners at once, how many bytes in
/// flight to each, and how many a second in all. Only those who train and wait
/// for a mean are not held back while they get it.
///
/// Requests wait here until their turn, one joiner after the other. Who is
/// reached through a hub has less in flight, so that letters to it need not
/// wait: its pieces do, here. Pure: the time comes in with every question.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "messages/ids.hpp"
#include "messages/state.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class serving_budget {
public:
  struct bounds {
    std::size_t joiners;
    std::uint64_t bytes_in_flight; ///< For each joiner.
    double bytes_per_second;       ///< For all paced; 0: as fast as asked.
    duration silence;              ///< After which a joiner is given up.
    std::size_t listeners;         ///< Joiners that get no pieces.
  };
  struct turn {
    peer_id joiner;
    piece_request request;
  };

  explicit serving_budget(bounds most);

  /// Whether the joiner is, from now on, served; true again for one that is.
  /// @param places Of one that does not fetch as much as `bounds::joiners` is
  ///     meant for: so many joiners may be served at once, it included.
  bool admit(const peer_id& joiner, time_point now, std::size_t places = 0);
  /// A joiner waits for the mean of this step: so many bytes of means, and a
  /// quarter more for what gets lost, do not count towards `bytes_per_second`,
  /// once. It saves up `limits::means_granted` of them at most.
  void grant(const peer_id& joiner, std::uint64_t step, std::uint64_t bytes);
  /// The steps after this one are made anew.
  void back_to(std::uint64_t step);
  /// Whether the joiner is, from now on, one that gets no pieces, and takes
  /// nobody's place.
  bool listens(const peer_id& joiner, time_point now);
  bool serves(const peer_id& joiner) const {
    return joiners_.count(joiner) != 0;
  }
  void forget(const peer_id& joiner);
  /// It begins anew, in the place that it has had since it came: nothing of
  /// before is on its way to it.
  void begins_anew(const peer_id& joiner);
  /// Whether one gets nothing, by its wish or for long.
  bool lingers(const peer_id& joiner, time_point now) const;
  /// Whose place one that was not admitted may have: it brings nothing; or its
  /// home has two more than the other's; or it had it for long. None: nobody's.
  std::optional<peer_id> gives_way(const peer_id& to, time_point now) const;
  /// The peer, a joiner or not, is connected, or in another way than before.
  /// @param relayed Through a hub. @param host Where it is.
  void reach(const peer_id& peer, bool relayed, const std::string& host = {});
  /// It is not, any more.
  void parted(const peer_id& peer);
  /// Gives up silent joiners and says which.
  std::vector<peer_id> expire(time_point now);

  /// A joiner asks for a piece of `bytes`. What it says has arrived is in
  /// flight no more.
  /// @returns Whether the request waits for its turn: not one that was not
  /// admitted, is given up, or asks for more than may be in flight.
  bool ask(const peer_id& joiner, const piece_request& request,
           std::uint64_t bytes, time_point now);

  /// Whose piece is to be sent now; none: wait, until `wake` at most.
  std::optional<turn> next(time_point now);
  /// When `next` has something though nobody asks before; none: never.
  std::optional<time_point> wake() const;

  /// Those that get pieces.
  std::size_t joiners() const {
    return joiners_.size() - listeners_;
  }

private:
  struct waiting {
    piece_request request;
    std::uint64_t bytes;
  };
  struct served {
    time_point heard;
    bool listens = false;  ///< Gets no pieces.
    bool small = false;    ///< Takes none of `bounds::joiners`.
    time_point since = {}; ///< It has its place.
    time_point moved = {}; ///< It asked first, or something has arrived.
    bool asked = false;    ///< Since it came.
    std::uint64_t sent = 0;
    std::uint64_t arrived = 0;
    std::uint64_t queued = 0; ///< Bytes of `queue`.
    std::deque<waiting> queue;
  };
  struct grants {
    std::uint64_t step = 0; ///< The last one.
    std::uint64_t bytes = 0;
  };
  static bool is_idle(const served& x, time_point now);
  static bool is_old(const served& x, time_point now);
  bool takes_place(const served& x) const {
    return !x.small && !x.listens;
  }
  std::string home(const peer_id& x) const;
  bool may_send(const peer_id& joiner, const served& x) const;
  /// Whether its next piece counts towards `bytes_per_second`.
  bool is_paced(const peer_id& joiner, const served& x) const;

  bounds most_;
  std::map<peer_id, served> joiners_;
  std::set<peer_id> relayed_;            ///< Of all peers,
  std::map<peer_id, std::string> homes_; ///< and where they are.
  /// Also of some that are not connected any more: to come again is easy.
  std::map<peer_id, grants> granted_;
  std::size_t listeners_ = 0; ///< Of `joiners_`.
  std::size_t waiting_ = 0;   ///< Requests in all queues.
  time_point next_expiry_{};  ///< Nobody is silent for too long before.
  peer_id last_;              ///< Whose turn was last.
  time_point free_at_{};      ///< The line is paid for until then.
};

} // namespace potluck
