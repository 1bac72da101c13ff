/// Whose means differ, after a round that was aborted because of it: from what
/// every member got of every reducer to who is named a liar, and who only
/// contradicts whom.
///
/// Pure. One member's word names nobody: a reducer that
/// told one member something else and a member that only says so look alike, so
/// that such a pair is merely kept apart. A majority names
/// (Gorbunov et al., "Secure Distributed Training at Scale", 2022, have the
/// same two verdicts).
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "messages/ids.hpp"
#include "runtime/averaging/round/chunk_ledger.hpp"

namespace potluck {

/// What is here of each member's means, for the inquiry: a digest over all of
/// them with their samples and whom they lack. Empty for who averages nothing,
/// and where a mean is not the planned one: a heal's means are others' work, in
/// as many versions as there were attempts.
/// @param means As long as the gradient; every chunk is here.
std::vector<digest> findings_of(const chunk_ledger& ledger,
                                const chunk_map& map,
                                const std::vector<float>& means);

/// Members are indices into the contract.
struct judgement {
  /// Lied, as a majority or a recomputation says; ascending.
  std::vector<std::size_t> named;
  /// One of the two lies, and nobody else can tell which; ascending.
  std::vector<std::pair<std::size_t, std::size_t>> apart;
};

class means_inquiry {
public:
  explicit means_inquiry(std::size_t members) : members_{members} {
  }

  /// What a member says it got: a digest of each member's means. Its first word
  /// counts. Without effect when it speaks of another number of members.
  void heard(std::size_t member, std::vector<digest> owners);
  bool has_heard(std::size_t member) const {
    return found_.count(member) != 0;
  }

  /// - What more than half of all who spoke got of a reducer is what it sent.
  /// - A reducer of whose means no majority got the same is named, if three
  ///   spoke at least; so is one that does not hold what the majority got.
  /// - Another member that got something else contradicts the reducer. When
  ///   more than half of all reducers, and two at least, are so contradicted by
  ///   one member, it is named.
  judgement judge() const;

private:
  std::size_t members_;
  std::map<std::size_t, std::vector<digest>> found_;
};

} // namespace potluck
