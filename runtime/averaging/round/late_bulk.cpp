#include "runtime/averaging/round/late_bulk.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace potluck {

std::vector<average_chunk> without_late(const bulk_watch& owed,
                                        const round_agreement& agreement) {
  std::vector<average_chunk> out;
  if (!agreement.healing())
    return out;
  const auto& members = agreement.members();
  for (auto chunk : agreement.to_make()) {
    average_chunk without{chunk, {}};
    for (std::size_t i = 0; i < members.size(); ++i)
      if (owed.is_late(i) && members[i].samples != 0
          && !owed.has_come(i, chunk))
        without.leave_out.push_back(static_cast<std::uint8_t>(i));
    if (!without.leave_out.empty())
      out.push_back(std::move(without));
  }
  return out;
}

void note_withheld(const round_agreement& agreement, bulk_watch& owed) {
  if (const auto holder = agreement.holder())
    owed.withholds(*holder);
  if (agreement.healing() && owed.any_late() && agreement.to_make().empty())
    for (auto member : agreement.awaited())
      owed.withholds(member);
}

} // namespace potluck
