/// What the functions of potluck.h have in common: handles looked up, arguments
/// checked, and whatever is thrown caught.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <string>

#include "runtime/clock.hpp"
#include "tools/library/handles.hpp"

namespace potluck::library {

constexpr auto forked
    = "this process was forked from one that had opened a run; use Potluck in "
      "that one only, fork before, or start processes by exec";

/// What was wrong, where it is found again.
inline int note(unsigned long handle, const char* sentence, int result) {
  try {
    find_handle(handle)->fail_with(sentence);
  } catch (const std::exception&) {
    note_stray_problem(sentence);
  }
  return result;
}

/// `job(session)`, whatever it throws.
template <class Job>
auto guarded(unsigned long handle, Job job)
    -> decltype(job(*find_handle(handle))) {
  if (is_forked())
    return POTLUCK_FORKED;
  try {
    return job(*find_handle(handle));
  } catch (const complaint& x) {
    return note(handle, x.what(), x.result());
  } catch (const std::bad_alloc&) {
    return note(handle, "there is not enough memory", POTLUCK_FAILED);
  } catch (const std::exception& x) {
    return note(handle, x.what(), POTLUCK_FAILED);
  }
}

template <class T>
T* needed(T* x, const char* what) {
  if (!x)
    throw complaint{std::string{what} + " is null"};
  return x;
}

inline duration patience_of(double seconds) {
  constexpr double longest = 86400;
  if (!(seconds >= 0))
    throw complaint{"seconds must be at least 0"};
  return std::chrono::duration_cast<duration>(
      std::chrono::duration<double>(std::min(seconds, longest)));
}

/// As much of it as there is room for. @return Its length.
inline long put(const std::string& text, char* out, unsigned long size) {
  if (size > 0) {
    const auto length = std::min<std::size_t>(text.size(), size - 1);
    std::memcpy(needed(out, "text"), text.data(), length);
    out[length] = '\0';
  }
  return static_cast<long>(text.size());
}

} // namespace potluck::library
