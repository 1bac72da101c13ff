/// A short visit to some peers of a run, to see what is between them and this
/// machine. It trains nothing, and is nobody: its key is made for the visit.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "messages/contact.hpp"
#include "runtime/ports/port_mapper.hpp"
#include "runtime/uv/uv_transport.hpp"
#include "tools/potluck/doctor_findings.hpp"

namespace potluck::tools {

struct visit_plan {
  std::vector<address> peers;
  address listen{"::", 0};
  std::string run; ///< Whose settings to ask for; empty: none.
  uv_transport_options how;
  std::shared_ptr<port_mapper> mapper; ///< Null: no router is asked.
};

struct visit_report {
  std::string problem; ///< Why this machine cannot even listen; empty.
  std::vector<peer_facts> peers;
  reach_facts reach;
  double upload = 0; ///< Bytes per second; 0: not measured.
  /// Of the run; empty: nobody has told them.
  std::vector<setting> settings;
  std::string charter; ///< Its digest.
};

/// Takes up to a minute where nobody answers, a few seconds else. Sends at most
/// 1 MiB to measure the line, and 32 KiB for each third peer that tries whether
/// this machine can be dialled.
visit_report see(visit_plan plan);

} // namespace potluck::tools
