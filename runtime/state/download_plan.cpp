#include "runtime/state/download_plan.hpp"

#include <algorithm>
#include <stdexcept>

namespace potluck {

namespace {

/// What a new, faster reading does not replace fades so with every piece.
constexpr double rate_memory = 0.95;
/// Readings below the clock's grain say nothing about the rate.
constexpr duration shortest_reading = std::chrono::milliseconds{1};

} // namespace

download_plan::download_plan(bounds most) : most_(most) {
}

void download_plan::add(const blob_key& key, std::uint32_t pieces,
                        std::uint32_t piece_bytes) {
  if (pieces == 0 || piece_bytes == 0)
    throw std::invalid_argument("download_plan: a blob without pieces");
  blob b;
  b.pieces.resize(pieces);
  b.piece_bytes = piece_bytes;
  blobs_.emplace(key, std::move(b));
}

void download_plan::drop(const blob_key& key) {
  auto at = blobs_.find(key);
  if (at == blobs_.end())
    return;
  for (auto& [id, x] : donors_)
    for (auto a = x.asked.begin(); a != x.asked.end();)
      if (a->first.first == key) {
        x.outstanding -= at->second.piece_bytes;
        a = x.asked.erase(a);
      } else {
        ++a;
      }
  blobs_.erase(at);
}

void download_plan::add_holder(const blob_key& key, const peer_id& id) {
  auto at = blobs_.find(key);
  if (at == blobs_.end())
    return;
  at->second.holders.insert(id);
  donors_.try_emplace(id);
}

void download_plan::drop_holder(const blob_key& key, const peer_id& id) {
  auto at = blobs_.find(key);
  if (at == blobs_.end() || at->second.holders.erase(id) == 0)
    return;
  auto asked = donors_.at(id).asked;
  for (auto& [what, a] : asked)
    if (what.first == key)
      give_up({id, what.first, what.second});
}

void download_plan::drop_donor(const peer_id& id) {
  auto at = donors_.find(id);
  if (at == donors_.end())
    return;
  auto asked = at->second.asked;
  for (auto& [what, a] : asked)
    give_up({id, what.first, what.second});
  for (auto& [key, b] : blobs_)
    b.holders.erase(id);
  donors_.erase(at);
}

/// Its request is none any more; the piece can be asked for again.
void download_plan::give_up(const request& x) {
  auto& d = donors_.at(x.donor);
  if (d.asked.erase({x.blob, x.piece}) == 0)
    return;
  auto& b = blobs_.at(x.blob);
  d.outstanding -= b.piece_bytes;
  --b.pieces[x.piece].askings;
  b.first_missing = std::min(b.first_missing, x.piece);
}

std::uint64_t download_plan::window_of(const donor& x) const {
  // Twice what the line holds: it is filled while the rate is being learnt, and
  // never empty while the next requests travel.
  auto line = x.rate * std::chrono::duration<double>(x.fastest).count();
  return static_cast<std::uint64_t>(
      std::clamp(2 * line, static_cast<double>(most_.least_in_flight),
                 static_cast<double>(most_.bytes_in_flight)));
}

bool download_plan::has_room(const donor& x, std::uint32_t piece_bytes) const {
  if (x.late)
    return x.asked.empty();
  auto after = x.outstanding + piece_bytes;
  return x.asked.empty() // However large pieces are.
         || (after <= most_.bytes_in_flight
             && (x.asked.size() < least_window || after <= window_of(x)));
}

download_plan::donor*
download_plan::most_free(const blob& b, std::uint32_t piece, peer_id& id) {
  // The one whose queue is the shortest for its rate: it would be there first.
  donor* best = nullptr;
  double least = 0;
  for (auto& holder : b.holders) {
    auto& x = donors_.at(holder);
    if (!has_room(x, b.piece_bytes))
      continue;
    auto full = static_cast<double>(x.outstanding + b.piece_bytes)
                / std::max<double>(static_cast<double>(window_of(x)),
                                   least_window * b.piece_bytes);
    if (x.late)
      full += 1e3;
    if (holder == b.pieces[piece].late)
      full += 1e6; // Only when nobody else has it.
    if (!best || full < least) {
      best = &x;
      least = full;
      id = holder;
    }
  }
  // Whoever was late with it gets it again only when no other could.
  if (best && id == b.pieces[piece].late && b.holders.size() > 1)
    return nullptr;
  return best;
}

void download_plan::ask(const peer_id& id, const blob_key& key, blob& b,
                        std::uint32_t piece, time_point now,
                        std::vector<request>& out) {
  auto& d = donors_.at(id);
  d.asked[{key, piece}] = {now, d.received};
  d.outstanding += b.piece_bytes;
  ++b.pieces[piece].askings;
  out.push_back({id, key, piece});
}

std::vector<download_plan::request> download_plan::next(time_point now) {
  std::vector<request> out;
  bool all_asked = true;
  for (auto& [key, b] : blobs_) {
    auto room = [&, &b = b] {
      return std::any_of(b.holders.begin(), b.holders.end(),
                         [&](const peer_id& id) {
                           return has_room(donors_.at(id), b.piece_bytes);
                         });
    };
    auto& first = b.first_missing;
    while (first < b.pieces.size()
           && (b.pieces[first].placed || b.pieces[first].askings > 0))
      ++first;
    for (auto i = first; i < b.pieces.size() && room(); ++i) {
      auto& p = b.pieces[i];
      if (p.placed || p.askings > 0)
        continue;
      peer_id id;
      if (most_free(b, i, id))
        ask(id, key, b, i, now, out);
    }
    all_asked = all_asked
                && std::all_of(
                    b.pieces.begin() + first, b.pieces.end(),
                    [](const piece& p) { return p.placed || p.askings > 0; });
  }
  if (all_asked)
    ask_twice(now, out);
  return out;
}

/// The end: who has nothing left to do helps those that take longer than
/// expected.
void download_plan::ask_twice(time_point now, std::vector<request>& out) {
  std::vector<std::pair<time_point, request>> waiting;
  for (auto& [id, d] : donors_)
    for (auto& [what, a] : d.asked)
      if (d.times.count() == 0 ? now - a.at >= most_.floor
                               : now - a.at > 2 * d.times.median())
        waiting.push_back({a.at, {id, what.first, what.second}});
  std::sort(waiting.begin(), waiting.end(),
            [](auto& a, auto& b) { return a.first < b.first; });
  for (auto& [since, x] : waiting) {
    auto& b = blobs_.at(x.blob);
    if (b.pieces[x.piece].askings >= askings_at_once)
      continue;
    for (auto& holder : b.holders) {
      auto& other = donors_.at(holder);
      if (holder == x.donor || !other.asked.empty() || other.late
          || other.times.count() == 0 || other.times.median() > now - since)
        continue;
      ask(holder, x.blob, b, x.piece, now, out);
      break;
    }
  }
}

std::vector<download_plan::request> download_plan::expire(time_point now) {
  std::vector<request> out;
  for (auto& [id, d] : donors_) {
    auto patience = d.times.deadline(most_.floor, most_.cap);
    for (auto& [what, a] : d.asked)
      if (now - a.at > patience)
        out.push_back({id, what.first, what.second});
  }
  for (auto& x : out) {
    blobs_.at(x.blob).pieces[x.piece].late = x.donor;
    give_up(x);
    auto& d = donors_.at(x.donor);
    d.late = true;
    d.rate /= 2;
  }
  return out;
}

bool download_plan::arrived(const request& x, std::uint64_t bytes,
                            time_point now) {
  auto at = donors_.find(x.donor);
  auto known = blobs_.find(x.blob);
  if (at != donors_.end()) {
    auto& d = at->second;
    d.received += bytes;
    d.late = false;
    auto asked = d.asked.find({x.blob, x.piece});
    if (asked != d.asked.end()) {
      auto took = now - asked->second.at;
      d.times.add(took);
      auto reading = std::max(took, shortest_reading);
      d.fastest
          = d.fastest == duration{0} ? reading : std::min(d.fastest, reading);
      auto rate = static_cast<double>(d.received - asked->second.received_then)
                  / std::chrono::duration<double>(reading).count();
      d.rate = std::max(rate, d.rate * rate_memory);
      give_up(x);
    }
  }
  return known != blobs_.end() && x.piece < known->second.pieces.size()
         && !known->second.pieces[x.piece].placed;
}

void download_plan::place(const blob_key& key, std::uint32_t piece) {
  auto& b = blobs_.at(key);
  auto& p = b.pieces.at(piece);
  if (p.placed)
    return;
  p.placed = true;
  ++b.placed;
}

bool download_plan::complete(const blob_key& key) const {
  auto at = blobs_.find(key);
  return at != blobs_.end() && at->second.placed == at->second.pieces.size();
}

std::pair<std::uint32_t, std::uint32_t>
download_plan::progress(const blob_key& key) const {
  auto at = blobs_.find(key);
  if (at == blobs_.end())
    return {0, 0};
  return {at->second.placed,
          static_cast<std::uint32_t>(at->second.pieces.size())};
}

std::uint64_t download_plan::outstanding(const peer_id& id) const {
  auto at = donors_.find(id);
  return at == donors_.end() ? 0 : at->second.outstanding;
}

} // namespace potluck
