/// The handles of the C interface: numbers, so that a wrong one is found out;
/// and what becomes of them when the process forks or exits.
#pragma once

#include <memory>
#include <string>

#include "tools/library/session.hpp"

namespace potluck::library {

/// Of handles at once.
constexpr std::size_t most_handles = 64;

/// Whether this process was forked from one that has opened a run.
bool is_forked();
/// From here on, a fork of this process may not use anything.
void note_opened();

/// 0: there are too many.
unsigned long add_handle();
/// Throws `complaint` where there is none.
std::shared_ptr<session> find_handle(unsigned long handle);
/// Takes it out; likewise.
std::shared_ptr<session> take_handle(unsigned long handle);

/// What was wrong with calls on no handle.
void note_stray_problem(const std::string& sentence);
std::string stray_problem();

} // namespace potluck::library
