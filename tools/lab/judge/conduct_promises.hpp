/// What peers promise about each other.
#pragma once

#include <set>
#include <string>

#include "tools/lab/judge/promise.hpp"

namespace potluck {

/// No honest peer is banned, refused, found to send bad data (bits that flip on
/// the way are no excuse), or called a liar about its state.
class fair_blame : public promise {
public:
  fair_blame(ledger& all, const terms& run);

  void add_honest(const std::string& short_name) {
    honest_.insert(short_name);
  }
  void no_longer_honest(const std::string& short_name) {
    honest_.erase(short_name);
  }

  void told(const teller& who, duration at, const event& x) override;
  std::string seen() const override {
    return counted(refusals_, "refusal") + ", " + counted(malformed_, "frame")
           + " malformed, " + counted(itself_ / 2, "dial")
           + " of a peer's own address";
  }

private:
  bool is_honest(const std::string& short_name) const {
    return all_honest_ || honest_.count(short_name) > 0;
  }

  std::set<std::string> honest_;
  bool all_honest_;
  std::size_t refusals_ = 0, malformed_ = 0, itself_ = 0;
};

/// The mean of a round that was committed is finite.
class finite_means : public promise {
public:
  finite_means(ledger& all, const terms& run);

  void told(const teller& who, duration at, const event& x) override;
};

} // namespace potluck
