/// An authority, members and what they show each other.
#pragma once

#include "runtime/admission/admission.hpp"
#include "runtime/identity/key_pair.hpp"

namespace potluck {

constexpr std::uint64_t minute_ms = 60'000;
constexpr std::uint64_t hour_ms = 60 * minute_ms;
constexpr std::uint64_t noon_ms = 1'800'000'000'000;

/// Whoever has a key.
struct party {
  shared_signatures signs = signatures_of(key_pair::generate());
  peer_id id() const {
    return signs->owner_of(signs->key());
  }
};

/// Any one.
inline run_id run_number(std::uint8_t first) {
  run_id x;
  x.bytes.fill(first);
  return x;
}

struct parties {
  party authority;
  party ann;
  party bob;
  party stranger;
  admission_scene at{run_number(7),
                     {admission_rules::mode::token, {authority.id(), {}}, true},
                     noon_ms};

  /// By the authority, for an hour from now.
  admission token(const party& holder, std::uint64_t from_ms = noon_ms,
                  std::uint64_t life_ms = hour_ms) const {
    return issue({at.run, holder.id(), from_ms, from_ms + life_ms, {}},
                 *authority.signs);
  }
  admission voucher(const party& by, const admission& backing,
                    const party& holder, std::uint64_t from_ms = noon_ms,
                    std::uint64_t life_ms = 30 * minute_ms) const {
    return issue({at.run,
                  holder.id(),
                  from_ms,
                  from_ms + life_ms,
                  {},
                  to_bytes(backing),
                  to_bytes(token(holder))},
                 *by.signs);
  }
  /// Why it does not let the holder in; empty: it does.
  std::string problem(const admission& x, const party& holder) const {
    return problem_with(x, holder.id(), at, *bob.signs);
  }
};

} // namespace potluck
