/// One process of `potluck bench experts`: callers that send one batch after
/// another to experts of some host, and count what comes back.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "messages/contact.hpp"
#include "messages/packing.hpp"

namespace potluck::bench {

struct expert_load {
  std::vector<std::string> uids;
  std::uint32_t clients = 1;   ///< Batches under way at a time.
  std::uint32_t batch = 32;    ///< Samples of each.
  std::uint32_t values = 1024; ///< Of a sample, in and out.
  bool backward = false;       ///< Each batch forward, then backward.
  potluck::packing packing = potluck::packing::float32; ///< Of the values.
  double seconds = 5;                                   ///< To measure.
  std::vector<address> seeds;
  bool insecure = false;
  std::string go; ///< The file at whose appearance all processes begin.
};

/// Prints, as JSON a line, `ready` when every client has had an answer, and
/// `load` with the rate in samples a second, and the seconds, at the end. False
/// when an expert is not to be had.
bool run_load(const expert_load& what, std::ostream& out);

} // namespace potluck::bench
