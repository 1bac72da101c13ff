/// What stands in braces in a command's words. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "messages/expected.hpp"

namespace potluck::netlab {

/// What the placeholders of one command stand for.
struct lab_words {
  std::string name; ///< {name}
  std::string log;  ///< {log}
  std::string dir;  ///< {dir}
  std::string host; ///< {address}: `address_of` it.
  /// A host's address; nothing when there is no such host.
  std::function<std::string(const std::string& host)> address_of;
  /// Likewise for {address6}; nothing when it has no IPv6 either.
  std::function<std::string(const std::string& host)> ipv6_address_of;
  /// What {network:PORT}, a word alone, becomes.
  std::function<std::vector<std::string>(unsigned port)> network;
};

/// `words` with every placeholder replaced; an IPv6 address stands in brackets
/// before a colon, as HOST:PORT needs it. Braces that are no placeholder, as
/// in JSON, and shell variables, `${x}`, stay. Fails with a sentence.
expected<std::vector<std::string>>
fill_in(const std::vector<std::string>& words, const lab_words& with);

} // namespace potluck::netlab
