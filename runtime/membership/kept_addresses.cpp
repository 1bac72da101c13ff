#include "runtime/membership/kept_addresses.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <tuple>

#include "runtime/dialable.hpp"

namespace potluck {

namespace {

constexpr char header[] = "potluck addresses 1";

bool read_number(const std::string& text, std::uint64_t& x) {
  auto [end, error]
      = std::from_chars(text.data(), text.data() + text.size(), x);
  return error == std::errc{} && end == text.data() + text.size();
}

} // namespace

std::vector<const kept_addresses::entries::value_type*>
kept_addresses::by_age() const {
  std::vector<const entries::value_type*> result;
  for (auto& x : all_)
    result.push_back(&x);
  std::stable_sort(result.begin(), result.end(), [](auto* a, auto* b) {
    return std::make_tuple(a->second.bootstrap, ~a->second.seen)
           < std::make_tuple(b->second.bootstrap, ~b->second.seen);
  });
  return result;
}

bool kept_addresses::put(const contact& who, entry x) {
  auto [at, fresh] = all_.try_emplace(who.id, x);
  const bool news = fresh || at->second.where != x.where
                    || at->second.bootstrap != x.bootstrap;
  at->second = x;
  if (!news)
    return false;
  // Whoever was there before is not any more.
  for (auto i = all_.begin(); i != all_.end();)
    i = i->first != who.id && i->second.where == x.where ? all_.erase(i)
                                                         : std::next(i);
  if (all_.size() > most) {
    auto oldest = all_.end();
    for (auto i = all_.begin(); i != all_.end(); ++i)
      if (i->first != who.id && !i->second.bootstrap
          && (oldest == all_.end() || i->second.seen < oldest->second.seen))
        oldest = i;
    all_.erase(oldest);
  }
  return true;
}

bool kept_addresses::met(const contact& who, std::uint64_t seconds) {
  return dialable(who) && put(who, {who.where, seconds, false});
}

bool kept_addresses::named(const contact& bootstrap, std::uint64_t seconds) {
  if (!dialable(bootstrap))
    return false;
  auto known = all_.find(bootstrap.id);
  if (known != all_.end() && !known->second.bootstrap)
    return false; // Where it answered is better than what is said.
  std::size_t others = 0;
  for (auto& [id, x] : all_) {
    others += x.bootstrap && id != bootstrap.id;
    if (id != bootstrap.id && x.where == bootstrap.where)
      return false;
  }
  return others < most_bootstraps
         && put(bootstrap, {bootstrap.where, seconds, true});
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
    if (x->second.bootstrap || result.size() < most_tried)
      result.push_back(x->second.where);
  return result;
}

std::string kept_addresses::text() const {
  std::string result = std::string{header} + "\n";
  if (port_ != 0)
    result += "port " + std::to_string(port_) + "\n";
  for (auto* x : by_age())
    result += (x->second.bootstrap ? "bootstrap " : "peer ")
              + to_string(x->first) + " " + to_string(x->second.where) + " "
              + std::to_string(x->second.seen) + "\n";
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
    if ((what != "peer" && what != "bootstrap") || !who || !at
        || !dialable(contact{*who, *at}) || !read_number(seconds, x)
        || words >> more || result.all_.size() >= most
        || !result.all_.emplace(*who, entry{*at, x, what == "bootstrap"})
                .second)
      return wrong(number);
  }
  return result;
}

} // namespace potluck
