#include "runtime/lines/hole_puncher.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <utility>

#include "messages/limits.hpp"
#include "runtime/dialable.hpp"

namespace potluck {

namespace {

/// Of those within a house: the last place is for what everybody sees.
constexpr std::size_t most_local = hole_puncher::most_punched - 1;

/// Not a name, which would have to be looked up; nor IPv4 written as IPv6,
/// which would pass for another host.
bool is_literal(const std::string& host) {
  in6_addr x{};
  return ::inet_pton(AF_INET, host.c_str(), &x) == 1
         || (::inet_pton(AF_INET6, host.c_str(), &x) == 1
             && host.find('.') == std::string::npos);
}

/// Local, and of a house: neither this machine nor one link's.
bool is_private(const std::string& host) {
  for (const char* begin :
       {"127.", "169.254.", "::1", "fe8", "fe9", "fea", "feb", "localhost"})
    if (host.rfind(begin, 0) == 0)
      return false;
  return is_local(host);
}

bool has(const std::vector<address>& all, const address& x) {
  return std::find(all.begin(), all.end(), x) != all.end();
}

std::vector<address> at_most(std::vector<address> x, std::size_t size) {
  x.resize(std::min(x.size(), size));
  return x;
}

} // namespace

hole_puncher::hole_puncher(const peer_id& own, const peer_id& other,
                           std::uint64_t seed, time_point now)
    : first_(own < other), random_(seed),
      due_(first_ ? now : time_point::max()) {
}

void hole_puncher::relayed(bool x, time_point now) {
  if (x != relayed_)
    go(state::idle, x && first_ ? now : time_point::max());
  relayed_ = x;
}

hole_puncher::actions hole_puncher::tick(time_point now) {
  if (now < due_)
    return {};
  if (state_ == state::idle)
    return begin(now);
  if (state_ == state::syncing)
    return punch(now);
  return try_failed(now); // Nobody answered.
}

hole_puncher::actions hole_puncher::begin(time_point now) {
  if (!possible()) {
    go(state::idle, now + look_again);
    return {};
  }
  if (!spend_try(now)) {
    go(state::idle, tries_.front() + rest);
    return {};
  }
  token_ = random_.next();
  asked_ = now;
  go(state::asking, now + patience);
  return {our_addresses(false)};
}

hole_puncher::actions hole_puncher::on(const hole_connect& x, time_point now) {
  if (first_) {
    if (!x.answer || state_ != state::asking || x.token != token_)
      return {};
    at_ = believed(x);
    if (at_.empty())
      return try_failed(now);
    go(state::syncing, now + (now - asked_) / 2);
    return {hole_sync{token_}};
  }
  if (x.answer || !possible())
    return {};
  auto at = believed(x);
  if (at.empty() || !spend_try(now))
    return {};
  at_ = std::move(at);
  token_ = x.token;
  go(state::answered, now + patience);
  return {our_addresses(true)};
}

hole_puncher::actions hole_puncher::on(const hole_sync& x, time_point now) {
  if (state_ != state::answered || x.token != token_)
    return {};
  return punch(now);
}

hole_puncher::actions hole_puncher::failed(std::uint64_t attempt,
                                           time_point now) {
  if (state_ != state::punching || attempt != attempt_)
    return {};
  return try_failed(now);
}

hole_puncher::actions hole_puncher::punch(time_point now) {
  go(state::punching, now + punches_patience);
  return {punch_now{++attempt_, at_, first_}};
}

hole_puncher::actions hole_puncher::try_failed(time_point now) {
  if (!first_) {
    go(state::idle, time_point::max());
    return {};
  }
  if (++failures_ < most_tries) {
    go(state::idle, now + pause);
    return {};
  }
  failures_ = 0;
  go(state::idle, now + rest);
  return {given_up{}};
}

bool hole_puncher::possible() const {
  return relayed_ && !known_.seen.empty()
         && !(known_.ours == reach::symmetric
              && known_.theirs == reach::symmetric);
}

bool hole_puncher::spend_try(time_point now) {
  while (!tries_.empty() && now - tries_.front() >= rest)
    tries_.pop_front();
  if (tries_.size() >= most_tries)
    return false;
  tries_.push_back(now);
  return true;
}

bool hole_puncher::same_house() const {
  return std::any_of(
      known_.seen.begin(), known_.seen.end(),
      [this](const address& x) { return known_.hosts.count(x.host) > 0; });
}

std::vector<address> hole_puncher::believed(const hole_connect& x) const {
  std::vector<address> result;
  auto take = [&](const address& where, std::size_t most) {
    if (result.size() < most && where.port != 0 && is_literal(where.host)
        && !has(known_.seen, where) && !has(known_.local, where)
        && !has(result, where))
      result.push_back(where);
  };
  if (same_house())
    for (const auto& where : x.local)
      if (is_private(where.host))
        take(where, most_local);
  // Where we are seen under such an address ourselves, all are in one house.
  const bool within
      = std::any_of(known_.seen.begin(), known_.seen.end(),
                    [](const address& ours) { return is_local(ours.host); });
  for (const auto& where : x.seen)
    if (known_.hosts.count(where.host) > 0 && (within || !is_local(where.host)))
      take(where, most_punched);
  return result;
}

hole_connect hole_puncher::our_addresses(bool answer) const {
  // Nobody else needs to know what our house is like within.
  return {token_, answer, at_most(known_.seen, max_own_addresses),
          same_house() ? at_most(known_.local, max_own_addresses)
                       : std::vector<address>{}};
}

} // namespace potluck
