/// Addresses at which this peer itself has answered, for a while: nobody else
/// is dialled there.
#pragma once

#include <map>

#include "messages/contact.hpp"
#include "runtime/clock.hpp"
#include "runtime/membership/address_book.hpp"

namespace potluck {

class own_addresses {
public:
  void answered(const address& where, time_point now) {
    if (until_.size() >= address_book::max_own)
      until_.clear();
    until_[where] = now + address_book::own_life;
  }
  bool has(const address& where, time_point now) {
    const auto found = until_.find(where);
    if (found == until_.end())
      return false;
    if (now < found->second)
      return true;
    until_.erase(found);
    return false;
  }

private:
  std::map<address, time_point> until_;
};

} // namespace potluck
