/// What a run's organiser has signed, on its way from peer to peer, and how a
/// peer is admitted to a run. What the bytes say, and what they are signed
/// with, is the business of runtime/organiser and runtime/admission.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace potluck {

/// Which amendments does the receiver hold of a run?
struct amendments_request {
  std::uint64_t token = 0;
  /// Of which run, where the receiver serves several; empty: of its own.
  std::string run = {};
  /// The sender holds all up to this number.
  std::uint64_t after = 0;
};

/// One amendment as its organiser signed it.
struct signed_amendment {
  std::string bytes; ///< Raw.
};

/// Those after the number that was asked for, or news that nobody asked for.
struct amendments_reply {
  std::uint64_t token = 0; ///< 0: news.
  std::string run = {};
  std::vector<signed_amendment> amendments; ///< In the order of their numbers.
};

/// Asks a run's authority for an admission, or, where that is away, a member
/// for one that tides over.
struct admission_request {
  std::uint64_t token = 0;
  std::string run = {};
  std::string claim = {}; ///< Why it should be granted; raw bytes.
};

struct admission_reply {
  std::uint64_t token = 0;
  std::string admission = {}; ///< Raw bytes; empty: refused.
  std::string sentence = {};  ///< Why, when refused.
};

/// A newer admission of the sender than that of its `hello`.
struct admission_shown {
  std::string admission;
};

} // namespace potluck
