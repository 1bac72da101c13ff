#include "tools/lab/judge/expert_promises.hpp"

#include <algorithm>

namespace potluck {

namespace {

std::string name(const std::string& uid, std::size_t host) {
  return "expert " + uid + " of peer " + std::to_string(host);
}

} // namespace

sound_experts::sound_experts(ledger& all, const terms& run)
    : promise(all, "no call is applied twice, and an expert loses few updates "
                   "when its host crashes or changes"),
      most_lost_(run.expert_may_lose) {
}

void sound_experts::told(const teller& who, duration at, const event& x) {
  if (x.name == "expert_moved" && text_of(x, "what") == "took over")
    taken_over(who.peer, text_of(x, "expert"), count_of(x, "term"),
               count_of(x, "version"), at);
}

void sound_experts::forget(std::size_t host) {
  auto of_it = [&](auto& all) {
    all.erase(all.lower_bound({host, ""}), all.lower_bound({host + 1, ""}));
  };
  of_it(versions_);
  of_it(terms_);
}

void sound_experts::made(std::size_t host, const std::string& uid,
                         std::uint64_t version, duration at) {
  auto key = std::make_pair(host, uid);
  auto i = versions_.find(key);
  if (i != versions_.end())
    check(version + most_lost_ >= i->second, at, [&] {
      return name(uid, host) + " came back with " + std::to_string(version)
             + " updates of " + std::to_string(i->second);
    });
  versions_[key] = version;
}

void sound_experts::applied(std::size_t host, const std::string& uid,
                            const std::vector<std::uint64_t>& calls,
                            std::uint64_t version, duration at) {
  for (auto call : calls)
    check(calls_.insert(call).second, at, [&] {
      return name(uid, host) + " applied call " + std::to_string(call)
             + " again";
    });
  auto& last = versions_[{host, uid}];
  check(version == last + 1, at, [&] {
    return name(uid, host) + " went from version " + std::to_string(last)
           + " to " + std::to_string(version);
  });
  last = version;
  auto term = terms_.try_emplace({host, uid}, 1).first->second;
  auto& reached = reached_[{uid, term}][host];
  reached = std::max(reached, version);
  taught_.insert(uid);
  ++updates_;
}

void sound_experts::taken_over(std::size_t host, const std::string& uid,
                               std::uint64_t term, std::uint64_t version,
                               duration at) {
  ++moves_;
  // Of several hosts that had it under one term, all but one gave way; which,
  // only the DHT knows.
  auto before = reached_.find({uid, term - 1});
  if (before != reached_.end()) {
    auto least = std::min_element(
        before->second.begin(), before->second.end(),
        [](auto& a, auto& b) { return a.second < b.second; });
    check(version + most_lost_ >= least->second, at, [&] {
      return name(uid, host) + " was taken over at version "
             + std::to_string(version) + " of " + std::to_string(least->second);
    });
  }
  terms_[{host, uid}] = term;
}

void sound_experts::all_answer(duration since, duration at) {
  for (auto& uid : taught_)
    check(answered_[uid] >= since, at, [&] {
      return "expert " + uid + " has not answered since "
             + std::to_string(answered_[uid].count() / 1'000'000'000) + " s";
    });
}

} // namespace potluck
