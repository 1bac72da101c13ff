/// The transport port over virtual time: machines with access lines, and
/// everything that can go wrong between them.
///
/// A frame passes its machines' lines as line_emulator.hpp has it. Connections
/// are streams: frames arrive in order or not at all, and a lost packet holds
/// up what is behind it. Frames of up to a packet without a body are urgent,
/// but pass nothing of their own connection. Only broken boxes on the way
/// duplicate, reorder or corrupt frames, and a corrupt one breaks its
/// connection where it arrives, by its checksum. Nothing moves but in
/// `run_until`.
///
/// One thread, or many: after `take_turns`, what arrives waits at its host
/// until the host's turn, and what a host's program asks of the network in its
/// turn is done when turns are settled. Turns of several hosts may then run at
/// the same time, over a span no longer than `shortest_way`: what one of them
/// sends arrives at no other within it.
///
/// Transports have the limits on strangers that real ones have
/// (runtime/strangers), but for those on what is half there: a frame comes
/// whole, and a connection is proven when it is open.
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
#include "tools/lab/network/home_router.hpp"
#include "tools/lab/network/line_emulator.hpp"
#include "tools/lab/network/sim_host.hpp"

namespace potluck {

class sim_network {
public:
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

  explicit sim_network(std::uint64_t seed);
  ~sim_network();

  /// A transport on the machine `host`, under which name others dial it. It may
  /// outlive this object.
  /// @param who Who its user is: what its connections prove to the others,
  /// whatever the user claims. Empty: they prove nothing.
  std::unique_ptr<transport> make_transport(const std::string& host,
                                            const peer_id& who = {});

  /// What a deaf one leaves unread it reads when it hears again.
  void set_line(const std::string& host, const access_line& x);

  /// Puts the machine behind a router, which others see as `public_host`; its
  /// own name is known within its home alone. Machines with one public host
  /// share its router, the first one's kind. Once, before anybody dials.
  void put_behind(const std::string& host, router_kind kind,
                  const std::string& public_host);
  /// Asks the machine's router for a port that lasts (UPnP): where others can
  /// dial `port` of the machine; nothing where its router does not do that.
  std::optional<address> map_port(const std::string& host, std::uint16_t port);
  /// Its router forgets its connections, and drops what they still send; nobody
  /// is told. Without effect on a machine without a router.
  void reboot_router(const std::string& host);
  /// The same, and others see its home as another host, a new one.
  void move_home(const std::string& host, const std::string& public_host);

  /// Nothing passes between `side` and all others until `reunite` with the same
  /// number; dials time out. Nobody is told. Several may overlap.
  std::uint64_t part(const std::set<std::string>& side);
  void reunite(std::uint64_t partition);
  /// Connections between these break, and nobody of them can dial another until
  /// `reconcile` with the same number; dials time out.
  std::uint64_t estrange(const std::set<std::string>& hosts);
  void reconcile(std::uint64_t estrangement);

  /// Its machine stands still: nothing is handed to it; what arrives waits.
  void freeze(const std::string& host, bool yes);
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
  /// A machine, for its turn: no other call for it meanwhile, but those of its
  /// own programs. Time only grows in a turn, from where the last `run_until`
  /// came to.
  sim_host& at(host_number host) const;
  /// Does what was asked in the turns of these hosts: in order of time, then of
  /// the list. Tells `clock` each deed's time before.
  void settle(const std::vector<host_number>& hosts,
              const std::function<void(duration)>& clock);

  /// Connections open at both ends.
  std::size_t open_connections() const;
  /// Bytes of one connection, one way, at the most.
  std::uint64_t highest_queue() const;
  /// Of all lines; parcels are frames.
  line_counters totals() const;

private:
  struct core;

  std::shared_ptr<core> core_;
};

} // namespace potluck
