#include "runtime/dht/routing_table.hpp"

#include <algorithm>
#include <stdexcept>

#include "runtime/dialable.hpp"

namespace potluck {

namespace {

template <class Entries>
auto position(Entries& entries, const peer_id& who) {
  return std::find_if(entries.begin(), entries.end(),
                      [&](const auto& x) { return x.who.id == who; });
}

template <class Entries>
void move_to_back(Entries& entries, typename Entries::iterator at) {
  std::rotate(at, at + 1, entries.end());
}

} // namespace

routing_table::routing_table(const peer_id& self, std::size_t capacity)
    : self_(self), capacity_(capacity) {
  if (capacity == 0)
    throw std::invalid_argument("a routing_table's buckets need a capacity.");
}

routing_table::bucket* routing_table::bucket_of(const peer_id& who) {
  auto bits = common_prefix_bits(self_, who);
  return bits < point_bits ? &buckets_[bits] : nullptr;
}

routing_table::outcome routing_table::seen(const contact& who, time_point now) {
  if (who.id == self_)
    return {verdict::itself, {}};
  if (!dialable(who))
    return {verdict::undialable, {}};
  auto& home = *bucket_of(who.id);

  auto refresh = [&](auto& entries, auto at) {
    if (at->who.where != who.where && at->failures == 0
        && now - at->last_seen < fresh_for)
      return false;
    *at = entry{who, now, {}, 0};
    move_to_back(entries, at);
    return true;
  };
  if (auto at = position(home.entries, who.id); at != home.entries.end())
    return {refresh(home.entries, at) ? verdict::refreshed : verdict::contested,
            {}};
  auto known = position(home.replacements, who.id);
  if (home.entries.size() < capacity_) {
    if (known != home.replacements.end())
      home.replacements.erase(known);
    home.entries.push_back({who, now, {}, 0});
    return {verdict::added, {}};
  }

  if (known != home.replacements.end()) {
    if (!refresh(home.replacements, known))
      return {verdict::contested, {}};
  } else {
    if (home.replacements.size() == max_replacements)
      home.replacements.erase(home.replacements.begin());
    home.replacements.push_back({who, now, {}, 0});
  }
  // A contact that failed already gives way without another ping.
  auto stale = std::find_if(home.entries.begin(), home.entries.end(),
                            [](const entry& x) { return x.failures > 0; });
  if (stale != home.entries.end()) {
    home.entries.erase(stale);
    home.entries.push_back(home.replacements.back());
    home.replacements.pop_back();
    return {verdict::added, {}};
  }
  auto& oldest = home.entries.front();
  if (now - oldest.last_seen < fresh_for
      || (oldest.pinged && now - *oldest.pinged < fresh_for))
    return {verdict::waiting, {}};
  oldest.pinged = now;
  return {verdict::waiting, oldest.who};
}

void routing_table::failed(const peer_id& who) {
  auto* home = bucket_of(who);
  if (home == nullptr)
    return;
  auto spare = position(home->replacements, who);
  if (spare != home->replacements.end())
    home->replacements.erase(spare);
  auto at = position(home->entries, who);
  if (at == home->entries.end())
    return;
  ++at->failures;
  if (at->failures >= max_failures || !home->replacements.empty())
    remove(who);
}

void routing_table::remove(const peer_id& who) {
  auto* home = bucket_of(who);
  if (home == nullptr)
    return;
  auto spare = position(home->replacements, who);
  if (spare != home->replacements.end())
    home->replacements.erase(spare);
  auto at = position(home->entries, who);
  if (at == home->entries.end())
    return;
  home->entries.erase(at);
  if (home->replacements.empty())
    return;
  // The newest replacement is the likeliest to be alive. It keeps its age, so
  // the entries stay ordered only when it is put where its age belongs.
  entry heir = home->replacements.back();
  home->replacements.pop_back();
  auto younger = std::find_if(
      home->entries.begin(), home->entries.end(),
      [&](const entry& x) { return x.last_seen > heir.last_seen; });
  home->entries.insert(younger, heir);
}

std::vector<contact> routing_table::closest(const record_key& target,
                                            std::size_t n) const {
  std::vector<const entry*> chosen;
  auto collect = [&](bool failing) {
    for (const auto& one : buckets_)
      for (const auto& x : one.entries)
        if ((x.failures > 0) == failing)
          chosen.push_back(&x);
  };
  auto order = [&](const entry* a, const entry* b) {
    return closer(target, a->who.id, b->who.id);
  };
  collect(false);
  if (chosen.size() < n) {
    auto good = static_cast<std::ptrdiff_t>(chosen.size());
    collect(true);
    std::sort(chosen.begin() + good, chosen.end(), order);
  }
  auto count = static_cast<std::ptrdiff_t>(std::min(n, chosen.size()));
  if (chosen.size() > n && chosen[n]->failures > 0)
    chosen.resize(n); // Of the failing ones, only the closest fill up.
  std::partial_sort(chosen.begin(), chosen.begin() + count, chosen.end(),
                    order);
  std::vector<contact> result;
  result.reserve(static_cast<std::size_t>(count));
  for (std::ptrdiff_t i = 0; i < count; ++i)
    result.push_back(chosen[static_cast<std::size_t>(i)]->who);
  return result;
}

void routing_table::looked_up(const record_key& target, time_point now) {
  auto bits = common_prefix_bits(self_, target);
  if (bits < point_bits)
    buckets_[bits].looked_up = now;
  else
    looked_up_self_ = now;
}

std::vector<record_key> routing_table::refresh_targets(time_point now,
                                                       random_stream& random,
                                                       std::size_t limit) {
  auto due = [&](const std::optional<time_point>& last) {
    return !last || now - *last >= refresh_after;
  };
  std::vector<record_key> targets;
  if (limit > 0 && due(looked_up_self_)) {
    targets.push_back(point_of(self_));
    looked_up_self_ = now;
  }
  std::size_t deeper = size();
  for (std::size_t bits = 0; bits < point_bits; ++bits) {
    deeper -= buckets_[bits].entries.size();
    if (targets.size() < limit && due(buckets_[bits].looked_up)) {
      targets.push_back(random_point(self_, bits, random));
      buckets_[bits].looked_up = now;
    }
    // Everybody closer fits into the answer to a look-up of the own id.
    if (deeper < capacity_)
      break;
  }
  return targets;
}

std::optional<contact> routing_table::find(const peer_id& who) const {
  auto bits = common_prefix_bits(self_, who);
  if (bits == point_bits)
    return std::nullopt;
  const auto& entries = buckets_[bits].entries;
  auto at = position(entries, who);
  if (at == entries.end())
    return std::nullopt;
  return at->who;
}

std::size_t routing_table::size() const {
  std::size_t sum = 0;
  for (const auto& one : buckets_)
    sum += one.entries.size();
  return sum;
}

record_key random_point(const peer_id& self, std::size_t bits,
                        random_stream& random) {
  if (bits >= point_bits)
    throw std::invalid_argument("a point cannot share 256 bits and differ.");
  auto point = random.draw<record_key>();
  for (std::size_t i = 0; i <= bits; ++i) {
    const auto mask = static_cast<std::uint8_t>(0x80u >> (i % 8));
    const bool own = (self.bytes[i / 8] & mask) != 0;
    const bool wanted = i < bits ? own : !own;
    auto& byte = point.bytes[i / 8];
    byte = static_cast<std::uint8_t>(wanted ? byte | mask : byte & ~mask);
  }
  return point;
}

} // namespace potluck
