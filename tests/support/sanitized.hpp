/// Whether sanitizers watch the tests (tools/sanitize): all takes many times as
/// long, so how fast something is cannot be tested.
#pragma once

namespace potluck {

#ifdef POTLUCK_SANITIZED
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

} // namespace potluck
