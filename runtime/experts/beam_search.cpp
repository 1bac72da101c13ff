#include "runtime/experts/beam_search.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "runtime/experts/expert_uid.hpp"

namespace potluck {

namespace {

constexpr unsigned coordinate_bits = 8;
static_assert(limits::expert_coordinates <= 1u << coordinate_bits);
static_assert(limits::expert_dimensions * coordinate_bits <= 32);

std::vector<std::uint32_t> place_of(std::size_t depth, std::uint32_t prefix) {
  std::vector<std::uint32_t> place(depth);
  for (; depth > 0; prefix >>= coordinate_bits)
    place[--depth] = prefix & ((1u << coordinate_bits) - 1);
  return place;
}

} // namespace

beam_search::beam_search(settings how, std::size_t samples,
                         std::vector<float> scores)
    : how_(std::move(how)), grid_(how_.grid), scores_(std::move(scores)),
      samples_(samples), alive_(grid_.dimensions()) {
  if (how_.k == 0)
    throw std::invalid_argument("A search for experts must want some: k > 0.");
  if (scores_.size() != samples * grid_.scores())
    throw std::invalid_argument("A search for experts needs a score of every "
                                "coordinate for each sample.");
  if (how_.beam == 0)
    how_.beam = how_.k;
  for (std::size_t i = 0; i < samples; ++i) {
    samples_[i].aside.resize(grid_.dimensions());
    samples_[i].followed.push_back({});
    unfinished_.push_back(i);
  }
  if (samples > 0)
    want(samples_.front()); // All begin with the same look-up.
}

std::string beam_search::name_of(std::size_t depth, code prefix) const {
  return to_string(expert_uid{how_.layer, place_of(depth, prefix)});
}

void beam_search::want(const progress& x) {
  for (const auto& y : x.followed) {
    auto key = key_of(x.depth, y.prefix);
    if (answers_.count(key) > 0)
      continue;
    auto name = name_of(x.depth, y.prefix);
    if (open_.count(name) == 0)
      wanted_.emplace(std::move(name), key);
  }
}

std::vector<std::string> beam_search::next() {
  std::vector<std::string> names;
  for (const auto& [name, key] : wanted_)
    names.push_back(name);
  asked_ += names.size();
  open_.merge(wanted_);
  wanted_.clear();
  return names;
}

beam_search::verdict
beam_search::answered(const std::string& prefix,
                      const std::vector<std::uint32_t>& coordinates) {
  auto at = open_.find(prefix);
  if (at == open_.end())
    return verdict::unasked;
  auto key = at->second;
  open_.erase(at);
  auto depth = static_cast<std::size_t>(key >> 32);
  std::set<std::uint32_t> inside;
  for (auto x : coordinates)
    if (x < grid_.size(depth))
      inside.insert(x);
  alive_[depth].insert(inside.begin(), inside.end());
  answers_[key].assign(inside.begin(), inside.end());
  if (open_.empty() && wanted_.empty())
    advance();
  return verdict::taken;
}

void beam_search::advance() {
  // Samples whose next prefixes are known already go on at once.
  while (wanted_.empty() && !unfinished_.empty()) {
    std::vector<std::size_t> left;
    for (auto i : unfinished_) {
      auto& x = samples_[i];
      extend(i, x);
      if (move_on(x)) {
        want(x);
        left.push_back(i);
      } else {
        x.followed = {};
        x.aside = {};
      }
    }
    unfinished_ = std::move(left);
  }
}

void beam_search::extend(std::size_t sample, progress& x) {
  auto row = scores_.data() + sample * grid_.scores() + grid_.offset(x.depth);
  auto leaves = x.depth + 1 == grid_.dimensions();
  auto& children = leaves ? x.found : x.aside[x.depth + 1];
  for (const auto& parent : x.followed)
    for (auto coordinate : answers_.at(key_of(x.depth, parent.prefix)))
      children.push_back({parent.score + row[coordinate],
                          parent.prefix << coordinate_bits | coordinate});
  if (leaves) {
    auto count = std::min(how_.k, children.size());
    std::partial_sort(children.begin(), children.begin() + count,
                      children.end());
    children.resize(count);
  }
  x.followed.clear();
}

bool beam_search::follow(progress& x, std::size_t depth) {
  auto& from = x.aside[depth];
  if (from.empty())
    return false;
  auto count = std::min(how_.beam, from.size());
  std::partial_sort(from.begin(), from.begin() + count, from.end());
  x.depth = depth;
  x.followed.assign(from.begin(), from.begin() + count);
  from.erase(from.begin(), from.begin() + count);
  return true;
}

bool beam_search::move_on(progress& x) {
  if (x.depth + 1 < grid_.dimensions() && follow(x, x.depth + 1))
    return true;
  if (x.found.size() >= how_.k || x.returns == limits::expert_search_returns)
    return false;
  ++x.returns;
  for (auto depth = grid_.dimensions(); depth-- > 1;)
    if (follow(x, depth))
      return true;
  return false;
}

std::vector<beam_search::choice> beam_search::best(std::size_t sample) const {
  std::vector<choice> result;
  for (const auto& x : samples_[sample].found)
    result.push_back({place_of(grid_.dimensions(), x.prefix), x.score});
  return result;
}

} // namespace potluck
