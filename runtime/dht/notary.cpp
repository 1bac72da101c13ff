#include "runtime/dht/notary.hpp"

#include <algorithm>

#include "runtime/dht/record_rules.hpp"
#include "runtime/identity/sealing.hpp"

namespace potluck {

namespace {

sealed_words words_of(const dht_record& x) {
  return {"potluck record",
          static_cast<std::uint8_t>(x.kind),
          {reinterpret_cast<const char*>(x.key.bytes.data()), x.key.size},
          x.value};
}

} // namespace

notary::notary(shared_signatures how) : how_(std::move(how)) {
}

void notary::clocks(std::uint64_t own_ms, std::uint64_t swarm_ms) {
  own_ms_ = own_ms;
  swarm_ms_ = swarm_ms;
}

bool notary::seal(dht_record& x) {
  if (!how_)
    return false;
  const auto self = how_->owner_of(how_->key());
  x.seal.life_ms = x.lives_ms;
  if (!problem_with(x, self).empty())
    return false;
  // A clock that is set back must not make new words older than old ones; but
  // those of a time that nobody else believes in were none.
  if (last_number_ > swarm_ms_ + tolerance_ms)
    last_number_ = 0;
  last_number_ = std::max(last_number_ + 1, swarm_ms_);
  x.seal = seal_of(words_of(x), last_number_, x.lives_ms, *how_);
  x.subkey = subkey_of(self);
  return true;
}

notary::verdict notary::judge(dht_record& x) const {
  if (!how_)
    return verdict::forged;
  const auto owner = how_->owner_of(x.seal.signer);
  x.subkey = subkey_of(owner);
  if (!problem_with(x, owner).empty())
    return verdict::ill_typed;
  const auto fresh = freshness_of(x.seal, own_ms_, tolerance_ms);
  if (fresh != freshness::fresh
      && freshness_of(x.seal, swarm_ms_, tolerance_ms) != freshness::fresh)
    return fresh == freshness::expired ? verdict::expired : verdict::early;
  return holds(x.seal, words_of(x), *how_) ? verdict::sound : verdict::forged;
}

notary::sender& notary::sender_of(const peer_id& who, time_point now) {
  if (senders_.count(who) == 0 && senders_.size() >= most_senders)
    senders_.erase(std::min_element(senders_.begin(), senders_.end(),
                                    [](const auto& a, const auto& b) {
                                      return a.second.heard < b.second.heard;
                                    }));
  auto& x = senders_[who];
  x.heard = now;
  if (x.shunned_until && *x.shunned_until <= now)
    x.shunned_until.reset();
  return x;
}

std::vector<dht_record> notary::read(const peer_id& from,
                                     std::vector<dht_record> said,
                                     const known& newest, time_point now) {
  std::vector<dht_record> result;
  if (!how_ || said.empty())
    return result;
  auto& who = sender_of(from, now);
  for (auto& x : said) {
    if (who.shunned_until)
      break;
    x.subkey = subkey_of(how_->owner_of(x.seal.signer));
    const auto held = newest(x.key, x.subkey);
    if (held && *held >= x.seal.number)
      continue;
    if (all_.available(now) < 1 || !who.checks.take(now))
      break;
    all_.spend(1);
    const auto what = judge(x);
    if (what == verdict::sound) {
      result.push_back(std::move(x));
    } else if (what == verdict::forged) {
      ++forgeries_;
      who.shunned_until = now + shunned_for;
    }
  }
  return result;
}

} // namespace potluck
