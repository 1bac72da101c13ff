/// The transport port over virtual time: machines with access lines, and
/// everything that can go wrong between them.
///
/// A frame from a to b waits for a's uplink, takes size / upload, crosses
/// delay(a) + delay(b) and jitter, waits for b's downlink and takes size /
/// download. Short frames wait for a quarter of a second at most, each time,
/// but pass nothing of their own connection. Connections are streams: frames
/// arrive in order or not at all; a lost packet (1,400 bytes each) holds
/// everything behind it up for a retransmission time, as TCP does. Only broken
/// boxes on the way duplicate, reorder or corrupt frames, and a corrupt one
/// breaks its connection where it arrives, by its checksum. Nothing moves but
/// in `run_until`.
///
/// One thread, or many: after `take_turns`, what arrives waits at its host
/// until the host's turn, and what a host's program asks of the network in its
/// turn is done when turns are settled. Turns of several hosts may then run at
/// the same time, over a span no longer than `shortest_way`: what one of them
/// sends arrives at no other within it.
///
/// Differences from a real network: no slow start, no shared bottleneck but the
/// access lines, and the sender's queue is unlimited (its highest mark is
/// counted, so that tests can hold it against a limit).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/ports/transport.hpp"

namespace potluck {

class sim_network {
public:
  /// A machine's access line at present.
  struct line {
    duration delay{0};  ///< One way, to the middle of the network.
    duration jitter{0}; ///< At most so much more, uniform, for every frame.
    double upload = 0;  ///< Bytes per second; 0: no limit.
    double download = 0;
    double loss = 0;      ///< Of packets.
    double duplicate = 0; ///< Of frames; so are the next two.
    double reorder = 0;
    double corrupt = 0; ///< One bit of head or body flips: the line breaks.
  };

  /// A host's place among all, from 0 in the order in which they were named
  /// first: for calls that are made for every turn.
  using host_number = std::size_t;

  /// What a hostile machine makes of a frame that it sends: the frames that go
  /// out in its place (none: swallowed).
  using forger = std::function<std::vector<outgoing_frame>(
      const std::string& to, outgoing_frame frame)>;

  /// Sees every frame that a machine's program sends, before forgers do.
  using watcher
      = std::function<void(const std::string& from, const outgoing_frame&)>;

  struct statistics {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
    std::uint64_t lost_packets = 0;
    std::uint64_t duplicated = 0;
    std::uint64_t reordered = 0;
    std::uint64_t corrupted = 0;
    std::uint64_t highest_queue = 0; ///< Bytes of one connection, one way.
  };

  explicit sim_network(std::uint64_t seed);
  ~sim_network();

  /// A transport on the machine `host`, under which name others dial it. It may
  /// outlive this object.
  /// @param who Who its user is: what its connections prove to the others,
  /// whatever the user claims. Empty: they prove nothing.
  std::unique_ptr<transport> make_transport(const std::string& host,
                                            const peer_id& who = {});

  void set_line(const std::string& host, const line& x);
  line line_of(const std::string& host) const;

  /// Nobody can dial it; dials time out after 10 s.
  void behind_nat(const std::string& host, bool yes);

  /// Nothing passes between `side` and all others until `reunite` with the same
  /// number; dials time out. Nobody is told. Several may overlap.
  std::uint64_t part(std::set<std::string> side);
  void reunite(std::uint64_t partition);
  /// Connections between these break, and nobody of them can dial another until
  /// `reconcile` with the same number; dials time out.
  std::uint64_t estrange(const std::set<std::string>& hosts);
  void reconcile(std::uint64_t estrangement);

  /// Its machine stands still: nothing is handed to it; what arrives waits.
  void freeze(const std::string& host, bool yes);
  /// It runs, but reads nothing from its connections.
  void deafen(const std::string& host, bool yes);
  /// All its connections break, for both sides, and can be dialled again.
  void cut(const std::string& host);
  /// The process died: its transports end without a word to their listeners;
  /// the other sides hear a reset (`silent`: never, only their own silence).
  void crash(const std::string& host, bool silent);

  void corrupt_host(const std::string& host, forger x);
  void watch(watcher x);

  /// When the next call-back is due; nothing when none is.
  std::optional<duration> next() const;
  /// Makes the call-backs that are due until `now` (a time since the beginning,
  /// never running backwards), and those that become due meanwhile. Calls
  /// `before` with the host whose listener is about to be called.
  std::size_t run_until(duration now,
                        const std::function<void(host_number host)>& before
                        = {});

  host_number number_of(const std::string& host) const;

  /// From here on hosts take turns; between turns as before.
  void take_turns();
  /// The least time that a frame is under way between two of the hosts, by
  /// their present lines.
  duration shortest_way() const;
  /// A turn of one host: no other call for the same host meanwhile, but those
  /// of its own program. `at` only grows in a turn, from the time that the last
  /// `run_until` came to.
  void begin_turn(host_number host);
  /// Hands over what arrived by then; the host's program does all that it does
  /// before the next call at this time.
  void deliver(host_number host, duration at);
  /// When the next thing arrived that was not handed over.
  std::optional<duration> mail(host_number host) const;
  void end_turn(host_number host);
  /// Asks for the memory that the host's turn touches: in stage 0, and in stage
  /// 1 when that has had time to come. Changes nothing.
  void look_ahead(host_number host, unsigned stage) const;
  /// In the host's turn: done when turns are settled, in its place among what
  /// the host asks of the network. Else: done at once.
  void note(host_number host, std::function<void()> deed);
  /// Does what was asked in the turns of these hosts: in order of time, then of
  /// the list. Tells `clock` each deed's time before.
  void settle(const std::vector<host_number>& hosts,
              const std::function<void(duration)>& clock);

  /// Connections open at both ends.
  std::size_t open_connections() const;
  /// Bytes queued or on their way.
  std::uint64_t bytes_in_flight() const;
  statistics totals() const;

  class core;

private:
  std::shared_ptr<core> core_;
};

} // namespace potluck
