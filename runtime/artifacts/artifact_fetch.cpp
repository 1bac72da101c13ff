#include "runtime/artifacts/artifact_fetch.hpp"

#include <algorithm>

#include "runtime/artifacts/limits.hpp"
#include "runtime/random.hpp"
#include "runtime/state/limits.hpp"

namespace potluck {

namespace {

std::string_view text_of(const shared_bytes& x) {
  return {reinterpret_cast<const char*>(x.data), x.size};
}

} // namespace

artifact_fetch::artifact_fetch(const peer_id& self, bounds most,
                               artifact_list wanted)
    : self_(self), most_(most), plan_(most.plan) {
  for (auto& x : wanted)
    wanted_.push_back({std::move(x), {}, false});
  for (std::size_t i = 0; i < wanted_.size(); ++i)
    add(list_of(i), 1,
        wanted_[i].it.piece_count()
            * static_cast<std::uint32_t>(sha256_digest::size));
}

void artifact_fetch::add(const blob_key& key, std::uint32_t pieces,
                         std::uint32_t piece_bytes) {
  plan_.add(key, pieces, piece_bytes);
  open_.insert(key);
  for (auto& [id, x] : donors_)
    if (x.asked) {
      x.has.insert(key);
      plan_.add_holder(key, id);
    }
}

std::optional<blob_key>
artifact_fetch::key_of(const sha256_digest& content) const {
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    if (wanted_[i].it.pieces == content)
      return list_of(i);
    if (wanted_[i].it.content == content)
      return pieces_of(i);
  }
  return std::nullopt;
}

const sha256_digest& artifact_fetch::content_of(const blob_key& x) const {
  const auto& it = wanted_[x.step].it;
  return x.state ? it.content : it.pieces;
}

// ---- the others -------------------------------------------------------------

artifact_actions artifact_fetch::met(const peer_id& who, time_point now) {
  if (auto [x, is_new] = donors_.try_emplace(who); is_new)
    x->second.not_before = now;
  return done(now);
}

artifact_actions artifact_fetch::lost(const peer_id& who, time_point now) {
  plan_.drop_donor(who);
  donors_.erase(who);
  return done(now);
}

bool artifact_fetch::may_be_asked(const peer_id& who, const donor& x,
                                  time_point now) const {
  return !x.asked && now >= x.not_before && liars_.count(who) == 0;
}

void artifact_fetch::engage(time_point now) {
  auto asked = static_cast<std::size_t>(std::count_if(
      donors_.begin(), donors_.end(), [](auto& x) { return x.second.asked; }));
  std::vector<std::tuple<time_point, std::uint64_t, peer_id>> others;
  for (const auto& [id, x] : donors_)
    if (may_be_asked(id, x, now))
      others.emplace_back(x.not_before, mix(seed_of(self_), seed_of(id)), id);
  std::sort(others.begin(), others.end());
  for (const auto& [since, rank, id] : others) {
    if (asked++ >= most_.donors)
      break;
    auto& x = donors_.at(id);
    x.asked = true;
    x.arrived = x.lately = 0;
    x.has = open_;
    for (const auto& key : open_)
      plan_.add_holder(key, id);
  }
}

/// However slowly it sends, nobody keeps others from being asked.
void artifact_fetch::take_turns(time_point now) {
  if (now < next_turn_)
    return;
  const bool first = next_turn_ == time_point{};
  next_turn_ = now + limits::artifact_turn;
  std::optional<peer_id> slowest;
  std::size_t asked = 0;
  bool others = false;
  for (const auto& [id, x] : donors_) {
    asked += x.asked;
    others = others || may_be_asked(id, x, now);
    if (x.asked && (!slowest || x.lately < donors_.at(*slowest).lately))
      slowest = id;
  }
  for (auto& [id, x] : donors_)
    x.lately = 0;
  if (!first && slowest && others && asked >= most_.donors)
    rest(*slowest, limits::artifact_donor_rest, now);
}

void artifact_fetch::rest(const peer_id& who, duration how_long,
                          time_point now) {
  auto& x = donors_.at(who);
  plan_.drop_donor(who);
  x = {};
  x.rest = how_long;
  x.not_before = now + how_long;
}

void artifact_fetch::lies(const peer_id& who, const std::string& what) {
  liars_.emplace(who, ++lies_);
  if (liars_.size() > limits::artifact_liars)
    liars_.erase(
        std::min_element(liars_.begin(), liars_.end(),
                         [](auto& a, auto& b) { return a.second < b.second; }));
  plan_.drop_donor(who);
  donors_[who] = {};
  actions_.emplace_back(fetch_fault{who, what});
}

void artifact_fetch::declines(const peer_id& who, const blob_key& what,
                              time_point now) {
  auto& x = donors_.at(who);
  plan_.drop_holder(what, who);
  x.has.erase(what);
  x.waits_since.reset();
  if (x.has.empty())
    rest(who,
         std::clamp<duration>(2 * x.rest, limits::artifact_retry,
                              limits::longest_artifact_retry),
         now);
}

// ---- what comes -------------------------------------------------------------

