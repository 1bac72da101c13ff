/// How many letters of one peer are read: by what they cost, and of a stranger
/// not more than its home may send, either. Knows no clock and no letter.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "runtime/strangers/home_allowance.hpp"
#include "runtime/strangers/limits.hpp"

namespace potluck {

/// What strangers' homes send to this peer, for all its sessions. Thread-safe.
class homes_letters {
public:
  bool spend(const std::string& host, double cost, time_point now) {
    std::lock_guard<std::mutex> guard{mutex_};
    return allowance_.spend(host, cost, now);
  }

private:
  std::mutex mutex_;
  home_allowance allowance_{
      {limits::letters_of_a_home, limits::letters_of_a_home_at_once,
       limits::letters_of_all, limits::letters_of_all_at_once,
       limits::letters_of_a_prefix, limits::letters_of_a_prefix_at_once}};
};

class letter_allowance {
public:
  enum class verdict {
    read,
    dropped, ///< It comes too early: the peer is not to be heard for a while.
    gross,   ///< Likewise, and so did more before than any honest peer sends.
  };

  /// @param host Where the peer is. @param homes Null: there is no other peer.
  letter_allowance(std::string host, std::shared_ptr<homes_letters> homes)
      : host_(std::move(host)), homes_(std::move(homes)) {
  }

  verdict take(double cost, bool trusted, time_point now) {
    auto& own = trusted ? partners_ : strangers_;
    if (cost <= 0)
      return verdict::read;
    if (own.available(now) >= cost
        && (trusted || is_little(cost, now) || !homes_
            || homes_->spend(host_, cost, now))) {
      own.spend(cost);
      return verdict::read;
    }
    return ++dropped_ > limits::letters_dropped ? verdict::gross
                                                : verdict::dropped;
  }

private:
  bool is_little(double cost, time_point now) {
    if (everybody_.available(now) < cost)
      return false;
    everybody_.spend(cost);
    return true;
  }

  const std::string host_;
  const std::shared_ptr<homes_letters> homes_;
  token_bucket strangers_{limits::letters_of_a_stranger,
                          limits::letters_of_a_stranger_at_once};
  token_bucket partners_{limits::letters_of_a_partner,
                         limits::letters_of_a_partner_at_once};
  token_bucket everybody_{limits::letters_of_everybody,
                          limits::letters_of_everybody_at_once};
  std::size_t dropped_ = 0;
};

} // namespace potluck
