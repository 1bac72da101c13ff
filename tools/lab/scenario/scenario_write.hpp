/// From a scenario to a file's content. Private to this folder.
#pragma once

#include "tools/lab/scenario/scenario_fields.hpp"
#include "tools/lab/scenario/scenario_tree.hpp"

namespace potluck {

/// The member `field` of `x` as it would stand in a file; nothing when it
/// stands in no file, since it does not apply or is empty.
template <class T>
scenario_value write_field(const T& x, const scenario_field<T>& field);

} // namespace potluck
