#!/usr/bin/env bash
# .ci/check_names finds types of one name that the linker would mix up.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

file() { # file <path>: of the tree, with the text on standard input
  mkdir -p "$scratch/tree/$(dirname "$1")"
  cat > "$scratch/tree/$1"
}
check() {
  "$root/.ci/check_names" "$scratch/tree"
}

file runtime/a.hpp <<END
namespace potluck {
struct peer { int id; enum class kind { a, b }; };
class other;
} // namespace potluck
END
file tools/a.hpp <<END
// namespace potluck { struct peer {
namespace potluck::lab {
struct peer { char brace = '{'; };
const char* text = "namespace potluck { class peer {";
} // namespace potluck::lab
END
file models/a.cpp <<END
namespace potluck {
namespace {
struct peer {};
} // namespace
void f() { struct peer {}; }
struct outer { struct peer {}; };
} // namespace potluck
END
expect 'other namespaces, and types inside' 0 'no name twice' check

file models/a.hpp <<END
namespace potluck {
class peer final : public outer {};
} // namespace potluck
END
expect 'a second one' 1 '^potluck::peer: defined in models/a\.hpp and runtime/a\.hpp' check
expect 'the project itself' 0 'no name twice' "$root/.ci/check_names"

conclude
