/// The values of a round at one of its members: its parts on their way out, the
/// means on their way in, and those that it makes itself.
///
/// It does not know the protocol, nor does it sum: each chunk's reducer does.
/// Pure but for the intake, which the thread that receives shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "messages/matchmaking.hpp"
#include "runtime/averaging/round/chunk_ledger.hpp"
#include "runtime/averaging/round/mean_places.hpp"
#include "runtime/averaging/round/mean_shelf.hpp"
#include "runtime/averaging/round/member_roll.hpp"
#include "runtime/averaging/round/part_source.hpp"
#include "runtime/averaging/round/round_intake.hpp"
#include "runtime/averaging/round/round_orders.hpp"
#include "runtime/averaging/round_auditor.hpp"
#include "runtime/averaging/value_pool.hpp"
#include "runtime/planning/share_plan.hpp"

namespace potluck {

class round_bulk {
public:
  /// @param usual The packing where the plan says nothing. @param rooms Where
  /// means are made. @param all_placed As in `round_intake::begin`.
  round_bulk(const group_contract& contract, const share_plan& plan,
             std::size_t self, packing usual, value_pool rooms,
             std::shared_ptr<round_intake> intake,
             std::function<void()> all_placed);

  const chunk_map& map() const {
    return map_;
  }
  round_intake& intake() const {
    return *intake_;
  }

  // ---- parts

  part_source& parts() {
    return parts_;
  }
  const part_source& parts() const {
    return parts_;
  }
  /// Our part of a chunk for another reducer; none while it is owed.
  std::optional<round_mail> part_for(std::uint32_t chunk, std::size_t to);
  /// Our part of a chunk for its reducer here, once; none while it is owed.
  std::optional<offer_part> own_part(std::uint32_t chunk);
  /// The reducer of a chunk here need not wait for these.
  void do_without(std::uint32_t chunk,
                  const std::vector<std::uint8_t>& members);
  /// The reducer of a chunk here has ended, and with it our part in the sum.
  /// @returns How many have by now.
  int reducer_lost(std::uint32_t chunk);
  /// Its successor does without the same members, and needs the others' parts.
  round_orders ask_anew(std::uint32_t chunk, const member_roll& members);

  // ---- means

  /// Puts the means of this member's gradient alone in their places.
  /// False: a value is beyond any gradient's, and the means are anything.
  bool average_alone(const std::vector<float>& gradient, std::uint64_t samples,
                     unsigned threads);
  /// A mean was made here.
  void keep(std::uint32_t chunk, std::shared_ptr<const std::vector<float>> mean,
            std::vector<digest> parts);
  bool made(std::uint32_t chunk) const {
    return shelf_.parts(chunk) != nullptr;
  }
  /// Of the parts in a mean that was planned to be made here; null for others.
  const std::vector<digest>* parts_in(std::uint32_t chunk) const;
  /// Puts the means made here that count where they belong.
  void adopt(const chunk_ledger& ledger);
  bool needs_means() const {
    return places_ != nullptr;
  }
  mean_places& places() const {
    return *places_;
  }
  /// Why a mean that is wanted does not count; null: it does.
  const char* objection(const chunk_ledger& ledger, std::size_t by,
                        const chunk_mean& x) const;
  /// Puts a mean that is wanted in its place.
  /// @returns Why it does not count; null: it does.
  const char* place(const chunk_ledger& ledger, std::size_t by,
                    const chunk_mean& x, const shared_bytes& body);
  void note_seal(const chunk_mean& x) {
    shelf_.note_seal(x.chunk, x.seal);
  }
  /// Whether a member may ask for a mean once more. An honest one does after a
  /// heal, when its line was broken, and when what it got is not what counts.
  bool may_ask(std::size_t member, std::uint32_t chunk) {
    constexpr unsigned most = 8;
    return chunk < map_.chunk_count() && ++asked_[{member, chunk}] <= most;
  }
  /// A mean that is here, as it is sent.
  std::optional<round_mail> mean_for(const chunk_ledger& ledger,
                                     std::uint32_t chunk, std::size_t to) const;
  /// What there is to check a mean with; none when it cannot be checked.
  std::optional<mean_evidence> evidence(const chunk_ledger& ledger,
                                        std::uint32_t chunk) const;
  /// Likewise; but of a mean that came from somebody else than its planned
  /// reducer, this member's part in it, which others may check.
  std::optional<mean_evidence> evidence_or_part(const chunk_ledger& ledger,
                                                std::uint32_t chunk) const;

private:
  /// A chunk that this member averages.
  struct own_chunk {
    bool has_ours = false;          ///< Its reducer was offered our own part.
    std::set<std::uint8_t> without; ///< Members that it need not wait for.
    int reducers_lost = 0;
  };

  group_id group_;
  std::size_t self_;
  chunk_map map_;
  value_pool rooms_;
  std::shared_ptr<round_intake> intake_;
  part_source parts_;
  std::shared_ptr<mean_places> places_; ///< Null: it needs no means.
  mean_shelf shelf_;
  /// How often each member has asked for each mean.
  std::map<std::pair<std::size_t, std::uint32_t>, unsigned> asked_;
  std::map<std::uint32_t, own_chunk> own_chunks_;
};

} // namespace potluck
