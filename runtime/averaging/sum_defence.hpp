/// What a reducer says when its sum is disputed: it asks for the parts once
/// more, holds them against the digests of those that it has summed, and tells
/// all what their projections are.
///
/// Pure. Holds no part: each is projected when it comes. Members are indices
/// into the contract.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "runtime/averaging/round_auditor.hpp"
#include "runtime/averaging/sum_check.hpp"

namespace potluck {

class sum_defence {
public:
  sum_defence(const group_contract& contract, std::size_t self);

  /// Asks for a chunk's parts, once. It costs every member its part of it
  /// again.
  /// @param seeds The directions to tell of. @param mean Made here.
  void dispute(std::uint32_t chunk, std::set<std::uint64_t> seeds,
               const mean_evidence& mean, round_orders& out);
  /// Parts of this chunk are for that.
  bool gathers(std::uint32_t chunk) const;
  void shown(std::size_t by, const chunk_part& head, const shared_bytes& body);
  /// No part that is missing will come.
  void waited_for(std::uint32_t chunk);
  /// What is to be told to all; none while parts are missing, and once.
  std::vector<sum_account> take_accounts(std::uint32_t chunk);

private:
  struct account {
    std::size_t length = 0;
    std::vector<digest> parts;     ///< Summed; empty where there is none.
    std::set<std::size_t> missing; ///< That are yet to be shown.
    std::vector<std::uint8_t> unshown;
    std::map<std::uint64_t, std::vector<projection>> told; ///< By seed.
    bool taken = false;
  };

  void note(account& x, std::size_t member, const chunk_part& head,
            const shared_bytes& body);

  group_id group_;
  std::vector<std::uint64_t> samples_;
  std::size_t self_;
  std::map<std::uint32_t, account> accounts_;
};

} // namespace potluck
