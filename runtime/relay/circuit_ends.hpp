/// The circuits that end at this peer: those that it opened through hubs, and
/// those that others opened to it.
///
/// Each is known by the number of a connection; to its hub by a number of its
/// own on the line there. Pure: the time comes in, and what follows of a call
/// is told in order, before the call returns.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "messages/message.hpp"
#include "runtime/clock.hpp"
#include "runtime/relay/circuit_crowd.hpp"
#include "runtime/relay/circuit_end.hpp"
#include "runtime/strangers/home_allowance.hpp"

namespace potluck {

class circuit_ends {
public:
  /// Whom it tells. None of these may call back.
  class listener {
  public:
    virtual ~listener() = default;
    /// A letter for a hub.
    virtual void to_hub(connection_id hub, const message& what,
                        shared_bytes body)
        = 0;
    /// @param opened_here By this peer. @param seen Where the hub sees the
    /// other end.
    virtual void circuit_opened(connection_id id, bool opened_here,
                                const address& seen, const peer_id& proven)
        = 0;
    virtual void circuit_brought(connection_id id, incoming_frame frame) = 0;
    virtual void circuit_ended(connection_id id, const std::string& reason) = 0;
  };

  /// @param first The first circuit's number. @param to Outlives this.
  circuit_ends(connection_id first, stream_maker make, listener& to);

  /// For a circuit that cannot be opened.
  connection_id unused_id() {
    return next_++;
  }
  /// Asks the hub for a circuit.
  /// @param number By which it will know it; used for none before.
  connection_id open(connection_id hub, std::uint32_t number, const peer_id& to,
                     time_point now);

  // ---- what a hub says. False: of no circuit that ends here.

  /// It has opened what this peer asked for.
  bool answered(connection_id hub, const circuit_open& x);
  /// Somebody wants a circuit to this peer. @param at Where the hub itself is.
  /// @return Whether it has one; else it was refused.
  bool come(connection_id hub, const std::string& at, const circuit_open& x,
            time_point now);
  /// It gives a number that has had a circuit.
  void repeats(connection_id hub, std::uint32_t number);
  bool take(connection_id hub, const circuit_data& x, const shared_bytes& body);
  bool grant(connection_id hub, const circuit_credit& x);
  bool closed(connection_id hub, const circuit_close& x);
  /// The line to it ended.
  void lose(connection_id hub, const std::string& reason);

  // ---- what this peer wants

  void send(connection_id id, outgoing_frame frame);
  /// @param until What waits is given up then.
  /// @return Whether it waits, for `end_late`.
  bool close(connection_id id, time_point until, time_point now);
  /// Ends those that wait too long. @return Whether any others wait.
  bool end_late(time_point now);
  void end_all(const std::string& reason);

private:
  struct circuit {
    connection_id hub = 0;
    std::uint32_t number = 0;
    bool opened_here = false;
    std::string host; ///< Where the hub sees the other end.
    time_point since;
    bool told = false;     ///< That it is open.
    peer_id opener;        ///< By the hub's word, of one that came.
    std::size_t large = 0; ///< Bytes of a large frame that have come.
    std::unique_ptr<circuit_end> end;
    /// It was closed here: when what still waits is given up.
    std::optional<time_point> until = {};
  };
  using circuits = std::map<connection_id, circuit>;
  /// A circuit's place: the hub, its number, whether it was opened here.
  using place = std::tuple<connection_id, std::uint32_t, bool>;

  circuits::iterator add(connection_id hub, std::uint32_t number, bool here,
                         time_point now);
  circuits::iterator at(connection_id hub, std::uint32_t number, bool here);
  /// Why one more may not come over this line; empty: it may.
  std::string objection(connection_id hub, const std::string& at,
                        const std::string& home, time_point now);
  /// Counts what its frame in progress holds; where all hold too much, the one
  /// that holds most ends.
  void weigh(circuits::iterator x);
  void tell(circuits::iterator x, circuit_end::news news);
  void flush(circuits::iterator x);
  /// The same; one that was closed ends when nothing waits any more.
  void drain(circuits::iterator x);
  void end(circuits::iterator x, const std::string& reason, bool tell_hub);

  connection_id next_;
  const stream_maker make_;
  listener& to_;
  circuits all_;
  std::map<place, connection_id> places_;
  std::map<connection_id, std::size_t> lines_; ///< Came over each.
  circuit_crowd<connection_id> came_;          ///< Those that others opened.
  std::size_t large_ = 0;                      ///< See `weigh`.
  home_allowance opens_;
};

} // namespace potluck
