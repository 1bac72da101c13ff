#include "runtime/optimizer/optimizer_kinds.hpp"

#include "runtime/optimizer/lamb.hpp"

namespace potluck {

const kind_family& optimizer_family() {
  static const kind_family all{"optimizer", {"optimizer"}, {lamb_kind()}};
  return all;
}

} // namespace potluck
