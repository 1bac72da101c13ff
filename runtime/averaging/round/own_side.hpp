/// A member's own side of the agreement: where it stands, which means it holds,
/// and which it is after.
///
/// Pure: round_agreement, which owns it, knows the others and the epochs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "runtime/averaging/round/chunk_ledger.hpp"
#include "runtime/averaging/round/member_stand.hpp"

namespace potluck {

class own_side {
public:
  using actions = chunk_ledger::actions;

  /// @param self A trainer needs the means; others average only, as spectators.
  own_side(const group_contract& contract, const chunk_map& map,
           std::size_t self);

  const chunk_ledger& ledger() const {
    return ledger_;
  }
  const member_stand& stand() const {
    return own_;
  }
  bool spectator() const {
    return spectator_;
  }
  bool decided() const {
    return own_.final();
  }
  bool prepared() const {
    return own_.is == standing::prepared;
  }
  /// Can serve every mean of the round to others.
  bool holds_means() const {
    return !spectator_ && (prepared() || own_.is == standing::committed);
  }
  /// Gets the means that somebody has committed.
  bool fetching() const {
    return fetching_;
  }
  /// From this member; none: it gets none.
  std::optional<std::size_t> holder() const {
    return fetching_ ? std::optional<std::size_t>{holder_} : std::nullopt;
  }
  /// Obeys a heal, and knows of nothing newer.
  bool healing() const {
    return healing_;
  }

  // ---- means. `frozen`: this member has said where it stands, so that what
  // comes now is late, but for what a later ruling names.

  void part_here(std::uint32_t chunk, std::uint64_t samples) {
    ledger_.part_here(chunk, samples);
  }
  void mean_here(const chunk_mean& x) {
    ledger_.mean_here(x);
  }
  actions averaged(std::uint32_t chunk, std::vector<std::uint8_t> left_out,
                   bool frozen);
  bool wants(std::size_t from, const chunk_mean& x, bool frozen) const;
  actions asked(std::size_t by, const mean_request& x);
  /// Every mean that counts is here, and it matters.
  bool digest_wanted(bool frozen) const;
  /// What is here, with the digest of the whole vector.
  vector_mark whole(const digest& mean) const {
    return {mean, ledger_.least_samples(), ledger_.most_samples()};
  }

  // ---- from standing to standing

  /// Holds every mean. @param ruled As in `round_standing`.
  void prepare(const vector_mark& has, std::uint32_t ruled);
  /// What is held is what a ruling says, but it is not over.
  void hold(std::uint32_t ruled);
  /// What it was getting does not count by itself any more.
  void stop();
  actions obey(const round_heal& x, const std::vector<bool>& lost);
  /// While the heal of `epoch` runs, a member's line has broken.
  actions do_without(std::size_t member, std::uint32_t epoch) const;
  /// The line to a member is back, and what was on it is lost: once more what
  /// the two owe each other.
  actions again_with(std::size_t member, bool frozen) const;
  actions fetch(std::size_t holder, const vector_mark& mean, bool everything);
  enum class fetched {
    right,   ///< These are the means that were committed.
    refetch, ///< They are not, and all of them are to be fetched again.
    wrong,   ///< Nor the second time.
  };
  /// All that was asked for is here.
  fetched end_fetch(const vector_mark& has);
  actions fetch_again() {
    return fetch(holder_, vector_mark{wanted_}, true);
  }
  void decide(bool commit, const vector_mark& mean);

  /// Everything that the future depends on, as bytes.
  void fingerprint(std::string& out) const;

private:
  chunk_ledger ledger_;
  bool spectator_;
  member_stand own_;
  bool healing_ = false;
  bool fetching_ = false;
  bool fetched_all_ = false; ///< The present fetch already asks for everything.
  std::size_t holder_ = 0;
  vector_mark wanted_;
};

} // namespace potluck
