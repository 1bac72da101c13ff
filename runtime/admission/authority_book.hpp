/// Whom an authority admits to runs, and until when, in a file of SQLite.
///
/// What was committed survives a power cut. Several processes may have the file
/// open: the one that serves, and those that add codes and names. Only hashes
/// of codes are kept. Times are milliseconds since 1970. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "runtime/admission/admission_claim.hpp"
#include "runtime/manifest/run_key.hpp"
#include "runtime/ports/signatures.hpp"

struct sqlite3;

namespace potluck {

class authority_book {
public:
  static constexpr std::uint64_t for_ever = std::uint64_t{1} << 62;
  /// Machines of one person, unless somebody says otherwise.
  static constexpr std::uint32_t usual_machines = 16;

  /// Makes the file when it is missing. Fails with a sentence.
  static expected<authority_book> open(const std::string& path);

  // ---- the organiser

  /// @param uses How many may be let in by it; 0: any number.
  /// @param until_ms When the code ends.
  /// @param grant_ms How long those that it lets in may stay.
  expected<bool> add_code(const run_id& run, const invite_code& code,
                          std::uint64_t uses, std::uint64_t until_ms,
                          std::uint64_t grant_ms);
  /// A peer's or a person's id.
  expected<bool> allow(const run_id& run, const peer_id& who,
                       std::uint64_t until_ms);
  /// Takes a peer or a person off the list, and ends what was granted to them.
  /// @returns Whether there was anything.
  expected<bool> revoke(const run_id& run, const peer_id& who);

  /// Who, since when, until when.
  struct grant {
    peer_id who;
    std::string how; ///< "code", "list" or "program".
    std::uint64_t since_ms = 0;
    std::uint64_t until_ms = 0;
    std::uint64_t machines = 0;
    std::uint64_t last_token_ms = 0; ///< When the last token given ends.
  };
  expected<std::vector<grant>> grants(const run_id& run);

  // ---- the one that serves

  /// All between these two counts together, and is safe once `commit` says so.
  expected<bool> begin();
  expected<bool> commit();

  /// What a claim comes to.
  struct verdict {
    /// Until when; 0: not.
    std::uint64_t until_ms = 0;
    /// Nobody else lets it in, and the program may be asked.
    bool may_ask = false;
    std::string sentence = {}; ///< Why not.
  };
  struct terms {
    std::uint64_t now_ms = 0;
    std::uint64_t token_ms = 0; ///< A token's life.
    std::uint64_t grant_ms = 0; ///< Of what a list or a program grants.
    std::uint32_t machines = usual_machines;
    bool vetted = false; ///< The program has said yes.
    /// Neither codes count nor what they granted.
    bool by_list = false;
  };
  /// Grants what the claim has a right to, and notes the token that is about to
  /// be given: it ends with the grant at the latest. A peer that was let in
  /// once needs no more.
  expected<verdict> judge(const run_id& run, const peer_id& who,
                          const admission_claim& claim, const terms& how,
                          const signatures& believed);

private:
  class statement;
  struct closer {
    void operator()(sqlite3* x) const;
  };

  explicit authority_book(sqlite3* db) : db_(db) {
  }
  expected<bool> execute(const std::string& sql);
  failure trouble(const std::string& what) const;
  std::uint64_t granted_until(const run_id& run, const peer_id& subject,
                              bool by_list);
  expected<bool> note_grant(const run_id& run, const peer_id& subject,
                            const char* how, const terms& t,
                            std::uint64_t until_ms);

  std::unique_ptr<sqlite3, closer> db_;
  std::string path_;
};

} // namespace potluck
