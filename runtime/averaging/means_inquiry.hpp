/// Whose means differ, after a round that was aborted because of it: from what
/// every member got of every reducer to who is named a liar, and who only
/// contradicts whom.
///
/// Pure, and without any values. One member's word names nobody: a reducer that
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

namespace potluck {

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
