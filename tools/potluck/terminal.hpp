/// What a person sees of a running peer: one live line on a terminal, plain
/// lines elsewhere.
#pragma once

#include <string>

#include "actors/mailbox.hpp"

namespace potluck::tools {

class terminal {
public:
  terminal();

  void show(const event& x);
  void show(const run_status& x);
  /// Ends the live line, so that what follows starts on a line of its own.
  void end_line();

private:
  void print(const std::string& line);
  /// As the live line, which must fit the terminal's width.
  void rewrite(const std::string& line);

  bool live_;
  bool line_open_ = false;
  std::string last_;
  std::string reach_; ///< How others get here, in a word; empty: not known.
};

} // namespace potluck::tools
