/// Holds the plain values of a message against the rules of its schema, and
/// keeps the first one that is broken. What is shared by conversations is here,
/// the rules of each conversation in a header of its own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "messages/check.hpp"
#include "messages/contact.hpp"
#include "messages/limits.hpp"
#include "messages/packing.hpp"

namespace potluck::checks {

class rules {
public:
  /// The first rule that was broken, as a sentence for the log; empty when all
  /// were kept.
  const std::string& broken() const {
    return broken_;
  }

  void hold(bool kept, const char* rule) {
    if (!kept && broken_.empty())
      broken_ = rule;
  }

  /// Plain text of at most `limit` bytes.
  void text(const std::string& x, std::size_t limit, const char* what) {
    name_rule(x.size() <= limit, what, " is too long");
    name_rule(x.size() > limit || is_text(x), what, " is not plain text");
  }

  /// A loss, or a sum of losses: from -`max_real` on.
  void loss(double x) {
    name_rule(std::abs(x) <= max_real, "the loss",
              " is not a number from -1e18 to 1e18");
  }

  /// A number from 0 to `max_real`.
  void real(double x, const char* what) {
    // Written so that NaN fails.
    name_rule(x >= 0 && x <= max_real, what, " is not a number from 0 to 1e18");
  }

  void group(const group_id& x) {
    hold(!x.empty(), "the group's id is missing");
  }
  void host(const std::string& x) {
    hold(x.size() <= max_host_bytes, "a host is too long");
    hold(std::all_of(x.begin(), x.end(),
                     [](char c) { return c > 0x20 && c < 0x7f; }),
         "a host is not printable ASCII");
  }
  void where(const address& x) {
    host(x.host);
  }
  void contact_of(const contact& x) {
    hold(!x.id.empty(), "a contact's id is missing");
    where(x.where);
  }
  void pairs(const std::vector<slow_pair>& xs) {
    hold(xs.size() <= max_slow_pairs, "there are too many slow pairs");
    for (const auto& x : xs) {
      hold(!x.to.empty(), "a slow pair's peer is missing");
      real(x.bytes_per_second, "a slow pair's bandwidth");
      hold(x.bytes_per_second > 0, "a slow pair's bandwidth is zero");
    }
  }
  void known(role x) {
    hold(x <= role::expert, "the role is unknown");
  }
  void known(packing x) {
    hold(x <= packing::int8, "the packing is unknown");
  }

private:
  void name_rule(bool kept, const char* what, const char* rule) {
    if (!kept && broken_.empty())
      broken_ = std::string{what} + rule;
  }

  std::string broken_;
};

} // namespace potluck::checks
