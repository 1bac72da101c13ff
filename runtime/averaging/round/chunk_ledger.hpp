/// One member's book of the round's chunks: which means are here and in which
/// version, where the others are to come from, and what has to be sent so that
/// they do.
///
/// Pure, and without any values. It does not know whether the round still runs:
/// round_agreement, which owns it, says what may be published and accepted.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "messages/averaging.hpp"
#include "messages/matchmaking.hpp"
#include "runtime/averaging/chunk_map.hpp"

namespace potluck {

/// Members are indices into the contract from here on.

/// "Send this member our part of the chunk."
struct send_part {
  std::uint32_t chunk = 0;
  std::size_t to = 0;
};

/// "Send this member the mean that we hold of the chunk."
struct send_mean {
  std::uint32_t chunk = 0;
  std::size_t to = 0;
};

/// "Ask this member for the mean of the chunk."
struct ask_mean {
  std::uint32_t chunk = 0;
  mean_version version = 0; ///< 0: the one that it holds.
  std::size_t from = 0;
};

/// "Average the chunk here (with our own part, if we have one) as soon as every
/// part but these has come."
struct average_chunk {
  std::uint32_t chunk = 0;
  std::vector<std::uint8_t> leave_out;
};

using chunk_action
    = std::variant<send_part, send_mean, ask_mean, average_chunk>;

class chunk_ledger {
public:
  using actions = std::vector<chunk_action>;

  /// @param map Of the contract's share plan, with as many members.
  chunk_ledger(const group_contract& contract, const chunk_map& map,
               std::size_t self);

  // ---- what is here

  /// A part of the chunk has come, from others or ourselves.
  void part_here(std::uint32_t chunk, std::uint64_t samples);

  /// The mean of the chunk has been averaged here, without these. It is a mean
  /// of some version only once `publish` says so.
  void averaged(std::uint32_t chunk, std::vector<std::uint8_t> left_out);

  /// If the chunk has been averaged here, and that is what counts: holds it
  /// from now on, and sends it to whoever should get it.
  actions publish(std::uint32_t chunk);

  /// The mean has come from another member.
  void mean_here(const chunk_mean& x);

  // ---- what is to come

  /// The mean is the one that counts, from the member that has it.
  bool wants(std::size_t from, const chunk_mean& x) const;

  /// From here on other means count. Drops those that no longer do, and asks
  /// for, sends and averages what is missing.
  /// @param lost Members that cannot take part as far as we know.
  actions heal(const round_heal& x, const std::vector<bool>& lost);

  /// While the heal of `epoch` runs, another member's line has broken: what is
  /// averaged here need not wait for it.
  actions do_without(std::size_t member, std::uint32_t epoch) const;

  /// The line to a member is up again, and what was on it is lost: our parts of
  /// what it averages once more, and the means of the plan that it lacks. It
  /// answers again what a heal has it asked for.
  /// @param published Means of the plan still count.
  actions again_with(std::size_t member, bool published) const;

  /// Asks the holder for every mean that is not here.
  actions ask_missing(std::size_t holder) const;

  /// A member wants a mean. Serves it if the version is here; otherwise
  /// remembers to do so when it is averaged here.
  actions asked(std::size_t by, const mean_request& x);

  void drop_all();

  // ---- questions

  bool complete() const {
    return held_count_ == held_.size();
  }
  /// 0 when it is not here.
  mean_version version(std::uint32_t chunk) const {
    return held_.at(chunk);
  }
  /// Chunks whose means a heal has this member make, and that are not made.
  std::vector<std::uint32_t> to_make(std::uint32_t epoch) const;
  /// Members from which means are still to come.
  std::set<std::size_t> awaited() const;
  /// The mean held was made here. One that was made here for a heal may have
  /// given way to another member's.
  bool is_own(std::uint32_t chunk) const {
    return own_.at(chunk);
  }
  const chunk_source& source(std::uint32_t chunk) const {
    return source_.at(chunk);
  }
  std::uint32_t chunks() const {
    return static_cast<std::uint32_t>(held_.size());
  }
  /// The message that goes with a mean that is here; without a group.
  chunk_mean describe(std::uint32_t chunk) const;
  /// The mean's samples are those of the contract without its `left_out`.
  bool adds_up(const chunk_mean& x) const;
  /// Over the means that are here: the total when there are none.
  std::uint64_t least_samples() const;
  std::uint64_t most_samples() const;
  /// Members with samples whose part is missing in some mean, ascending.
  std::vector<std::uint8_t> left_out() const;
  /// Some mean that is here is a heal's.
  bool healed() const;
  /// What to say of each chunk; nothing beyond `max_heal_chunks`.
  std::vector<chunk_standing> standings() const;

  /// Everything that the future depends on, as bytes.
  void fingerprint(std::string& out) const;

private:
  std::uint64_t samples_without(const std::vector<std::uint8_t>& out) const;
  std::uint64_t samples_of(std::uint32_t chunk) const;
  void hold(std::uint32_t chunk, mean_version version,
            std::vector<std::uint8_t> left_out);
  void drop(std::uint32_t chunk);

  std::size_t self_;
  chunk_map map_;
  bool trains_ = true;
  std::vector<bool> trainer_;
  std::vector<std::uint64_t> samples_;
  std::uint64_t total_samples_ = 0;

  std::vector<mean_version> held_;
  std::vector<bool> own_;
  std::size_t held_count_ = 0;
  std::vector<chunk_source> source_;
  std::vector<std::uint64_t> parts_; ///< Samples in the parts that came.
  /// Of the means held, where somebody is.
  std::map<std::uint32_t, std::vector<std::uint8_t>> left_out_;
  /// Averaged here, and over whom not.
  std::map<std::uint32_t, std::vector<std::uint8_t>> averaged_;
  /// Chunk and member: our part went there because a heal said so.
  std::set<std::pair<std::uint32_t, std::size_t>> sent_;
  std::map<std::pair<std::uint32_t, std::size_t>, mean_version> asked_;
};

} // namespace potluck
