/// What a member's round wants of the actor that runs it, beyond its own
/// bookkeeping: one struct each, carried out in the order in which they come.
///
/// Members are indices into the contract.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "messages/message.hpp"
#include "runtime/clock.hpp"

namespace potluck {

/// "Send this to that member."
struct round_mail {
  std::size_t to = 0;
  message content;
  shared_bytes body = {};
};

/// "Offer this part to the chunk's reducer", which exists from here on.
struct offer_part {
  std::size_t member = 0;
  chunk_part head;
  shared_bytes body;
};

/// "The chunk's reducer is not to wait for these members."
struct do_without {
  std::uint32_t chunk = 0;
  std::vector<std::uint8_t> members;
};

/// "Something is wrong, and people should be able to see it."
struct round_fault {
  std::size_t member = 0;
  std::string what;
  std::string detail;
};

/// "The member has done what no honest one does."
struct member_accused {
  std::size_t member = 0;
  std::string why;
  bool by_majority = false; ///< Most members can tell, not only this one.
};

/// "No mean that counts can come from there: end the session."
struct member_dropped {
  std::size_t member = 0;
  std::string why;
};

/// "These lied, or contradict others; one of them may be this member."
struct members_in_doubt {
  std::vector<std::size_t> members;
  std::string why;
};

/// "A mean has been checked", for people to see.
struct mean_checked {
  std::size_t reducer = 0;
  std::uint32_t chunk = 0;
  bool challenged = false; ///< By others; else it was drawn here.
  std::string outcome;
};

/// "Call `reminded` after so long."
struct audit_reminder {
  duration after{0};
  std::optional<std::uint32_t> chunk; ///< Being checked; none: the findings.
};

/// "It is decided: nothing more is summed, and the plan's windows end." What it
/// came to follows, at once or when it is known who lied.
struct round_decided {};

/// "The round is over here." Once.
struct round_outcome {
  bool committed = false;
  std::shared_ptr<const std::vector<float>> mean; ///< Of trainers that commit.
  std::uint64_t samples = 0;                      ///< Behind every value.
  /// Those whose gradient is not in every chunk.
  std::vector<std::uint8_t> left_out;
  bool healed = false; ///< Somebody was lost, and the others went on.
  /// Trainers that are connected and kept silent until patience ended, and
  /// members that gave the round up of themselves.
  std::vector<std::size_t> silent;
  bool watched = false; ///< It would have named the silent.
  /// Auxiliaries that did not average their chunks, or came late with them.
  std::vector<std::size_t> stalled;
  duration taken{0};
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
};

using round_order
    = std::variant<round_mail, offer_part, do_without, round_fault,
                   member_accused, member_dropped, members_in_doubt,
                   mean_checked, audit_reminder, round_decided, round_outcome>;
using round_orders = std::vector<round_order>;

/// Whether somebody is said to have lied.
inline bool names_liars(const round_orders& all) {
  for (const auto& x : all)
    if (std::holds_alternative<members_in_doubt>(x))
      return true;
  return false;
}

} // namespace potluck
