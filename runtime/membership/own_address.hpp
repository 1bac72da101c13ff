/// Under which address others reach this peer, as far as it knows.
#pragma once

#include <string>

#include "messages/contact.hpp"

namespace potluck {

class own_address {
public:
  /// @param announced What the user says; an empty host: as others see us.
  explicit own_address(address announced) : announced_(std::move(announced)) {
  }

  /// The peer listens there; the host may stand for any interface.
  void listens(const address& bound) {
    bound_ = bound;
  }
  bool is_listening() const {
    return bound_.port != 0;
  }
  /// Another peer sees us there.
  /// @param lost We were connected with nobody, so we may have moved.
  void seen_at(const std::string& host, bool lost) {
    auto loopback = [](const std::string& x) {
      return x == "::1" || x == "localhost" || x.rfind("127.", 0) == 0;
    };
    if (seen_.empty() || lost || loopback(seen_))
      seen_ = host;
  }
  address get() const {
    if (!announced_.host.empty())
      return announced_;
    const auto& host = bound_.host;
    if (!host.empty() && host != "0.0.0.0" && host != "::")
      return bound_;
    return {seen_, bound_.port};
  }
  /// Whether others that dial the host that they see dial this peer: what the
  /// user says of another host is believed.
  bool is_seen() const {
    return announced_.host.empty() || announced_.host == seen_;
  }

private:
  address announced_;
  address bound_;
  std::string seen_; ///< The host.
};

} // namespace potluck
