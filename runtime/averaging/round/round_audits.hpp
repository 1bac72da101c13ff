/// A round's two auditors, as one: who lies about means, and about sums.
///
/// Which of the two draws goes by the round's rule; questions, parts and time
/// go to whichever they concern.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "runtime/averaging/round_auditor.hpp"
#include "runtime/averaging/sum_auditor.hpp"

namespace potluck {

class round_audits {
public:
  using evidence_source = round_auditor::evidence_source;

  /// @param denials Of this member's rounds so far; null: this is the first.
  round_audits(const group_contract& contract, const chunk_map& map,
               std::size_t self, averaging_rule rule,
               std::shared_ptr<denials> denials);

  /// What this member checks by chance.
  /// @param nonce Nobody else knows it.
  /// @param sees_all It has a line to everybody, whose parts a check needs.
  void draw(random_stream& chance, std::uint64_t nonce, bool sees_all);

  void at(time_point now) {
    sums_.at(now);
  }
  /// A part that came for a check, not for a sum; nothing: it is for a sum.
  std::optional<round_orders> shown(std::size_t by, const chunk_part& head,
                                    const shared_bytes& body);
  /// @param means What there is to check a mean with. @param sums Or, of a
  /// chunk without one, this member's own part.
  round_orders receive(std::size_t by, const message& content,
                       const evidence_source& means,
                       const evidence_source& sums);
  /// Whether a member that asks for our part of a chunk gets it.
  bool may_show(std::size_t to, std::uint32_t chunk) {
    return means_.may_show(to, chunk);
  }
  /// All means are here: the one that was drawn can be checked.
  round_orders all_here(const evidence_source& means);
  /// The parts of this chunk are for a new mean now.
  void forget(std::uint32_t chunk) {
    means_.forget(chunk);
  }

  /// The round counts: no mean changes any more.
  round_orders committed(const evidence_source& sums) {
    return sums_.committed(sums);
  }
  /// It was aborted although every mean is here. See `round_auditor::inquire`.
  round_orders inquire(std::vector<digest> found, round_outcome outcome) {
    return means_.inquire(std::move(found), std::move(outcome));
  }
  bool all_spoke(const std::function<bool(std::size_t)>& present) const {
    return means_.all_spoke(present);
  }
  /// Names who lied about means, once.
  round_orders judge() {
    return means_.judge();
  }
  /// What was asked for about this chunk may have been waited for long enough.
  round_orders waited_for(std::uint32_t chunk);
  /// The next round begins.
  round_orders give_up() {
    return sums_.give_up();
  }

private:
  bool linear_; ///< The rule, so that sums can be checked by projections.
  round_auditor means_;
  sum_auditor sums_;
};

} // namespace potluck
