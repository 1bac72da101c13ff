#include "runtime/membership/kept_addresses.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <tuple>

#include "runtime/dialable.hpp"
#include "runtime/numbers.hpp"

namespace potluck {

namespace {

constexpr char header[] = "potluck addresses 1";
/// The first words of lines, in the order of `word`.
constexpr const char* kinds[] = {"peer", "claim", "bootstrap"};

} // namespace

std::size_t kept_addresses::most_of(word how) {
  return how == word::met     ? most
         : how == word::claim ? most_claims
                              : most_bootstraps;
}

std::size_t kept_addresses::count(word how) const {
  return static_cast<std::size_t>(std::count_if(
      all_.begin(), all_.end(), [&](auto& x) { return x.second.how == how; }));
}

std::vector<const kept_addresses::entries::value_type*>
kept_addresses::by_age() const {
  std::vector<const entries::value_type*> result;
  for (auto& x : all_)
    result.push_back(&x);
  std::stable_sort(result.begin(), result.end(), [](auto* a, auto* b) {
    return std::make_tuple(a->second.how, ~a->second.seen)
           < std::make_tuple(b->second.how, ~b->second.seen);
  });
  return result;
}

bool kept_addresses::drop_oldest(word how, const peer_id& but) {
  auto oldest = all_.end();
  for (auto i = all_.begin(); i != all_.end(); ++i)
    if (i->first != but && i->second.how == how
        && (oldest == all_.end() || i->second.seen < oldest->second.seen))
      oldest = i;
  if (oldest == all_.end())
    return false;
  all_.erase(oldest);
  return true;
}

bool kept_addresses::put(const contact& who, entry x) {
  const bool met = x.how == word::met;
  for (auto i = all_.begin(); i != all_.end();) {
    const auto& other = i->second;
    const bool same = i->first != who.id && other.where == x.where;
    if (same && !met)
      return false; // That would be a way to have others forgotten.
    // Whoever was there before is not any more.
    const bool gone
        = same
          || (other.how != word::met && other.seen + hearsay_life < x.seen);
    i = gone ? all_.erase(i) : std::next(i);
  }
  auto [at, fresh] = all_.try_emplace(who.id, x);
  if (at->second.where == x.where)
    x.how = std::min(x.how, at->second.how);
  const bool news
      = fresh || at->second.where != x.where || at->second.how != x.how;
  at->second = x;
  if (count(x.how) > most_of(x.how))
    drop_oldest(x.how, who.id);
  while (
      peers() > most_peers
      && (drop_oldest(word::claim, who.id) || drop_oldest(word::met, who.id)))
    ;
  return news;
}

bool kept_addresses::met(const contact& who, std::uint64_t seconds) {
  return dialable(who) && put(who, {who.where, seconds, word::met});
}

bool kept_addresses::claimed(const contact& who, std::uint64_t seconds) {
  const bool room = peers() < most_peers || count(word::claim) > 0;
  return dialable(who) && (room || all_.count(who.id) > 0)
         && put(who, {who.where, seconds, word::claim});
}

bool kept_addresses::named(const contact& bootstrap, std::uint64_t seconds) {
  if (!dialable(bootstrap))
    return false;
  // What a peer itself shows is better than what is said.
  auto known = all_.find(bootstrap.id);
  if (known != all_.end() && known->second.how != word::bootstrap)
    return false;
  return put(bootstrap, {bootstrap.where, seconds, word::bootstrap});
}

bool kept_addresses::seen(const peer_id& who, std::uint64_t seconds) {
  auto at = all_.find(who);
  if (at == all_.end())
    return false;
  at->second.seen = seconds;
  return true;
}

bool kept_addresses::listens(std::uint16_t port) {
  return std::exchange(port_, port) != port;
}

std::vector<address> kept_addresses::addresses() const {
  std::vector<address> result;
  for (auto* x : by_age())
    if (x->second.how == word::bootstrap || result.size() < most_tried)
      result.push_back(x->second.where);
  return result;
}

std::string kept_addresses::text() const {
  std::string result = std::string{header} + "\n";
  if (port_ != 0)
    result += "port " + std::to_string(port_) + "\n";
  for (auto* x : by_age())
    result += kinds[static_cast<std::size_t>(x->second.how)]
              + (" " + to_string(x->first)) + " " + to_string(x->second.where)
              + " " + std::to_string(x->second.seen) + "\n";
  return result;
}

expected<kept_addresses> kept_addresses::read(const std::string& text) {
  const auto wrong = [](std::size_t line) {
    return failure{"is damaged in line " + std::to_string(line)
                   + " and is not used; others are looked for anew"};
  };
  kept_addresses result;
  std::istringstream lines{text};
  std::string line;
  if (text.size() > most_bytes || !std::getline(lines, line) || line != header)
    return wrong(1);
  for (std::size_t number = 2; std::getline(lines, line); ++number) {
    std::istringstream words{line};
    std::string what, id, where, seconds, more;
    std::uint64_t x = 0;
    words >> what >> id;
    if (what == "port") {
      if (!read_number(id, x) || x == 0 || x > 65535 || words >> more
          || result.port_ != 0)
        return wrong(number);
      result.port_ = static_cast<std::uint16_t>(x);
      continue;
    }
    words >> where >> seconds;
    auto who = parse_id<peer_id>(id);
    auto at = parse_address(where);
    const auto* known = std::find(std::begin(kinds), std::end(kinds), what);
    const auto how = static_cast<word>(known - std::begin(kinds));
    if (known == std::end(kinds) || !who || !at || !dialable(contact{*who, *at})
        || !read_number(seconds, x) || words >> more
        || result.all_.size() >= most || result.count(how) >= most_of(how)
        || !result.all_.emplace(*who, entry{*at, x, how}).second)
      return wrong(number);
  }
  return result;
}

} // namespace potluck
