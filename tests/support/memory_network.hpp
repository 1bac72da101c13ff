/// The transport port in memory: transports of one network, connected by
/// queues, on machines that tests name.
///
/// Nothing moves until somebody calls `deliver`, so a test on one thread and a
/// virtual clock decides every order. For peers on real threads, a
/// `memory_postman` calls it. Differences from a real network: there is no back
/// pressure (`send` queues without a limit), and lines are as fast as can be
/// unless a test gives them a bandwidth.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/ports/transport.hpp"

namespace potluck {

class memory_network {
public:
  /// What becomes of one frame.
  enum class fate {
    arrives,
    lost, ///< It and all later frames of its connection vanish.
    cuts, ///< The connection breaks in its place, for both sides.
  };
  /// Looks at (and may change) every frame between two machines when it is
  /// sent.
  using judge = std::function<fate(
      const std::string& from, const std::string& to, outgoing_frame& frame)>;

  memory_network();

  /// A transport on the machine `host`, under which name others dial it. It may
  /// outlive this object.
  /// @param who What its connections prove to the others; empty: nothing.
  std::unique_ptr<transport> make_transport(const std::string& host,
                                            const peer_id& who = {});

  /// Makes the call-backs that are due at `now`, a time since any beginning
  /// that never runs backwards, and those that become due meanwhile. Returns
  /// how many there were.
  std::size_t deliver(duration now);

  /// The latest time that it has heard of, as everybody's wall clock.
  std::uint64_t wall_ms() const;

  /// From now on, everything between the two takes so long one way.
  void delay(const std::string& a, const std::string& b, duration one_way);

  /// From now on, each direction between the two carries so many bytes a
  /// second, all connections together, one frame behind the other; 0: any.
  void bandwidth(const std::string& a, const std::string& b,
                 double bytes_per_second);

  /// Breaks all connections between the two and refuses new ones.
  void cut(const std::string& a, const std::string& b);

  /// Everything between the two vanishes, unnoticed; dials stay unanswered.
  void silence(const std::string& a, const std::string& b);

  /// Ends a cut or a silence. Connections that lost something break.
  void heal(const std::string& a, const std::string& b);

  /// Breaks the connection: as seen from `a`, the oldest to `b`. False when
  /// there is none.
  bool break_oldest(const std::string& a, const std::string& b);

  void judge_frames(judge decide);

  /// Connections that are open at both ends.
  std::size_t open_connections() const;

  /// What the host's transport was last told of its connections' windows, of
  /// those that have any.
  std::vector<planned_window> planned_windows(const std::string& host) const;

  class core;

private:
  std::shared_ptr<core> core_;
};

/// Delivers on a thread of its own, in real time, as long as it lives.
class memory_postman {
public:
  explicit memory_postman(memory_network& network);
  ~memory_postman();

private:
  memory_network& network_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

} // namespace potluck
