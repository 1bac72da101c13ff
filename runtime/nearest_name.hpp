/// Which name a mistyped one was probably meant to be: for sentences about
/// options, fields and subcommands that do not exist.
#pragma once

#include <string>
#include <vector>

namespace potluck {

/// The candidate that `word` is most likely a slip of, or "" if none is near:
/// the fewest edits (insert, drop, replace, swap neighbours), of which a short
/// word may take two and a long one a third of its letters; else the first that
/// begins with this word and a dash.
std::string nearest_name(const std::string& word,
                         const std::vector<std::string>& candidates);

} // namespace potluck
