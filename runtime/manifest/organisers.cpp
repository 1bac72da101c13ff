#include "runtime/manifest/organisers.hpp"

#include <algorithm>

#include "messages/ids.hpp"

namespace potluck {

bool organisers::has(const public_key& x) const {
  return std::find(keys.begin(), keys.end(), x) != keys.end();
}

expected<organisers> read_organisers(const public_key& organiser,
                                     const std::string& successor) {
  organisers result{organiser};
  if (successor == "none")
    return result;
  const auto slash = successor.find('/');
  if (slash != std::string::npos) {
    const auto count = successor.substr(0, slash);
    if (count.size() != 1 || count[0] < '2' || count[0] > '9')
      return failure{"needs 2 to 9 signatures, as in 2/KEY,KEY"};
    result.needed = static_cast<std::size_t>(count[0] - '0');
  }
  for (auto at = slash == std::string::npos ? 0 : slash + 1;
       at != std::string::npos;) {
    const auto comma = successor.find(',', at);
    const auto word
        = successor.substr(at, comma == std::string::npos ? comma : comma - at);
    const auto key = parse_id<public_key>(word);
    // One charter has one form.
    if (!key || to_string(*key) != word)
      return failure{"is no public key of 64 hex digits, nor K/KEY,KEY,..."};
    if (result.has(*key))
      return failure{"names a key twice"};
    result.keys.push_back(*key);
    at = comma == std::string::npos ? comma : comma + 1;
  }
  if (slash == std::string::npos && result.keys.size() > 2)
    return failure{"of several keys says how many have to sign, as in "
                   "2/KEY,KEY"};
  if (result.keys.size() > organisers::most_others + 1)
    return failure{"names at most " + std::to_string(organisers::most_others)
                   + " keys"};
  if (result.needed > result.keys.size())
    return failure{"needs more signatures than there are keys"};
  return result;
}

} // namespace potluck
