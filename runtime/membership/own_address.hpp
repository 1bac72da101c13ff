/// Under which address others reach this peer, as far as it knows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "messages/contact.hpp"
#include "runtime/dialable.hpp"

namespace potluck {

class own_address {
public:
  /// Others whose word is kept: the last ones.
  static constexpr std::size_t most_witnesses = 15;

  /// @param announced What the user says; an empty host: as others see us.
  explicit own_address(address announced) : announced_(std::move(announced)) {
  }

  /// The peer listens there; the host may stand for any interface.
  /// @param local That and whatever else it listens on, as this machine's own
  ///     addresses.
  void listens(const address& bound, std::vector<address> local = {}) {
    bound_ = bound;
    local_ = std::move(local);
  }
  bool is_listening() const {
    return bound_.port != 0;
  }
  std::uint16_t local_port() const {
    return bound_.port;
  }
  /// Another peer sees us there. What most hosts say counts, so that one that
  /// lies does not move us; of the internet rather than of a house, since who
  /// is in the house finds us anyway.
  /// @param by The host that says so; a network has one word.
  /// @param lost We were connected with nobody, so we may have moved.
  void seen_at(const std::string& host, const std::string& by, bool lost) {
    // Nobody sees from the internet an address that only a house has.
    if (host.empty() || is_public(host) != is_public(by))
      return;
    if (lost) {
      words_.clear();
      seen_.clear();
    }
    // A machine with both versions of IP keeps to the one that it was seen with
    // first: each has an address of its own, and both sides see its version.
    if (is_public(host)
        && (!same_family(host, by)
            || (is_public(seen_) && !same_family(host, seen_))))
      return;
    const auto network = network_of(by);
    words_.erase(std::remove_if(words_.begin(), words_.end(),
                                [&](auto& x) { return x.first == network; }),
                 words_.end());
    words_.emplace_back(network, host);
    if (words_.size() > most_witnesses)
      words_.pop_front();
    for (const auto& [who, what] : words_)
      if (weight(what) > weight(seen_))
        seen_ = what;
  }
  /// A router passes connections to this port on to us, as it says; 0: no
  /// longer. The user's word is worth more.
  void maps(std::uint16_t port) {
    mapped_ = port;
  }
  bool is_mapped() const {
    return announced_.host.empty() && mapped_ != 0;
  }
  address get() const {
    if (!announced_.host.empty())
      return announced_;
    if (is_mapped())
      return {seen_, mapped_};
    const auto& host = bound_.host;
    if (!host.empty() && host != "0.0.0.0" && host != "::")
      return bound_;
    return {seen_, bound_.port};
  }
  /// One of this machine's own addresses of the internet, of the other version
  /// of IP than `get`; an empty host: it has none. Whoever announces one alone
  /// is believed to have no other.
  address also() const {
    const auto first = get();
    if (is_announced() || !is_public(first.host))
      return {};
    const auto at
        = std::find_if(local_.begin(), local_.end(), [&](const auto& x) {
            return is_public(x.host) && !same_family(x.host, first.host);
          });
    return at == local_.end() ? address{} : *at;
  }
  /// Whether others that dial the host that they see dial this peer: what the
  /// user says of another host is believed.
  bool is_seen() const {
    return announced_.host.empty() || announced_.host == seen_;
  }
  bool is_announced() const {
    return !announced_.host.empty();
  }

private:
  static bool is_loopback(const std::string& x) {
    return x == "::1" || x == "localhost" || x.rfind("127.", 0) == 0;
  }
  /// How much speaks for a host.
  std::tuple<bool, bool, std::ptrdiff_t> weight(const std::string& host) const {
    return {is_public(host), !host.empty() && !is_loopback(host),
            std::count_if(words_.begin(), words_.end(),
                          [&](auto& x) { return x.second == host; })};
  }

  address announced_;
  address bound_;
  std::vector<address> local_;
  std::uint16_t mapped_ = 0;
  std::string seen_; ///< The host.
  std::deque<std::pair<std::string, std::string>>
      words_; ///< By which network, what.
};

} // namespace potluck