artifact_actions artifact_fetch::read(const peer_id& from,
                                      const artifact_piece& x,
                                      const shared_bytes& body,
                                      time_point now) {
  const auto key = key_of(x.content);
  const auto known = donors_.find(from);
  if (!key || known == donors_.end() || !known->second.asked)
    return {}; // Of what is here by now.
  auto& d = known->second;
  if (body.size == 0 && x.retry_ms > 0) {
    rest(from,
         std::clamp<duration>(std::chrono::milliseconds{x.retry_ms},
                              limits::artifact_retry,
                              limits::longest_artifact_retry),
         now);
  } else if (body.size == 0) {
    declines(from, *key, now);
  } else {
    d.arrived += body.size;
    // What was not asked of it brings nothing, and no patience.
    if (plan_.arrived({from, *key, x.piece}, body.size, now)) {
      d.lately += body.size;
      d.waits_since.reset();
      d.rest = {};
      if (key->state)
        take_piece(from, key->step, x.piece, body);
      else
        take_list(from, key->step, body);
    }
  }
  return done(now);
}

void artifact_fetch::take_list(const peer_id& from, std::size_t index,
                               const shared_bytes& body) {
  auto& x = wanted_[index];
  auto sums = read_piece_sums(x.it, text_of(body));
  if (!sums)
    return lies(from, "its list of the pieces of artifact " + x.it.name
                          + " is not the run's");
  plan_.drop(list_of(index));
  open_.erase(list_of(index));
  for (auto& [id, d] : donors_)
    d.has.erase(list_of(index));
  x.sums = std::move(*sums);
  actions_.emplace_back(look_for_pieces{x.it, x.sums});
}

void artifact_fetch::take_piece(const peer_id& from, std::size_t index,
                                std::uint32_t piece, const shared_bytes& body) {
  auto& x = wanted_[index];
  if (sha256(text_of(body)) != x.sums[piece])
    return lies(from, "a piece of artifact " + x.it.name
                          + " has another SHA-256 than the run's");
  plan_.place(pieces_of(index), piece);
  bytes_here_ += body.size;
  actions_.emplace_back(keep_piece{x.it, piece, body});
  finish_if_whole(index);
}

artifact_actions artifact_fetch::found(const artifact& of,
                                       const std::vector<bool>& sound,
                                       time_point now) {
  const auto key = key_of(of.content);
  if (!key || !key->state || open_.count(*key) != 0
      || wanted_[key->step].finished)
    return {};
  auto& x = wanted_[key->step];
  add(*key, x.it.piece_count(), artifact_piece_bytes);
  for (std::uint32_t i = 0; i < x.it.piece_count(); ++i)
    if (i < sound.size() && sound[i]) {
      plan_.place(*key, i);
      bytes_here_ += std::min<std::uint64_t>(
          artifact_piece_bytes,
          x.it.bytes - std::uint64_t{i} * artifact_piece_bytes);
    }
  finish_if_whole(key->step);
  return done(now);
}

void artifact_fetch::finish_if_whole(std::size_t index) {
  const auto key = pieces_of(index);
  if (!plan_.complete(key))
    return;
  plan_.drop(key);
  open_.erase(key);
  for (auto& [id, d] : donors_)
    d.has.erase(key);
  wanted_[index].finished = true;
  ++finished_;
  actions_.emplace_back(finish_artifact{wanted_[index].it});
}

// ---- what is to be done -----------------------------------------------------

artifact_actions artifact_fetch::look(time_point now) {
  plan_.expire(now);
  std::vector<peer_id> silent;
  for (const auto& [id, x] : donors_)
    if (x.waits_since && now - *x.waits_since >= limits::artifact_patience)
      silent.push_back(id);
  for (const auto& id : silent)
    rest(id, limits::artifact_donor_rest, now);
  take_turns(now);
  return done(now);
}

artifact_actions artifact_fetch::done(time_point now) {
  if (complete()) {
    for (auto& [id, x] : donors_)
      if (std::exchange(x.asked, false)) {
        artifact_request enough;
        enough.content = wanted_.front().it.content;
        enough.over = true;
        actions_.emplace_back(state_letter{id, enough, {}});
      }
    return std::exchange(actions_, {});
  }
  engage(now);
  for (const auto& x : plan_.next(now)) {
    auto& d = donors_.at(x.donor);
    if (!d.waits_since)
      d.waits_since = now;
    artifact_request ask;
    ask.content = content_of(x.blob);
    ask.piece = x.piece;
    ask.arrived = d.arrived;
    actions_.emplace_back(state_letter{x.donor, ask, {}});
  }
  actions_.emplace_back(look_again{now + limits::fetch_interval});
  return std::exchange(actions_, {});
}

std::uint64_t artifact_fetch::bytes_wanted() const {
  std::uint64_t result = 0;
  for (const auto& x : wanted_)
    result += x.it.bytes;
  return result;
}

std::size_t artifact_fetch::donors() const {
  return static_cast<std::size_t>(
      std::count_if(donors_.begin(), donors_.end(), [](auto& x) {
        return x.second.asked && x.second.arrived > 0;
      }));
}

} // namespace potluck
