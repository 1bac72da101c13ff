/// What `potluck doctor` makes of what it has seen: a line a finding, with what
/// mends it.
///
/// Pure: facts in, sentences out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "messages/handshake.hpp"
#include "messages/progress.hpp"
#include "runtime/ports/port_mapper.hpp"

namespace potluck::tools {

struct finding {
  enum class grade {
    good,
    unknown,  ///< Not found out, or it does not matter here.
    degraded, ///< It works, but worse than it could.
    fatal,    ///< This machine cannot take part.
  };
  std::string topic; ///< "memory", or "peer HOST:PORT".
  grade how = grade::good;
  std::string what;
  std::string remedy; ///< What the user can do; empty where nothing is to do.
};

/// 0 when all is well, 1 when something is degraded, 2 when this machine cannot
/// take part.
int status_of(const std::vector<finding>& all);

/// A line each, plain ASCII, and one for the whole.
std::string as_lines(const std::vector<finding>& all);

/// `{"status": 1, "findings": [{"topic", "grade", "what", "remedy"}]}`.
std::string as_json(const std::vector<finding>& all);

/// What came of a visit to one peer.
struct peer_facts {
  address where;
  std::vector<std::string> addresses; ///< What its name stands for.
  std::string unresolved; ///< Why it stands for nothing; empty if it does.
  std::string closed;     ///< Why there is no connection any more.
  bool connected = false; ///< Encrypted, and proven who it is.
  std::optional<hello> said;
  std::string refusal; ///< The sentence with which it turned us down.
  bool welcomed = false;
  double round_trip = 0;              ///< Seconds.
  std::optional<double> clock_behind; ///< Seconds that our clock is.
};

/// One finding a peer. A peer that fails is a failure only if all do.
std::vector<finding> of_peers(const std::vector<peer_facts>& peers);

/// How others get here.
struct reach_facts {
  bool asked = false; ///< Somebody was there to try.
  bool reachable = true;
  potluck::reach kind = reach::unknown;
  address where;
  bool two_hosts = false; ///< Enough of them to tell kinds of routers apart.
  std::optional<port_mapping> mapping; ///< If a router was asked for a port.
};
std::vector<finding> of_reach(const reach_facts& x);

/// @param source The address that this machine dials from; empty: no route.
finding of_route(const std::string& family, const std::string& source);

/// @param bytes_per_second Measured; 0: it was not.
finding of_upload(double bytes_per_second);

finding of_memory(std::uint64_t total, std::uint64_t available);
finding of_disk(const std::string& directory, std::uint64_t available);
/// @param devices Of graphics processors, as /dev/nvidia0. @param problem Why
///     trainers cannot compute on them; empty when they can.
finding of_gpu(const std::vector<std::string>& devices,
               const std::string& problem);
/// @param slow What mends a slow BLAS; empty when all is well.
finding of_blas(const std::string& in_use, const std::string& slow);
finding of_cores(unsigned cores);
/// @param directory Of the identity; empty: there is none. @param exists It has
///     a key. @param problem Of `identity::open`.
finding of_identity(const std::string& directory, bool exists,
                    const std::string& problem);

/// The run's settings against what the flags ask for.
/// @param theirs Empty: nobody has told them. @param demanded What was given.
finding of_settings(const std::string& run, const std::vector<setting>& theirs,
                    const std::string& digest,
                    const std::vector<setting>& demanded);

} // namespace potluck::tools
