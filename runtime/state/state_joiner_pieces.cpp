/// The joiner's part with donors: what they list, which list is believed, and
/// the pieces that they send.
#include "runtime/state/state_joiner.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/config.hpp"
#include "runtime/safeguards.hpp"
#include "runtime/state/pieces.hpp"

namespace potluck {

// ---- lists ------------------------------------------------------------------

void state_joiner::vote(const peer_id& from, const state_manifest& x,
                        time_point now) {
  auto key = blob_key{!x.mean, x.step};
  if (key.state && (means_only_ || stage_ == stage::applying))
    return;
  if (!key.state && x.step <= (stage_ == stage::applying ? at_ : version_))
    return;
  if (key.state
      && (x.step != version_
          || (!version_state_.empty() && x.state != version_state_))) {
    ban(from, "it offers another version than it was asked for", now);
    return;
  }
  auto problem = shape_problem(x, goal_.values);
  if (!problem.empty()) {
    ban(from, problem, now);
    return;
  }
  vouchers_.claim(from, x.step, x.state);
  auto believed = vouchers_.believed(x.step);
  if (believed && *believed != x.state)
    return; // Of another history than most.
  auto& b = blobs_[key];
  auto& o = b.offers[listing_of(x)];
  if (o.donors.empty())
    o.manifest = x;
  o.donors.insert(from);
  choose(key, now);
}

/// The list that most donors name. While it is a draw, the first one stays.
void state_joiner::choose(const blob_key& key, time_point now) {
  auto& b = blobs_.at(key);
  std::size_t voters = 0;
  auto best = b.offers.end();
  for (auto i = b.offers.begin(); i != b.offers.end(); ++i) {
    voters += i->second.donors.size();
    if (best == b.offers.end()
        || i->second.donors.size() > best->second.donors.size())
      best = i;
  }
  if (best == b.offers.end() || best->second.donors.empty())
    return;
  auto current = b.offers.find(b.chosen);
  bool fresh = plan_.progress(key).first == 0;
  bool majority = 2 * best->second.donors.size() > voters;
  // What is there is not thrown away for the word of one.
  bool unwanted = current == b.offers.end()
                  || (current->second.donors.empty() && (fresh || b.doubted));
  auto listing = best->first;
  if (b.chosen != listing
      && (unwanted || (majority && (fresh || best->second.donors.size() > 1))))
    load(key, listing, now);
  add_holders(now);
  // More than half of all donors, not of those that were quick.
  auto votes = blobs_.at(key).offers.at(listing).donors.size();
  if (votes < 2 || 2 * votes <= donors_.size()
      || blobs_.at(key).chosen != listing)
    return;
  std::set<peer_id> others;
  for (auto& [other, o] : b.offers)
    if (other != listing)
      others.insert(o.donors.begin(), o.donors.end());
  ban_all(others, "it lists other pieces than most donors", now);
}

void state_joiner::add_holders(time_point now) {
  const auto relay = donors_.find(goal_.relay);
  for (auto& [key, b] : blobs_) {
    auto chosen = b.offers.find(b.chosen);
    if (chosen == b.offers.end())
      continue;
    bool comes = false, may_come = false;
    if (relay != donors_.end()) {
      auto listed = relay->second.listed.find(key);
      comes = listed != relay->second.listed.end()
              && listed->second == chosen->first;
      may_come = now - b.chosen_at <= limits::chain_patience;
      if (comes)
        plan_.add_holder(key, relay->first);
    }
    if (!relay_late_ && (comes || may_come))
      continue;
    ask_for_pieces(now);
    for (auto& id : chosen->second.donors) {
      auto d = donors_.find(id);
      if (d != donors_.end() && d->second.said != answer::none
          && d->second.said != answer::busy)
        plan_.add_holder(key, id);
    }
  }
}

void state_joiner::ask_for_pieces(time_point now) {
  const auto others = std::exchange(relay_alone_, false);
  for (auto& [id, d] : donors_)
    if (d.lists_only)
      ask(id, now);
  if (others)
    for (auto& id : candidates_)
      if (asks_more() && !distrusts(id) && donors_.count(id) == 0)
        ask(id, now);
}

/// Its list counts if it is the one that is chosen anyway.
void state_joiner::listed_by_relay(const state_manifest& x) {
  auto& listed = donors_.at(goal_.relay).listed;
  if (x.step > at_ && listed.size() < limits::means_of_a_state)
    listed[{false, x.step}] = listing_of(x);
}

void state_joiner::do_without_relay() {
  if (donors_.erase(goal_.relay) != 0) {
    letters_.push_back({goal_.relay, state_done{}, {}});
    plan_.drop_donor(goal_.relay);
  }
  goal_.relay = {};
}

/// Nobody else says which list is right: then it is as good as any donor.
void state_joiner::take_relay_as_donor(time_point now) {
  auto id = goal_.relay;
  do_without_relay();
  candidates_.push_back(id);
  ask_for_pieces(now);
}

/// Begins to fetch what this list names, from nothing.
void state_joiner::load(const blob_key& key, const digest& listing,
                        time_point now) {
  auto& b = blobs_.at(key);
  b.chosen = listing;
  b.chosen_at = now;
  b.doubted = false;
  const auto& manifest = b.offers.at(listing).manifest;
  plan_.drop(key);
  plan_.add(key, static_cast<std::uint32_t>(manifest.pieces.size()),
            manifest.piece_bytes);
  if (!key.state) {
    // Not the old ones: somebody may be sent their pieces.
    b.values = std::make_shared<std::vector<float>>(goal_.values);
    mean_steps_[manifest.state] = key.step;
    if (means_only_)
      listed_.push_back({manifest, b.values});
    return;
  }
  auto transfer = state_transfer::begin(manifest, goal_.values);
  if (transfer) {
    transfer_ = std::move(*transfer);
    return;
  }
  auto wrong = b.offers.at(listing).donors;
  ban_all(wrong, transfer.error(), now);
}

const state_manifest* state_joiner::chosen(const blob_key& key) const {
  auto at = blobs_.find(key);
  if (at == blobs_.end())
    return nullptr;
  auto o = at->second.offers.find(at->second.chosen);
  return o == at->second.offers.end() ? nullptr : &o->second.manifest;
}

// ---- distrust ---------------------------------------------------------------

void state_joiner::ban(const peer_id& peer, const std::string& what,
                       time_point now) {
  if (!donors_.count(peer))
    return;
  faults_.push_back({peer, what});
  distrusted_[peer] = now + limits::distrust;
  letters_.push_back({peer, state_done{}, {}});
  donors_.erase(peer);
  candidates_.erase(std::remove(candidates_.begin(), candidates_.end(), peer),
                    candidates_.end());
  plan_.drop_donor(peer);
  vouchers_.forget(peer);
  for (auto& [key, b] : blobs_)
    for (auto& [listing, o] : b.offers)
      if (o.donors.erase(peer) > 0 && o.donors.empty() && listing == b.chosen)
        b.doubted = true;
}

void state_joiner::ban_all(const std::set<peer_id>& peers,
                           const std::string& what, time_point now) {
  auto copy = peers; // Banning changes the offers.
  for (auto& id : copy)
    ban(id, what, now);
}

// ---- pieces -----------------------------------------------------------------

void state_joiner::request_pieces(time_point now) {
  for (auto& x : plan_.next(now)) {
    auto manifest = chosen(x.blob);
    auto d = donors_.find(x.donor);
    if (!manifest || d == donors_.end())
      continue;
    letters_.push_back({x.donor,
                        piece_request{manifest->state, x.piece, !x.blob.state,
                                      d->second.arrived},
                        {}});
  }
}

std::optional<blob_key> state_joiner::key_of(const state_piece& x) const {
  if (!x.mean) {
    auto key = blob_key{true, version_};
    auto manifest = chosen(key);
    if (manifest && manifest->state == x.state)
      return key;
    return std::nullopt;
  }
  auto at = mean_steps_.find(x.state);
  if (at == mean_steps_.end())
    return std::nullopt;
  return blob_key{false, at->second};
}

void state_joiner::read(const peer_id& from, const state_piece& x,
                        const shared_bytes& body, time_point now) {
  auto d = donors_.find(from);
  if (!busy() || d == donors_.end())
    return;
  d->second.arrived += body.size;
  bytes_ += body.size;
  auto key = key_of(x);
  if (!key)
    return; // Of what is not fetched any more.
  if (body.size == 0) {
    // Gone there; whoever else has it goes on.
    plan_.drop_holder(*key, from);
    for (auto& [listing, o] : blobs_.at(*key).offers)
      o.donors.erase(from);
    if (key->state)
      d->second.said = answer::declines;
    if (from == goal_.relay)
      do_without_relay();
    look(now);
    return;
  }
  if (plan_.arrived({from, *key, x.piece}, body.size, now)) {
    if (!place(*key, x.piece, body)) {
      ban(from, "it sent a piece that is not what was listed", now);
      look(now);
      return;
    }
    plan_.place(*key, x.piece);
    given_[from] += body.size;
    if (key->state && plan_.complete(*key))
      finish_state(now);
  }
  // Deadlines are looked at now and then; here only what this piece changes.
  if (busy() && stage_ == stage::applying)
    advance(now);
  if (busy())
    request_pieces(now);
}

/// False when it is not the piece that the list names.
bool state_joiner::place(const blob_key& key, std::uint32_t piece,
                         const shared_bytes& body) {
  if (key.state)
    switch (transfer_->offer(piece, body.data, body.size)) {
      case state_transfer::verdict::placed:
      case state_transfer::verdict::complete:
      case state_transfer::verdict::repeated:
        return true;
      case state_transfer::verdict::wrong_piece:
      case state_transfer::verdict::wrong_length:
      case state_transfer::verdict::wrong_bytes:
        return false;
    }
  auto manifest = chosen(key);
  auto where = extent_of(*manifest, piece);
  if (where.size == 0 || where.size != body.size
      || (digest_of(body.data, body.size) != manifest->pieces[piece]
          && guarded(safeguard::piece_digest)))
    return false;
  auto values = reinterpret_cast<std::uint8_t*>(blobs_.at(key).values->data());
  std::memcpy(values + where.offset, body.data, body.size);
  if (means_only_)
    placed_.push_back({key.step, piece});
  return true;
}

void state_joiner::finish_state(time_point now) {
  auto key = blob_key{true, version_};
  auto manifest = *chosen(key);
  auto state = transfer_->finish();
  transfer_.reset();
  auto believed = vouchers_.believed(version_);
  if (!state || (believed && *believed != manifest.state)) {
    auto liars = blobs_.at(key).offers.at(blobs_.at(key).chosen).donors;
    plan_.drop(key);
    blobs_.erase(key);
    ban_all(liars, "its pieces do not make the state that most report", now);
    for (auto& [id, d] : donors_)
      if (d.said == answer::serves)
        ask(id, now); // For their list: another one is needed.
    return;
  }
  // recent[i] is the digest after step `version - i`.
  if (goal_.alone) {
    // Its digests are its own; what we did went into others by averaging.
  } else if (goal_.own_step > version_) {
    history_lost_ = true;
  } else if (goal_.own_step > 0) {
    auto age = version_ - goal_.own_step;
    history_unknown_ = age >= manifest.recent.size();
    history_lost_
        = !history_unknown_ && manifest.recent[age] != goal_.own_state;
  }
  plan_.drop(key);
  blobs_.erase(key);
  stage_ = stage::applying;
  at_ = version_;
  awaited_ = {version_, manifest.state};
  state_job_ = std::make_shared<training_state>(std::move(*state));
}

} // namespace potluck
