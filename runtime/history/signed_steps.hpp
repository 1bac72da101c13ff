/// What those that made a step sign of it, and how far that carries: steps of
/// which each is signed by most of the weight of those that made the one
/// before.
///
/// Pure but for the arithmetic of signatures. README.md says what is signed.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "messages/history.hpp"
#include "messages/limits.hpp"
#include "messages/matchmaking.hpp"
#include "runtime/history/electorates.hpp"
#include "runtime/ports/signatures.hpp"

namespace potluck {

/// Those of a contract whose gradients are in its step, unsigned.
/// @param left_out Members' indices that are not behind it.
std::vector<step_maker> makers_of(const group_contract& x,
                                  const std::vector<std::uint8_t>& left_out);

electorates::weights weights_of(const signed_step& x);

step_signature sign(const signed_step& x, const signatures& own);

/// Forgets those signatures that are not their maker's.
void drop_forgeries(signed_step& x, const signatures& how);

/// Whether more than half of that weight has signed it, as far as is known.
bool most_have_signed(const signed_step& x, const electorates::weights& of);

/// The newest such step, and of those before what leads there: the last ones of
/// those that have left, as long as there is room, and else one for each time
/// that most of the group has changed. A group that stays the same is two
/// steps.
class signed_history {
public:
  /// Steps that are kept; beyond, the oldest is forgotten.
  static constexpr std::size_t most = max_shown_steps;

  signed_history() = default;
  /// What somebody shows, without forgeries and without what leads nowhere.
  signed_history(std::vector<signed_step> shown, const signatures& how);

  bool empty() const {
    return steps_.empty();
  }
  /// The newest last.
  const std::vector<signed_step>& steps() const {
    return steps_;
  }
  /// Not when empty.
  const signed_step& newest() const {
    return steps_.back();
  }
  /// A later step, without forgeries. What does not lead there is forgotten.
  void add(signed_step x);
  /// Whether one of these has signed a step of it.
  bool is_signed_by_any(const std::set<peer_id>& of) const;
  /// Those of its steps that go on from the newest one of `x` are put behind
  /// it. @return Whether there are any.
  bool extend_with(const signed_history& x);

private:
  std::vector<signed_step> steps_;
};

} // namespace potluck
