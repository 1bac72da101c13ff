/// Runs a description's commands in a lab, to the end.
#pragma once

#include <string>

#include "tools/lab/netlab/host_network.hpp"

namespace potluck::netlab {

/// Makes the description's hosts and pairs. Fails with a sentence.
expected<bool> lay_out(const network_description& what, host_network& network);

/// In the lab's own process, `lab_side::inside`. Prints sentences about what
/// goes wrong; writes to `out`, a folder that exists:
///
///   NAME.txt      what a command printed
///   NAME.jsonl    its {log}
///   NAME/         its {dir}
///   netlab.jsonl  what happened when
///   netlab.json   how all ended
///
/// @param lifeline Readable once whoever started us is gone: then all ends.
/// @return 0 when every command ended well, 1 when not, 130 when interrupted.
int run_lab(const network_description& what, host_network& network,
            const std::string& out, int lifeline);

} // namespace potluck::netlab
