#include "runtime/organiser/amendment_exchange.hpp"

#include <algorithm>

#include "messages/limits.hpp"

namespace potluck {

namespace {

/// Peers whose wrong amendments are remembered: more than are ever connected.
constexpr std::size_t most_wrong_peers = 4096;

} // namespace

void amendment_exchange::ask(const peer_id& whom, outcome& out,
                             time_point now) {
  auto& x = neighbours_[whom];
  if (x.asked && now - x.asked_at < same_peer_pause) {
    next_ = std::min(next_, x.asked_at + same_peer_pause);
    return;
  }
  x.asked = true;
  x.asked_at = now;
  out.letters.push_back({whom, amendments_request{1, run_, book_.latest()}});
}

amendment_exchange::outcome amendment_exchange::joined(const peer_id& who,
                                                       time_point now) {
  outcome out;
  if (neighbours_.count(who) == 0)
    ask(who, out, now);
  return out;
}

amendment_exchange::outcome
amendment_exchange::asked(const peer_id& from, const amendments_request& x,
                          time_point now) {
  outcome out;
  // Without an answer it would ask somebody else, and wait for this peer.
  out.letters.push_back(
      {from, amendments_reply{x.token, run_, book_.after(x.after)}});
  if (x.after > book_.latest() && neighbours_.count(from) != 0)
    ask(from, out, now);
  return out;
}

amendment_exchange::outcome amendment_exchange::told(const peer_id& from,
                                                     const amendments_reply& x,
                                                     time_point now) {
  using verdict = amendment_book::verdict;
  outcome out;
  if (auto at = neighbours_.find(from); at != neighbours_.end() && x.token != 0)
    at->second.answered = true;
  if (auto at = wrong_.find(from);
      at != wrong_.end() && at->second >= most_wrong)
    return out;
  amendments_reply news{0, run_, {}};
  bool more = false;
  for (const auto& one : x.amendments) {
    const auto result = book_.take(one.bytes);
    if (result.is == verdict::accepted) {
      out.news.push_back(book_.all().back());
      news.amendments.push_back(one);
      more = x.amendments.size() == max_amendments;
    } else if (result.is == verdict::gap) {
      more = true;
    } else if (result.is == verdict::wrong) {
      if (wrong_.size() < most_wrong_peers || wrong_.count(from) != 0)
        ++wrong_[from];
      out.offence = "what it sent " + result.sentence;
      more = false;
      break;
    } else if (result.is != verdict::known && said_.size() < most_said
               && said_.insert(result.sentence).second) {
      out.complaints.push_back(result.sentence);
    }
  }
  if (!news.amendments.empty())
    for (const auto& [id, y] : neighbours_)
      if (id != from)
        out.letters.push_back({id, news});
  if (more && neighbours_.count(from) != 0)
    ask(from, out, now);
  return out;
}

amendment_exchange::outcome amendment_exchange::look(time_point now) {
  outcome out;
  if (now < next_)
    return out;
  next_ = now + pause;
  const auto count = std::min(asked_at_once, neighbours_.size());
  auto at = neighbours_.upper_bound(last_asked_);
  for (std::size_t i = 0; i < count; ++i) {
    if (at == neighbours_.end())
      at = neighbours_.begin();
    last_asked_ = at->first;
    ask(last_asked_, out, now);
    ++at;
  }
  return out;
}

bool amendment_exchange::settled(time_point now) const {
  return now - began_ >= patience
         || std::all_of(neighbours_.begin(), neighbours_.end(),
                        [](auto& x) { return x.second.answered; });
}

} // namespace potluck
