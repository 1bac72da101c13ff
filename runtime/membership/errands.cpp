#include "runtime/membership/errands.hpp"

#include <algorithm>
#include <utility>

#include "runtime/dialable.hpp"
#include "runtime/membership/reachability.hpp"
#include "runtime/random.hpp"

namespace potluck {

std::optional<contact> errands::dials(const contact& asker, std::uint16_t port,
                                      time_point now) {
  const contact whom{asker.id, {asker.where.host, port}};
  if (!dialable(whom) || !knocks_.spend(whom.where.host, now))
    return std::nullopt;
  return whom;
}

std::optional<peer_id> errands::send(const contact& asker, std::uint64_t nonce,
                                     const std::string& own,
                                     const guest_book& guests, time_point now) {
  const auto& host = asker.where.host;
  if (!is_public(host))
    return std::nullopt;
  const peer_id* best = nullptr;
  std::pair<bool, std::uint64_t> least;
  ++number_;
  for (const auto& [id, g] : guests.all()) {
    // Who says that it listens nowhere may only be on a visit.
    const auto place = std::pair{g.who.where.port == 0,
                                 mix(mix(seed_, number_), seed_of(id))};
    const auto& at = g.who.where.host;
    if (id == asker.id || g.relayed || at == host || at == own || !is_public(at)
        || (best && least <= place))
      continue;
    best = &id;
    least = place;
  }
  if (!best)
    return std::nullopt;
  const auto stale
      = [&](auto& x) { return now - x.at >= reachability::patience; };
  sent_.erase(std::remove_if(sent_.begin(), sent_.end(), stale), sent_.end());
  if (sent_.size() >= limits::errands_under_way)
    return std::nullopt;
  sent_.push_back({*best, asker.id, nonce, now});
  return *best;
}

bool errands::goes(const reach_errand& x, time_point now) {
  return x.who.id != self_ && dialable(x.who) && is_public(x.who.where.host)
         && strangers_.spend(x.who.where.host, now);
}

std::optional<peer_id> errands::answered(const peer_id& from,
                                         std::uint64_t nonce) {
  const auto at = std::find_if(sent_.begin(), sent_.end(), [&](auto& x) {
    return x.whom == from && x.nonce == nonce;
  });
  if (at == sent_.end())
    return std::nullopt;
  const auto asker = at->asker;
  sent_.erase(at);
  return asker;
}

} // namespace potluck
