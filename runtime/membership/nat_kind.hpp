/// What kind of router stands before this peer: whether it shows everybody the
/// same port of one and the same local port (RFC 4787, 4.1: mapping).
///
/// Pure. It is told how others see connections that were made from the port
/// that this peer listens on.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "messages/progress.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class nat_kind {
public:
  /// Two that agree decide; three that do not, too. A third is for one that
  /// lies, or sees us by another way.
  static constexpr std::size_t most_witnesses = 3;

  /// Another network, or another port that this peer listens on.
  void moved() {
    seen_.clear();
  }
  /// @param by The host that sees it; each has one word.
  void seen(const address& as, const std::string& by) {
    if (as.port != 0 && (seen_.size() < most_witnesses || seen_.count(by) > 0))
      seen_[by] = as;
  }
  bool knows(const std::string& by) const {
    return seen_.count(by) > 0;
  }
  /// Whether another witness would say something.
  bool asks() const {
    return !outside() && seen_.size() < most_witnesses;
  }
  /// Where others meet the port that this peer listens on; empty unless two of
  /// them see the same.
  std::optional<address> outside() const {
    for (const auto& one : seen_)
      if (std::count_if(seen_.begin(), seen_.end(),
                        [&](auto& x) { return x.second == one.second; })
          >= 2)
        return one.second;
    return std::nullopt;
  }
  /// Where they may, each once: of what anybody sees, while no two agree.
  std::vector<address> perhaps_outside() const {
    if (auto sure = outside())
      return {*sure};
    std::vector<address> all;
    for (const auto& [by, as] : seen_)
      all.push_back(as);
    return all;
  }
  /// `cone`, `symmetric`, or `unknown` while fewer than two have said what they
  /// see. Of two that see different things, one may lie: a third may change it.
  reach kind() const {
    if (outside())
      return reach::cone;
    return seen_.size() >= 2 ? reach::symmetric : reach::unknown;
  }

private:
  std::map<std::string, address> seen_; ///< By which host.
};

} // namespace potluck
