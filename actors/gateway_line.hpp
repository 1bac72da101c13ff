/// What this peer's line carries, as the gateway sees it, and who hears of it.
///
/// A part of the gateway: told of what passes on all connections, it tells the
/// conductor and whoever watches when that is news. Before there is anything to
/// send, it may find out with a probe to the first trainer.
#pragma once

#include <map>
#include <optional>

#include "actors/interfaces.hpp"
#include "runtime/lines/line_estimator.hpp"
#include "runtime/lines/upload_probe.hpp"

namespace potluck {

class gateway_line {
public:
  /// @param probes Whether to see what the line carries before it is used.
  void init(gateway_actor::pointer self, observer_actor observer, bool probes);

  void wire(const conductor_actor& conductor);
  /// A peer has a session from here on.
  void joined(const peer_id& peer, role its, session_actor session);
  void left(const peer_id& peer);
  /// What passed on a connection with a peer, which may have several.
  void passed(const peer_id& peer, const connection_traffic& seen);
  /// That was all of an interval.
  void observe(duration interval);

private:
  void probe(std::size_t bytes);
  void tell();
  /// Those that a plan should know of, the slowest first.
  std::vector<slow_pair> slow_pairs() const;

  gateway_actor::pointer self_ = nullptr;
  observer_actor observer_;
  conductor_actor conductor_;
  bool probes_ = false;
  line_estimator line_;
  std::map<peer_id, line_traffic> passed_; ///< In the present interval.
  /// Of the peers that have a session: what others heard last of the limits to
  /// them.
  std::map<peer_id, double> told_limits_;
  std::optional<upload_probe> probe_; ///< Once.
  peer_id probed_;
  session_actor to_probed_;
  line_measured told_; ///< What the others heard last.
  caf::actor_clock::time_point last_told_{};
};

} // namespace potluck
