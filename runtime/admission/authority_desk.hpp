/// What a run's authority answers to claims: many at once, so that one write to
/// the disk serves them all.
///
/// Blocks while the book is written; for a thread of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "messages/organiser.hpp"
#include "runtime/admission/admission.hpp"
#include "runtime/admission/authority_book.hpp"
#include "runtime/admission/list_runs.hpp"

namespace potluck {

class authority_desk {
public:
  struct settings {
    std::set<std::string> runs; ///< Keys of those that it admits to.
    shared_signatures signs;    ///< Its own.
    std::uint64_t token_ms = 0; ///< A token's life.
    std::uint64_t grant_ms = 0; ///< Of what the list or the program grants.
    std::uint32_t machines = authority_book::usual_machines;
    /// A program is asked about those that nothing else lets in.
    bool has_program = false;
    /// Runs that admit by the list alone; null: none.
    std::shared_ptr<const list_runs> by_list = {};
  };
  struct claim {
    peer_id from;
    admission_request what;
    bool vetted = false; ///< The program has said yes.
  };
  struct outcome {
    struct answer {
      peer_id to;
      admission_reply what;
    };
    /// Granted ones are safe in the book.
    std::vector<answer> answers;
    /// The program is to be asked about these.
    std::vector<claim> to_vet;
    /// Why the book could not be used; then nobody is answered, and those who
    /// have asked ask again.
    std::string trouble;
  };

  authority_desk(authority_book book, settings how)
      : book_(std::move(book)), how_(std::move(how)) {
  }

  /// @param now_ms Since 1970.
  outcome look_at(std::vector<claim> claims, std::uint64_t now_ms);

private:
  expected<bool> look_at(claim x, std::uint64_t now_ms, outcome& out);

  authority_book book_;
  settings how_;
};

} // namespace potluck
