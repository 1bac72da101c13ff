/// The conversation of `potluck-script`: it warms up, confines itself, and
/// answers what `models/script/script_protocol.hpp` lists.
#pragma once

namespace potluck {

/// What is looked at before a file runs. The sandbox is there in any case.
struct script_checks {
  bool archive = true;   ///< The file, before it is loaded.
  bool operators = true; ///< The operators of forward, before it is called.
};

/// A program's `main`: serves until its owner closes the channel.
int serve_script(int argc, char** argv, const script_checks& checks = {});

} // namespace potluck
