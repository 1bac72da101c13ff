/// Events for the tests of the judge.
#pragma once

#include <algorithm>

#include "tools/lab/judge/logged_event.hpp"

namespace potluck {

/// Puts `value` in the place of the field, or behind the others.
inline void set(event& x, const std::string& field, event::value value) {
  for (auto& [name, old] : x.fields)
    if (name == field) {
      old = std::move(value);
      return;
    }
  x.fields.emplace_back(field, std::move(value));
}

inline void drop(event& x, const std::string& field) {
  x.fields.erase(
      std::remove_if(x.fields.begin(), x.fields.end(),
                     [&](const auto& y) { return y.first == field; }),
      x.fields.end());
}

} // namespace potluck
