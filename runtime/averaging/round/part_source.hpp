/// This member's gradient, as the parts of it that others get.
///
/// Pure. Parts are packed whenever they are asked for, so that whoever asks
/// again (a healing reducer, a member that checks a mean) gets the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "messages/message.hpp"
#include "runtime/averaging/chunk_map.hpp"

namespace potluck {

class part_source {
public:
  /// @param packings Of each member, as the plan says; none: `usual` for all.
  part_source(const chunk_map& map, std::size_t self,
              std::vector<packing> packings, packing usual);

  /// A chunk, and who is to get our part of it.
  using debt = std::pair<std::uint32_t, std::size_t>;

  /// The gradient is here: `map.gradient_values()` floats that stay as they
  /// are, summed over so many samples.
  /// @returns What is to be sent now: a part to each chunk's owner, and what
  /// was owed before.
  std::vector<debt> lend(std::shared_ptr<const std::vector<float>> gradient,
                         std::uint64_t samples);
  /// A member wants our part before the gradient is here.
  void owe(std::uint32_t chunk, std::size_t to) {
    owed_.emplace_back(chunk, to);
  }

  /// There is something to bring in.
  bool any() const {
    return gradient_ && samples_ != 0;
  }

  /// A part and the head that goes with it, without a group.
  using part = std::pair<chunk_part, shared_bytes>;
  /// As it is: what this member itself sums.
  part whole(std::uint32_t chunk) const;
  /// As it travels to other reducers; of a chunk that this member averages, as
  /// it is, for so it was summed.
  part outgoing(std::uint32_t chunk) const;

  /// How a member packs its parts, and its means as the planned reducer.
  packing packing_of(std::size_t member) const {
    return packings_.empty() ? usual_ : packings_.at(member);
  }

private:
  /// All chunks with their owners, in the order in which parts go out: one
  /// chunk of each owner in turn, beginning behind this member, so that all
  /// lines are busy at once and no reducer is everybody's first.
  std::vector<debt> order() const;
  part as(packing how, std::uint32_t chunk) const;

  chunk_map map_;
  std::size_t self_;
  std::vector<packing> packings_;
  packing usual_;
  std::shared_ptr<const std::vector<float>> gradient_;
  std::uint64_t samples_ = 0;
  std::vector<debt> owed_;
};

} // namespace potluck
