/// Which living experts of a grid score best, for many samples at once?
///
/// Pure state machine after Ryabinin and Gusev 2020, section 3.2: it goes down
/// the grid one dimension at a time and follows each sample's best prefixes
/// only. The owner looks up what `next` asks for, reports every answer, and
/// calls `next` again until `done`. All samples share each look-up.
///
/// A sample on a grid of d dimensions costs at most 1 + (d - 1) beam look-ups
/// when the prefixes that it follows lead to k living experts. With all experts
/// alive a beam of k finds the k best exactly; else it may miss some.
///
/// Differences from the paper:
/// - Where the beam ends at fewer than k experts, since rows have gaps, the
///   search goes on with the prefixes that it left aside, a bounded number of
///   times. So few living experts are found, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/experts/product_key.hpp"

namespace potluck::limits {

/// Times that a sample's search for experts goes on with prefixes that it left
/// aside, when gaps in the grid left it with too few: each costs a beam of
/// look-ups.
constexpr std::size_t expert_search_returns = 8;

} // namespace potluck::limits

namespace potluck {

class beam_search {
public:
  struct settings {
    std::string layer; ///< The shortest prefix, "ffn".
    std::vector<std::uint32_t> grid;
    std::size_t k = 4;    ///< Experts wanted for each sample.
    std::size_t beam = 0; ///< Prefixes followed at a time; 0: k.
  };

  struct choice {
    std::vector<std::uint32_t> place;
    float score = 0;
  };

  enum class verdict {
    taken,   ///< The answer counts.
    unasked, ///< No answer was expected for this prefix; nothing changed.
  };

  /// @param scores [samples, product_key{grid}.scores()], all finite. Throws
  /// std::invalid_argument on a wrong grid, on k = 0 and on another number of
  /// scores.
  beam_search(settings how, std::size_t samples, std::vector<float> scores);

  /// Prefixes to look up now, ascending; each is named once.
  std::vector<std::string> next();

  /// Counts what a look-up found: the coordinates that follow `prefix`, none
  /// when it failed. Those outside the grid are ignored.
  verdict answered(const std::string& prefix,
                   const std::vector<std::uint32_t>& coordinates);

  /// True when all samples have their choice.
  bool done() const {
    return unfinished_.empty();
  }

  /// At most k experts, the best first; of equal ones the lower place.
  std::vector<choice> best(std::size_t sample) const;

  /// Coordinates of a dimension that some answer named.
  const std::set<std::uint32_t>& alive(std::size_t dimension) const {
    return alive_[dimension];
  }

  const product_key& grid() const {
    return grid_;
  }
  /// Look-ups asked for: the search's price.
  std::size_t asked() const {
    return asked_;
  }

private:
  /// A prefix, 8 bits for each coordinate; how many are known from elsewhere.
  using code = std::uint32_t;

  struct candidate {
    float score = 0;
    code prefix = 0;
    bool operator<(const candidate& x) const { // Better ones first.
      return score != x.score ? score > x.score : prefix < x.prefix;
    }
  };

  struct progress {
    std::size_t depth = 0;           ///< Coordinates of `followed`.
    std::vector<candidate> followed; ///< Waiting for look-ups.
    std::vector<candidate> found;    ///< Experts, best first, at most k.
    std::vector<std::vector<candidate>> aside; ///< By depth, unfollowed.
    std::size_t returns = 0;                   ///< To what was left aside.
  };

  static std::uint64_t key_of(std::size_t depth, code prefix) {
    return std::uint64_t{depth} << 32 | prefix;
  }
  std::string name_of(std::size_t depth, code prefix) const;
  void extend(std::size_t sample, progress& x);
  bool follow(progress& x, std::size_t depth);
  bool move_on(progress& x);
  void advance();
  void want(const progress& x);

  settings how_;
  product_key grid_;
  std::vector<float> scores_;
  std::vector<progress> samples_;
  std::vector<std::size_t> unfinished_;
  std::vector<std::set<std::uint32_t>> alive_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> answers_;
  std::map<std::string, std::uint64_t> wanted_; ///< Not asked for yet.
  std::map<std::string, std::uint64_t> open_;   ///< Asked for, unanswered.
  std::size_t asked_ = 0;
};

} // namespace potluck
