/// The acting leader's half of the agreement: where the others said they stand,
/// what is ruled of it, and who still lacks means.
///
/// Pure: it returns what to say and to do. round_agreement, which owns it, does
/// so, keeps the epochs, and asks it only while this member leads: from the
/// beginning where it is the first of the contract, else from a `settle` on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/averaging/round/member_roll.hpp"
#include "runtime/averaging/round/own_side.hpp"
#include "runtime/averaging/round/round_actions.hpp"
#include "runtime/averaging/round/round_healing.hpp"

namespace potluck {

class round_leader {
public:
  /// "This is final for this member."
  struct decide {
    bool commit = false;
    vector_mark mean = {};
  };
  /// "Get these means from that member."
  struct fetch {
    std::size_t holder = 0;
    vector_mark mean;
  };
  /// "What this member holds counts, but others lack it."
  struct hold {};
  /// "Settle again, at this leader's next epoch."
  struct settle_again {
    std::optional<std::size_t> without; ///< Is not waited for.
  };
  /// Of a `round_heal`: "obey it". What others hear comes before.
  using order = std::variant<send_to_member, decide, fetch, hold, settle_again,
                             round_heal>;
  using orders = std::vector<order>;

  /// @param keeps_majority As in `round_agreement`.
  round_leader(const group_contract& contract, const chunk_map& map,
               bool keeps_majority);

  /// Opens an epoch: asks all where they stand.
  orders settle(std::uint32_t epoch, const member_roll& roll,
                const own_side& own);
  /// The first leader, before any settle: when all trainers are prepared,
  /// commits, or aborts if two differ; nothing while it must wait for more.
  orders rule_if_prepared(const member_roll& roll, const own_side& own);
  /// When all believed alive have said where they stand: what follows.
  orders rule_if_all_stand(const member_roll& roll, const own_side& own);
  /// The same for a heal that runs.
  orders rule_if_mended(const member_roll& roll, const own_side& own);

  void heard(std::size_t member, member_stand what) {
    said_[member] = std::move(what);
  }
  /// Where a member stands, in answer to a settle or because it has decided.
  orders stands(std::size_t member, member_stand what, const member_roll& roll,
                const own_side& own);
  /// Fewer are believed alive.
  orders lost(const member_roll& roll, const own_side& own);
  /// The patience has passed without progress.
  /// @param roll Who is silent is suspected.
  orders expired(member_roll& roll, const own_side& own);
  /// This member gives the round up: most have gone on without it.
  orders abort(const member_roll& roll, const own_side& own) {
    return rule(false, {}, roll, own);
  }
  /// Commits, and tells auxiliaries, when nobody lacks means any more.
  orders finish(const member_roll& roll, const own_side& own);

  /// Others are known to have done the step.
  void overtaken() {
    overtaken_ = true;
  }
  /// Members that say that they have other means than this one, which most
  /// have; none where most have others.
  std::vector<std::size_t> odd_ones(const vector_mark& own) const;
  bool has_said(std::size_t member) const {
    return said_[member].has_value();
  }
  bool ruled() const {
    return ruled_;
  }
  /// In this epoch, or before.
  bool has_ruled() const {
    return has_ruled_;
  }
  /// Somebody lacks what was ruled to count.
  bool waiting(const member_roll& roll) const {
    return !ruled_ || spectators_wait_ || anybody_lacks(roll);
  }

  /// Everything that the future depends on, as bytes.
  void fingerprint(std::string& out) const;

private:
  orders rule(bool commit, const vector_mark& mean, const member_roll& roll,
              const own_side& own);
  /// Commits if these means are enough for a step.
  orders rule_on(const vector_mark& mean, const member_roll& roll,
                 const own_side& own);
  orders heal(const member_roll& roll, const own_side& own);
  /// It is lost; or it claims to hold the means and does not send them, which
  /// is as if it were.
  bool is_out(std::size_t member, const member_roll& roll) const;
  bool has_majority(const member_roll& roll) const;
  bool anybody_lacks(const member_roll& roll) const;
  round_verdict verdict(bool commit) const;

  group_id group_;
  direct_lines lines_;
  round_healing remedy_;
  std::uint64_t least_samples_;
  bool keeps_majority_;
  bool overtaken_ = false;
  std::uint32_t epoch_ = 0;
  std::vector<std::optional<member_stand>> said_; ///< In this epoch.
  /// Was told to fetch, has a line to the holder, and has not done so yet.
  std::vector<bool> lacking_;
  std::vector<unsigned> in_vain_; ///< Fetches from each member.
  unsigned returns_ = 0;          ///< Into heals without them.
  bool ruled_ = false;            ///< The verdict of this epoch is out.
  bool has_ruled_ = false; ///< Or was, of another. Nothing is ruled by it.
  vector_mark ruling_;     ///< The mean that counts.
  std::size_t holder_ = 0; ///< Has it: this member if it can be.
  /// Auxiliaries hear of a commit only when every trainer alive has the means:
  /// what they know must not die with the only one that has them.
  bool spectators_wait_ = false;
  bool asked_again_ = false; ///< Why a verdict was not followed.
  int stalls_ = 0;           ///< Heals of as many that came to a halt.
  std::size_t healers_ = 0;  ///< That took part in the last heal.
};

} // namespace potluck
