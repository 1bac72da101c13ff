/// How a process that caf-run started tells the launcher that it is there, and
/// how it is told to stop.
///
/// The protocol is CAF's own, so that its launcher and ours work with either's
/// programs: the slave connects to `--caf#bootstrap-node` and sends its host
/// and the port under which its control actor can be reached,
/// `(std::string, uint16_t)`. Ours adds that the message comes from the control
/// actor, which takes the atom `stop`.
///
/// This is CAF's BASP: whoever reaches the port can stop the process. It is for
/// the machines of one operator; peers among strangers talk otherwise.

#pragma once

#include "messages/expected.hpp"

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/atom.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace potluck::caf_run {

/// What the launcher, or the master, asks of a slave.
using stop_atom = caf::atom_constant<caf::atom("stop")>;

/// `host/port`, as the options of caf-run write it.
expected<std::pair<std::string, std::uint16_t>>
parse_node(const std::string& text);

/// A slave that has reported. While it lives the process can be asked to stop;
/// its end closes the port, and lets the actor system end.
class announced_slave {
public:
  announced_slave(caf::actor_system& system, caf::actor control,
                  std::uint16_t port);
  ~announced_slave();

  announced_slave(const announced_slave&) = delete;
  announced_slave& operator=(const announced_slave&) = delete;

  std::uint16_t port() const {
    return port_;
  }

private:
  caf::actor_system& system_;
  caf::actor control_;
  std::uint16_t port_;
};

/// Reports this process to the launcher. Call it when the process is ready for
/// others, for the lines behind one with `wait` start then. Blocks until a
/// connection is made or refused.
/// @param system With the middleman loaded.
/// @param host `--caf#slave-name`.
/// @param bootstrap_nodes `--caf#bootstrap-node`, tried in this order.
/// @param on_stop Called from an actor, once, when the launcher wants this
///        process to end, or is gone itself. Must not block.
expected<std::unique_ptr<announced_slave>>
announce_slave(caf::actor_system& system, const std::string& host,
               const std::vector<std::string>& bootstrap_nodes,
               std::function<void()> on_stop);

} // namespace potluck::caf_run
