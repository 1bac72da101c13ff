/// Where the programs are that models start and confine.
#pragma once

#include <string>
#include <vector>

#include "messages/expected.hpp"

namespace potluck {

struct helper_program {
  const char* file;
  const char* variable; ///< Of the environment, which may name it.
  const char* does;     ///< For a person.
};

constexpr helper_program tokenizer_program{
    "potluck-tokenizer", "POTLUCK_TOKENIZER", "reads text for models"};
constexpr helper_program torchscript_program{"potluck-script", "POTLUCK_SCRIPT",
                                             "computes models of TorchScript"};

/// Where the program may be, in order: what its environment variable names, and
/// nowhere else when it is set; beside the executable; where this build puts
/// it, or installs it.
std::vector<std::string> candidates_for(const helper_program& what);

/// The first of the candidates that can be executed. Fails with a sentence when
/// there is none.
expected<std::string> find_program(const helper_program& what,
                                   const std::vector<std::string>& candidates);

} // namespace potluck
