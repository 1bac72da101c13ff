/// What a member holds against the others of its round, and whom it names when
/// the round is over: whose data is no good, who rules hastily, who lies.
///
/// It reads what is here, and changes none of it; `round_faults`,
/// `hasty_rulings` and `round_audits` find out, and it says which of them has
/// the word when. Pure: its owner carries the orders out. Members are indices
/// into the contract.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/averaging/round/hasty_rulings.hpp"
#include "runtime/averaging/round/member_watch.hpp"
#include "runtime/averaging/round/round_agreement.hpp"
#include "runtime/averaging/round/round_audits.hpp"
#include "runtime/averaging/round/round_bulk.hpp"
#include "runtime/averaging/round/round_faults.hpp"
#include "runtime/averaging/round/round_terms.hpp"

namespace potluck {

class round_jury {
public:
  /// @param agreement What has been said. @param bulk Which values are here.
  /// @param watch Who is connected, and how late it is. All three outlive this.
  round_jury(const round_terms& what, const round_agreement& agreement,
             const round_bulk& bulk, const member_watch& watch);

  /// What this member checks by chance.
  /// @param nonce Nobody else knows it.
  /// @param sees_all It has a line to everybody, whose parts a check needs.
  void draw(random_stream& chance, std::uint64_t nonce, bool sees_all) {
    audits_.draw(chance, nonce, sees_all);
  }
  void at(time_point now) {
    audits_.at(now);
  }

  // ---- data

  /// A reducer of this member's does without a part.
  round_orders part_refused(std::size_t member, const std::string& why);
  /// A mean that was wanted cannot be used.
  round_orders mean_refused(std::size_t member, const std::string& why) const {
    return faults_.blame_for_mean(member, why);
  }
  /// A mean counts: whose parts its reducer has refused.
  round_orders mean_here(std::size_t by, const chunk_mean& x);
  /// A part that came for a check, not for a sum; nothing: it is for a sum.
  std::optional<round_orders> shown(std::size_t by, const chunk_part& head,
                                    const shared_bytes& body) {
    return audits_.shown(by, head, body);
  }
  /// Whether a member that asks for our part of a chunk gets it.
  bool may_show(std::size_t to, std::uint32_t chunk) {
    return audits_.may_show(to, chunk);
  }
  /// The parts of this chunk are for a new mean now.
  void forget(std::uint32_t chunk) {
    audits_.forget(chunk);
  }
  /// All means are here: the one that was drawn can be checked.
  round_orders all_here() {
    return audits_.all_here(means());
  }

  // ---- words

  /// What a member says is not to be believed or followed. To be asked before
  /// anything is done about it.
  bool is_unfounded(std::size_t by, const message& content) {
    return hasty_.is_unfounded(by, content, agreement_, watch_);
  }
  /// A member has said something, and what follows in the round is done.
  round_orders heard(std::size_t by, const message& content);

  // ---- the end

  /// The agreement has decided.
  /// @param news Comes at once, or, where it is to be found out first whose
  /// means differed, with the judgement.
  round_orders decided(round_outcome news);
  /// An `audit_reminder` is due.
  round_orders reminded(std::optional<std::uint32_t> chunk);
  /// Nothing more will be heard: names who lied, by what is known.
  round_orders give_up();

private:
  bool inquires_after(bool commit) const;
  round_orders judge_if_all_spoke();
  round_orders judge();
  round_audits::evidence_source means() const {
    return [this](std::uint32_t chunk) {
      return bulk_.evidence(agreement_.ledger(), chunk);
    };
  }
  round_audits::evidence_source sums() const {
    return [this](std::uint32_t chunk) {
      return bulk_.evidence_or_part(agreement_.ledger(), chunk);
    };
  }

  const round_agreement& agreement_;
  const round_bulk& bulk_;
  const member_watch& watch_;
  const bool names_; ///< Who lied about means; else nobody asks.
  round_faults faults_;
  hasty_rulings hasty_;
  round_audits audits_;
  bool inquires_ = false; ///< Who lied about means, which all are here.
};

} // namespace potluck
