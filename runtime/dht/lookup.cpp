#include "runtime/dht/lookup.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "runtime/dialable.hpp"

namespace potluck {

lookup::lookup(const record_key& target, const peer_id& self,
               const std::vector<contact>& seeds, settings how)
    : target_(target), self_(self), how_(how), doubted_(how.doubted),
      few_(seeds.size() <= how.parallel) {
  if (how.parallel == 0 || how.quorum == 0 || how.quorum > how.closest)
    throw std::invalid_argument(
        "a lookup needs parallel > 0 and 0 < quorum <= closest.");
  for (const auto& x : seeds)
    take(x, nullptr);
  done_ = nothing_left();
}

lookup::lookup(const record_key& target, const peer_id& self,
               const std::vector<contact>& seeds)
    : lookup(target, self, seeds, settings{}) {
}

void lookup::take(const contact& who, const peer_id* voucher) {
  if (who.id == self_ || !dialable(who))
    return;
  const auto distance = distance_between(target_, who.id);
  auto at = candidates_.find(distance);
  if (at == candidates_.end()) {
    candidate fresh;
    fresh.who = who;
    fresh.crowd = crowd_of(who.where.host);
    fresh.avoided = how_.avoids && how_.avoids(who.id);
    fresh.root = who.id;
    if (voucher != nullptr) {
      fresh.vouchers.push_back(*voucher);
      const auto& by = candidates_.at(distance_between(target_, *voucher));
      if (!few_ || !by.vouchers.empty())
        fresh.root = by.root;
    }
    if (candidates_.size() < max_candidates || make_room(fresh.crowd, distance))
      candidates_.emplace(distance, std::move(fresh));
    return;
  }
  // Known already. Another voucher helps only where vouchers are needed.
  auto& vouchers = at->second.vouchers;
  if (voucher != nullptr && !vouchers.empty()
      && at->second.state == progress::known && vouchers.size() < max_vouchers
      && std::find(vouchers.begin(), vouchers.end(), *voucher)
             == vouchers.end()) {
    if (!believed(at->second))
      at->second.who = who; // The liars' address may be a lie, too.
    vouchers.push_back(*voucher);
  }
}

bool lookup::make_room(const std::string& crowd, const xor_distance& distance) {
  std::map<std::string, std::size_t> waiting;
  for (const auto& [d, x] : candidates_)
    if (x.state == progress::known && !x.crowd.empty())
      ++waiting[x.crowd];
  if (!crowd.empty())
    ++waiting[crowd];
  const auto most = std::max_element(
      waiting.begin(), waiting.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
  const bool one_has_most
      = most != waiting.end() && most->second > most_of_crowd;
  const auto farthest = std::find_if(
      candidates_.rbegin(), candidates_.rend(), [&](const auto& x) {
        return x.second.state == progress::known
               && (!one_has_most || x.second.crowd == most->first);
      });
  if (farthest == candidates_.rend()
      || (farthest->first < distance
          && (!one_has_most || crowd == most->first)))
    return false;
  candidates_.erase(std::prev(farthest.base()));
  return true;
}

bool lookup::believed(const candidate& x) const {
  if (x.vouchers.empty())
    return true;
  return std::any_of(x.vouchers.begin(), x.vouchers.end(),
                     [&](const peer_id& voucher) {
                       auto at = vouchers_.find(voucher);
                       return at == vouchers_.end() || !at->second.liar();
                     });
}

std::vector<const lookup::candidate*> lookup::line(std::size_t most,
                                                   bool waits) const {
  std::vector<const candidate*> result;
  std::vector<const candidate*> behind;
  std::map<std::string, std::size_t> crowds;
  std::map<peer_id, std::size_t> roots;
  for (const auto& [distance, x] : candidates_) {
    if (result.size() == most)
      return result;
    if (x.state == progress::failed || (x.slow && !waits)
        || (x.state == progress::known && !believed(x)))
      continue;
    const bool surplus
        = (x.avoided && x.state == progress::known)
          || (!x.crowd.empty() && ++crowds[x.crowd] > most_of_crowd)
          || (doubted_ > 0 && ++roots[x.root] > most_of_root);
    (surplus ? behind : result).push_back(&x);
  }
  for (std::size_t i = 0; i < behind.size() && result.size() < most; ++i)
    result.push_back(behind[i]);
  return result;
}

std::vector<contact> lookup::next() {
  std::vector<contact> result;
  if (done_)
    return result;
  const auto all = line(std::max(how_.parallel, quorum()), false);
  // While the alpha closest have not all answered, closer ones are to be found.
  const auto first = std::min(how_.parallel, all.size());
  const bool close
      = first == how_.parallel
        && std::all_of(
            all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first),
            [](const candidate* x) { return x->state == progress::answered; });
  const auto width = close ? quorum() : how_.parallel;
  for (std::size_t i = 0; i < all.size() && i < quorum(); ++i) {
    if (in_flight_ - slow_ >= width || asked_ >= max_asked)
      break;
    if (all[i]->state != progress::known)
      continue;
    candidates_.at(distance_between(target_, all[i]->who.id)).state
        = progress::asked;
    ++in_flight_;
    ++asked_;
    result.push_back(all[i]->who);
  }
  return result;
}

lookup::candidate* lookup::awaited(const peer_id& who) {
  auto at = candidates_.find(distance_between(target_, who));
  if (at == candidates_.end() || at->second.state != progress::asked)
    return nullptr;
  return &at->second;
}

void lookup::settle(candidate& x, progress outcome) {
  x.state = outcome;
  --in_flight_;
  slow_ -= std::exchange(x.slow, false) ? 1 : 0;
  for (const auto& voucher : x.vouchers) {
    auto& standing = vouchers_[voucher];
    ++(outcome == progress::answered ? standing.answered : standing.failed);
  }
}

lookup::verdict lookup::answered(const peer_id& who,
                                 const std::vector<contact>& nodes) {
  return answered(who, nodes, {}, time_point{});
}

lookup::verdict lookup::answered(const peer_id& who,
                                 const std::vector<contact>& nodes,
                                 const std::vector<dht_record>& records,
                                 time_point now) {
  auto* x = awaited(who);
  if (x == nullptr)
    return verdict::unasked;
  settle(*x, progress::answered);
  for (std::size_t i = 0; i < nodes.size() && i < bucket_size; ++i)
    take(nodes[i], &who);
  for (std::size_t i = 0; i < records.size() && i < max_key_records; ++i)
    if (records[i].key == target_)
      found_.store(records[i], now);
  conclude();
  return verdict::taken;
}

lookup::verdict lookup::failed(const peer_id& who) {
  auto* x = awaited(who);
  if (x == nullptr)
    return verdict::unasked;
  settle(*x, progress::failed);
  conclude();
  return verdict::taken;
}

void lookup::slow(const peer_id& who) {
  auto* x = awaited(who);
  if (x == nullptr || x->slow)
    return;
  x->slow = true;
  ++slow_;
}

void lookup::passed_over(const peer_id& who) {
  auto* x = awaited(who);
  if (x == nullptr)
    return;
  x->state = progress::failed;
  --in_flight_;
  --asked_;
  conclude();
}

void lookup::doubt(std::size_t quorum) {
  doubted_ = quorum;
  done_ = false;
  conclude();
}

void lookup::conclude() {
  if (done_ || !nothing_left())
    return;
  doubted_ = 0; // What the others have named shows who is closest.
  done_ = nothing_left();
}

bool lookup::nothing_left() const {
  std::size_t live = 0;
  for (const auto* x : line(asked_ < max_asked ? quorum() : max_candidates)) {
    if (x->state == progress::asked)
      return false;
    if (x->state == progress::known) {
      if (asked_ < max_asked)
        return false;
      continue;
    }
    if (++live == quorum())
      return true;
  }
  return true;
}

bool lookup::awaits_only() const {
  std::size_t live = 0;
  for (const auto* x : line(how_.quorum)) {
    if (x->state == progress::known && asked_ < max_asked)
      return false;
    if (++live == how_.quorum)
      break;
  }
  return in_flight_ > 0;
}

std::vector<contact> lookup::closest() const {
  std::vector<contact> result;
  for (const auto* x : line(max_candidates)) {
    if (result.size() == how_.closest)
      break;
    if (x->state == progress::answered)
      result.push_back(x->who);
  }
  return result;
}

std::vector<peer_id> lookup::known() const {
  std::vector<peer_id> result;
  for (const auto& [distance, x] : candidates_) {
    if (result.size() == 2 * how_.closest)
      break;
    if (x.vouchers.empty() || x.state == progress::answered)
      result.push_back(x.who.id);
  }
  return result;
}

} // namespace potluck
