/// Amendments of one run, signed by its organiser, for tests.
#pragma once

#include "runtime/organiser/amendment.hpp"

namespace potluck::amendments {

inline const key_pair& organiser() {
  static const auto key = key_pair::generate();
  return key;
}

inline run_id run() {
  run_id x;
  x.bytes[0] = 7;
  return x;
}

inline amendment of(std::uint64_t number, run_change change,
                    std::uint64_t from = 0) {
  amendment x;
  x.run = run();
  x.number = number;
  x.from = from;
  x.signed_ms = 1'700'000'000'000;
  x.change = std::move(change);
  return x;
}

inline std::string bytes(const amendment& x,
                         const key_pair& key = organiser()) {
  return sign_amendment(x, key);
}

} // namespace potluck::amendments
