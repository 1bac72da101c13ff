/// How much the homes of strangers may ask for: each so much a second, and all
/// together.
///
/// A prefix that has asked for little gets that whatever others ask for: a
/// crowd does not keep a newcomer out. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "runtime/lines/token_bucket.hpp"

namespace potluck {

class home_allowance {
public:
  /// Of each, and what a pause saves up.
  struct bounds {
    double home, home_at_once;
    double all, all_at_once;
    double prefix, prefix_at_once; ///< Whatever all have asked for.
  };
  /// Homes, and prefixes, remembered.
  static constexpr std::size_t most = 4096;

  explicit home_allowance(const bounds& x)
      : most_(x), all_(x.all, x.all_at_once) {
  }

  /// Whether somebody there may have so much now; then it has it.
  bool spend(const std::string& host, double cost, time_point now);
  /// Somebody there has had so much more than it asked for. Nobody owes more
  /// than what comes in a second.
  void charge(const std::string& host, double cost, time_point now);

private:
  struct account {
    token_bucket left;
    time_point used;
  };
  using accounts = std::map<std::string, account>;

  static token_bucket& of(accounts& all, const std::string& name, double rate,
                          double burst, time_point now);

  const bounds most_;
  token_bucket all_;
  accounts homes_, prefixes_;
};

} // namespace potluck
