#include "runtime/dht/routing_table.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "runtime/dialable.hpp"

namespace potluck {

namespace {

template <class Entries>
auto position(Entries& entries, const peer_id& who) {
  return std::find_if(entries.begin(), entries.end(),
                      [&](const auto& x) { return x.who.id == who; });
}

} // namespace

routing_table::routing_table(const peer_id& self, std::size_t capacity)
    : self_(self), capacity_(capacity) {
  if (capacity == 0)
    throw std::invalid_argument("a routing_table's buckets need a capacity.");
}

routing_table::bucket* routing_table::bucket_at(std::size_t bits) {
  if (bits >= point_bits)
    return nullptr;
  if (bits >= buckets_.size())
    buckets_.resize(bits + 1);
  return &buckets_[bits];
}

routing_table::bucket* routing_table::bucket_of(const peer_id& who) {
  return bucket_at(common_prefix_bits(self_, who));
}

bool routing_table::has_share(const bucket& home,
                              const std::string& crowd) const {
  if (crowd.empty())
    return true;
  const auto all = crowds_.find(crowd);
  if (all == crowds_.end())
    return true;
  std::size_t here = 0;
  for (const auto* some : {&home.entries, &home.replacements})
    for (const auto& x : *some)
      here += x.crowd == crowd;
  return here < most_of_crowd && all->second < most_of_crowd_in_all;
}

void routing_table::put(std::vector<entry>& where,
                        std::vector<entry>::iterator at, entry x) {
  if (!x.crowd.empty())
    ++crowds_[x.crowd];
  where.insert(at, std::move(x));
}

void routing_table::take_out(std::vector<entry>& where,
                             std::vector<entry>::iterator at) {
  if (auto crowd = crowds_.find(at->crowd);
      crowd != crowds_.end() && --crowd->second == 0)
    crowds_.erase(crowd);
  where.erase(at);
}

routing_table::outcome routing_table::seen(const contact& who, time_point now) {
  if (who.id == self_)
    return {verdict::itself, {}};
  if (!dialable(who))
    return {verdict::undialable, {}};
  auto& home = *bucket_of(who.id);
  auto crowd = crowd_of(who.where.host);

  for (auto* some : {&home.entries, &home.replacements}) {
    auto at = position(*some, who.id);
    if (at == some->end())
      continue;
    if (at->who.where != who.where && at->failures == 0
        && now - at->last_seen < fresh_for)
      return {verdict::contested, {}};
    if (at->crowd != crowd && !has_share(home, crowd))
      return {verdict::crowded, {}};
    const auto since = at->since;
    take_out(*some, at);
    if (some == &home.entries) {
      put(*some, some->end(), {who, std::move(crowd), since, now, {}, 0});
      return {verdict::refreshed, {}};
    }
    break; // It waits; perhaps there is a place by now.
  }
  if (!has_share(home, crowd)) {
    // One of its own that does not answer makes room.
    auto silent = std::find_if(
        home.entries.begin(), home.entries.end(),
        [&](const entry& x) { return x.crowd == crowd && x.gives_way(); });
    if (silent == home.entries.end())
      return {verdict::crowded, {}};
    take_out(home.entries, silent);
  }
  entry fresh{who, std::move(crowd), now, now, {}, 0};
  if (home.entries.size() >= capacity_) {
    // A contact that failed already gives way without another ping.
    auto stale = std::find_if(home.entries.begin(), home.entries.end(),
                              [](const entry& x) { return x.gives_way(); });
    if (stale == home.entries.end()) {
      if (home.replacements.size() == max_replacements)
        take_out(home.replacements, home.replacements.begin());
      put(home.replacements, home.replacements.end(), std::move(fresh));
      auto& oldest = home.entries.front();
      if (now - oldest.last_seen < fresh_for
          || (oldest.pinged && now - *oldest.pinged < fresh_for))
        return {verdict::waiting, {}};
      oldest.pinged = now;
      return {verdict::waiting, oldest.who};
    }
    take_out(home.entries, stale);
  }
  put(home.entries, home.entries.end(), std::move(fresh));
  return {verdict::added, {}};
}

void routing_table::failed(const peer_id& who) {
  auto* home = bucket_of(who);
  if (home == nullptr)
    return;
  auto spare = position(home->replacements, who);
  if (spare != home->replacements.end())
    take_out(home->replacements, spare);
  auto at = position(home->entries, who);
  if (at == home->entries.end())
    return;
  ++at->failures;
  if (at->failures >= max_failures
      || (at->gives_way() && !home->replacements.empty()))
    remove(who);
}

void routing_table::remove(const peer_id& who) {
  auto* home = bucket_of(who);
  if (home == nullptr)
    return;
  auto spare = position(home->replacements, who);
  if (spare != home->replacements.end())
    take_out(home->replacements, spare);
  auto at = position(home->entries, who);
  if (at == home->entries.end())
    return;
  take_out(home->entries, at);
  if (home->replacements.empty())
    return;
  // The newest replacement is the likeliest to be alive. It keeps its age, so
  // the entries stay ordered only when it is put where its age belongs.
  entry heir = home->replacements.back();
  take_out(home->replacements, std::prev(home->replacements.end()));
  auto younger = std::find_if(
      home->entries.begin(), home->entries.end(),
      [&](const entry& x) { return x.last_seen > heir.last_seen; });
  put(home->entries, younger, std::move(heir));
}

std::vector<contact> routing_table::closest(const record_key& target,
                                            std::size_t n) const {
  const auto order = [&](const entry* a, const entry* b) {
    return closer(target, a->who.id, b->who.id);
  };
  const auto shared = common_prefix_bits(self_, target);
  std::vector<const entry*> chosen;
  for (const bool failing : {false, true}) {
    // Adds those of some buckets, in the order of their distance.
    const auto add = [&](std::size_t from, std::size_t to) {
      const auto before = static_cast<std::ptrdiff_t>(chosen.size());
      for (auto bits = from; bits < to && bits < buckets_.size(); ++bits)
        for (const auto& x : buckets_[bits].entries)
          if ((x.failures > 0) == failing)
            chosen.push_back(&x);
      std::sort(chosen.begin() + before, chosen.end(), order);
    };
    // Those of the target's own bucket share one bit more with it than we do,
    // those of deeper ones as many, those of others fewer and fewer.
    if (chosen.size() < n)
      add(shared, shared + 1);
    if (chosen.size() < n)
      add(shared + 1, point_bits);
    for (auto bits = std::min(shared, buckets_.size());
         bits > 0 && chosen.size() < n; --bits)
      add(bits - 1, bits);
  }
  if (chosen.size() > n)
    chosen.resize(n);
  // The failing ones that fill up stand where they belong.
  std::sort(chosen.begin(), chosen.end(), order);
  std::vector<contact> result;
  result.reserve(chosen.size());
  for (const auto* x : chosen)
    result.push_back(x->who);
  return result;
}

std::vector<contact> routing_table::longest_known() const {
  std::vector<contact> result;
  for (const auto& home : buckets_) {
    const auto first = std::min_element(
        home.entries.begin(), home.entries.end(),
        [](const entry& a, const entry& b) { return a.since < b.since; });
    if (first != home.entries.end())
      result.push_back(first->who);
  }
  return result;
}

void routing_table::looked_up(const record_key& target, time_point now) {
  if (auto* home = bucket_at(common_prefix_bits(self_, target)))
    home->looked_up = now;
  else
    looked_up_self_ = now;
}

std::vector<record_key> routing_table::refresh_targets(time_point now,
                                                       random_stream& random,
                                                       std::size_t limit) {
  auto due = [&](const std::optional<time_point>& last, duration after) {
    return !last || now - *last >= after;
  };
  std::vector<record_key> targets;
  if (limit > 0 && due(looked_up_self_, self_refresh_after)) {
    targets.push_back(point_of(self_));
    looked_up_self_ = now;
  }
  std::size_t deeper = size();
  for (std::size_t bits = 0; bits < buckets_.size(); ++bits) {
    deeper -= buckets_[bits].entries.size();
    if (targets.size() < limit
        && due(buckets_[bits].looked_up, refresh_after)) {
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
  if (bits >= buckets_.size())
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
