/// Which hosts are asked to keep an expert's replicas, and to take it over.
///
/// Rendezvous hashing (Thaler and Ravishankar 1998): every host has a weight
/// for every uid, and the heaviest are asked. A host's experts are so spread
/// over all others, and who comes or goes changes the choice for few.
#pragma once

#include <string>
#include <vector>

#include "messages/experts.hpp"

namespace potluck {

/// Those of `hosts` with room and of this kind, without `owner`, the heaviest
/// for `uid` first.
std::vector<expert_host_notice>
guards_in_order(const std::string& uid, const peer_id& owner,
                const digest& kind,
                const std::vector<expert_host_notice>& hosts);

} // namespace potluck
