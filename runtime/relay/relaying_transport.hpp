/// A transport that can reach peers through others: a circuit looks like one
/// more connection.
///
/// Wraps any transport. Frames of circuits never leave this layer: it passes
/// them on where this peer is a hub, and makes connections of those that end
/// here. A circuit's bytes are a stream of the wrapped transport's own kind:
/// where that encrypts, both ends prove who they are to each other, and the hub
/// neither reads nor changes anything.
///
/// What a circuit has to say comes on whichever thread caused it, one call at a
/// time; all else on the wrapped transport's.
#pragma once

#include "runtime/ports/transport.hpp"
#include "runtime/relay/limits.hpp"

namespace potluck {

class relaying_transport final : public transport {
public:
  /// @param now May be called on any thread.
  /// @param owes Called, on any thread, when `give_credit` has something to do.
  relaying_transport(std::unique_ptr<transport> below,
                     std::function<time_point()> now,
                     std::function<void()> owes);
  ~relaying_transport() override;

  /// Whether a connection is a circuit.
  static bool is_circuit(connection_id id) {
    return (id & circuit_bit) != 0;
  }

  /// Passes circuits on for others, from here on, or does not any more: then
  /// every circuit that a hub tells of ends here.
  void be_hub(bool is = true,
              const limits::hub_budget& budget = limits::usual_hub);
  /// As a hub, opens no circuits from here on, or does again; those that are
  /// open go on.
  void rest(bool rests = true);
  /// As a hub, passes circuits on only for whom this lets; it may be called on
  /// any thread.
  void only_for(
      std::function<bool(const peer_id& who, const std::string& run)> admits);
  /// The connection belongs to this peer, whose hello was welcome.
  /// @param run By its own word. Circuits lead from one peer to another of the
  ///     same run.
  void belongs(connection_id id, const peer_id& who, const std::string& run);
  /// A circuit to `to` over a connection with a hub. Ends as `dial` does. Its
  /// remote address is the host where the hub sees the other end, with port 0:
  /// that end has no say in it.
  connection_id dial_through(connection_id hub, const peer_id& to);
  /// Gives credit back that is due, and ends circuits that wait too long.
  /// Whether to look again in a moment (`limits::credit_interval`); else `owes`
  /// will say so.
  bool give_credit();

  void start(std::shared_ptr<transport_listener> listener) override;
  expected<address> listen(const address& where) override;
  connection_id dial(const address& where, const peer_id& expected) override;
  connection_id punch(const address& at, bool begins) override;
  stream_maker streams() override;
  std::vector<address> local_addresses() const override;
  void send(connection_id id, outgoing_frame frame) override;
  void close(connection_id id, std::uint32_t linger_ms = 200) override;
  void plan_window(connection_id id, const planned_window& x) override;
  void hold(connection_id id, bool yes) override;
  void no_stranger(connection_id id) override;
  transport_traffic traffic() const override;
  void stop() override;

  class switchboard;

private:
  static constexpr connection_id circuit_bit = connection_id{1} << 63;

  std::unique_ptr<transport> below_;
  std::shared_ptr<switchboard> board_;
};

} // namespace potluck
