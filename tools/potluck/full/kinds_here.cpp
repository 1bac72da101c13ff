#include "models/catalogue.hpp"
#include "tools/potluck/settings_options.hpp"

namespace potluck::tools {

const kind_families& kinds_here() {
  return known_families();
}

} // namespace potluck::tools
