#include "runtime/ways/way.hpp"

#include "runtime/packing/packing.hpp"
#include "runtime/ways/cells/cells.hpp"
#include "runtime/ways/moshpit/redrawn_groups.hpp"

namespace potluck {

std::unique_ptr<way> make_way(const run_settings& settings, bool contributes,
                              const digest& charter) {
  if (settings.redraws_groups())
    return std::make_unique<redrawn_groups>(
        redrawn_groups::settings{charter, settings.seed, settings.group_size});
  if (!contributes)
    return std::make_unique<one_group>(settings.group_size);
  cells::settings how;
  how.group_size = settings.group_size;
  how.overlaps = settings.delayed_updates();
  if (!settings.packs_thin_lines())
    how.packing = packing_named(settings.packing).value_or(packing::float32);
  return std::make_unique<cells>(how);
}

} // namespace potluck
