/// The amendments of one run that a peer holds: verified, in order, without
/// gaps.
///
/// Of two that the organiser has signed under one number the first one stays,
/// and the second is said aloud: that is the organiser's error. Pure.
#pragma once

#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "messages/organiser.hpp"
#include "runtime/organiser/amendment.hpp"

namespace potluck {

class amendment_book {
public:
  /// Of one run: an organiser that changes its mind more often creates another.
  static constexpr std::size_t most = 512;

  amendment_book(run_id run, organisers signers)
      : run_(run), signers_(std::move(signers)) {
  }

  enum class verdict {
    accepted,
    known,       ///< Held already.
    gap,         ///< Others come before it, which are not here.
    contradicts, ///< Rightly signed, and another of its number is held.
    newer,       ///< Rightly signed, and not understood.
    wrong,       ///< Not signed, of another run, or one too many.
  };
  struct outcome {
    verdict is = verdict::wrong;
    std::string sentence; ///< The end of one; empty where all is well.
  };
  outcome take(const std::string& bytes);

  /// The number of the last one; 0: none.
  std::uint64_t latest() const {
    return all_.size();
  }
  const std::vector<amendment>& all() const {
    return all_;
  }
  /// Those behind a number, as many as a message takes.
  std::vector<signed_amendment> after(std::uint64_t number) const;

  /// As a file.
  std::string to_bytes() const;
  /// Takes those of a file that are sound and in order. @returns What is wrong
  /// with the rest, as the end of a sentence; empty: nothing.
  std::string read(const std::string& bytes);

private:
  run_id run_;
  organisers signers_;
  std::vector<amendment> all_;
  std::vector<std::string> bytes_; ///< Of each.
};

} // namespace potluck
