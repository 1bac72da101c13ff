#include "runtime/state/blob_download.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/state/pieces.hpp"

namespace potluck {

namespace {

/// As `shape_problem`, where neither the model nor its optimizer is known.
std::string problem_of_any(const state_manifest& x) {
  if (x.mean)
    return shape_problem(x, x.bytes / sizeof(float));
  // A state with moments is as long as a larger one without.
  const auto values
      = (x.bytes - std::min<std::uint64_t>(x.bytes, state_header_bytes))
        / sizeof(float);
  for (auto moments : {2u, 1u})
    if (values % (1 + moments) == 0)
      return shape_problem(x, values / (1 + moments), moments);
  return shape_problem(x, values, 0);
}

} // namespace

// ---- lists ------------------------------------------------------------------

blob_download::naming blob_download::name(const peer_id& from,
                                          const state_manifest& x,
                                          std::size_t donors, time_point now) {
  auto problem
      = store_ ? problem_of_any(x) : shape_problem(x, values_, moments_);
  if (!problem.empty())
    return {{from}, problem, {}};
  claims_.claim(from, x.step, x.state);
  auto believed = claims_.believed(x.step);
  if (believed && *believed != x.state)
    return {}; // Of another history than most.
  const auto key = blob_key{!x.mean, x.step};
  auto named = lists_.name(from, x, plan_.progress(key).first == 0, now);
  naming news;
  if (named.chosen_now)
    news.coming = load(*lists_.chosen(key));
  news.liars = lists_.outvoted(key, named.most, donors);
  news.lie = "it lists other pieces than most donors";
  return news;
}

/// Begins to fetch what this list names, from nothing.
std::optional<coming_mean> blob_download::load(const piece_lists::list& x) {
  const auto& list = x.manifest;
  const auto key = blob_key{!list.mean, list.step};
  if (store_) {
    recount(key);
    return std::nullopt;
  }
  plan_.drop(key);
  plan_.add(key, static_cast<std::uint32_t>(list.pieces.size()),
            list.piece_bytes);
  if (key.state) {
    state_ = coming_state{key, {}, {}};
    resize(state_->values, values_, moments_);
    return std::nullopt;
  }
  // Not the old values: somebody may be sent their pieces.
  auto values = std::make_shared<std::vector<float>>(values_);
  means_[list.step] = values;
  return coming_mean{list, std::move(values)};
}

// ---- donors -----------------------------------------------------------------

bool blob_download::needs_others(const preferred_relay& relay,
                                 time_point now) const {
  for (auto& [key, x] : lists_.chosen())
    if (!relay.keeps_others_away(key, x.listing, x.since, now))
      return true;
  return false;
}

void blob_download::add_holders(const preferred_relay& relay,
                                const std::set<peer_id>& answered,
                                time_point now) {
  for (auto& [key, x] : lists_.chosen()) {
    if (relay.has_listed(key, x.listing))
      plan_.add_holder(key, relay.id());
    if (!relay.keeps_others_away(key, x.listing, x.since, now))
      for (auto& id : x.what->donors)
        if (answered.count(id))
          plan_.add_holder(key, id);
  }
}

void blob_download::forget(const peer_id& donor, bool lied) {
  claims_.forget(donor);
  plan_.drop_donor(donor);
  if (lied)
    lists_.doubt(donor);
  else
    lists_.forget(donor);
}

// ---- pieces -----------------------------------------------------------------

std::vector<std::pair<peer_id, piece_request>>
blob_download::requests(time_point now) {
  std::vector<std::pair<peer_id, piece_request>> result;
  for (auto& x : plan_.next(now))
    if (auto list = lists_.chosen(x.blob))
      result.push_back(
          {x.donor, {list->manifest.state, x.piece, !x.blob.state}});
  return result;
}

std::vector<peer_id> blob_download::late(time_point now) {
  std::vector<peer_id> result;
  for (auto& x : plan_.expire(now))
    result.push_back(x.donor);
  return result;
}

std::pair<blob_download::verdict, blob_key>
blob_download::read(const peer_id& from, const state_piece& x,
                    const shared_bytes& body, time_point now) {
  auto blob = lists_.leading_to(x.state, x.mean);
  if (!blob)
    return {verdict::unwanted, {}};
  if (body.size == 0) {
    plan_.drop_holder(*blob, from); // Whoever else has it goes on.
    lists_.withdraw(*blob, from);
    return {verdict::gone, *blob};
  }
  if (!plan_.arrived({from, *blob, x.piece}, body.size, now))
    return {verdict::repeated, *blob};
  if (!place(*blob, x.piece, body))
    return {verdict::wrong, *blob};
  plan_.place(*blob, x.piece);
  return {verdict::placed, *blob};
}

bool blob_download::place(const blob_key& key, std::uint32_t piece,
                          const shared_bytes& body) {
  const auto& list = lists_.chosen(key)->manifest;
  auto where = extent_of(list, piece);
  if (where.size == 0 || where.size != body.size
      || (digest_of(body.data, body.size) != list.pieces[piece]
          && guards_.has(safeguard::piece_digest)))
    return false;
  if (store_) { // What it cannot keep is missed when somebody asks for it.
    store_->put(list.pieces[piece], body);
  } else if (key.state) {
    auto from = body.data;
    visit_bytes(state_regions<training_state, std::uint8_t>(
                    state_->header.data(), state_->values),
                where.offset, where.size,
                [&](std::uint8_t* out, std::size_t count) {
                  std::memcpy(out, from, count);
                  from += count;
                });
  } else {
    auto bytes = reinterpret_cast<std::uint8_t*>(means_.at(key.step)->data());
    std::memcpy(bytes + where.offset, body.data, body.size);
  }
  return true;
}

std::optional<training_state> blob_download::take_state(const blob_key& key) {
  const auto& list = lists_.chosen(key)->manifest;
  auto came = *std::exchange(state_, std::nullopt);
  auto& state = came.values;
  if (!read_state_header(came.header, values_, state) || state.step != list.step
      || state.history_samples != list.history_samples
      || digest_of_state(state) != list.state || !believes(key))
    return std::nullopt;
  state.recent = list.recent;
  return std::move(state);
}

bool blob_download::believes(const blob_key& key) const {
  const auto believed = claims_.believed(key.step);
  return !believed || *believed == lists_.chosen(key)->manifest.state;
}

mean_job blob_download::job(std::uint64_t step) const {
  const auto& list = lists_.chosen({false, step})->manifest;
  return {step, list.samples, list.state, means_.at(step)};
}

std::size_t blob_download::means_held() const {
  std::size_t count = 0;
  for (auto& [step, values] : means_)
    count += plan_.complete({false, step});
  return count;
}

mean_course::view blob_download::behind(std::uint64_t step,
                                        std::size_t votes) const {
  const auto next = blob_key{false, step + 1};
  return {lists_.knows(next), plan_.complete(next),
          lists_.any_behind(next.step, votes)};
}

// ---- keeping ----------------------------------------------------------------

void blob_download::recount(const blob_key& key) {
  const auto* list = lists_.chosen(key);
  if (!list)
    return;
  const auto& x = list->manifest;
  plan_.drop(key);
  plan_.add(key, static_cast<std::uint32_t>(x.pieces.size()), x.piece_bytes);
  for (std::uint32_t i = 0; i < x.pieces.size(); ++i)
    if (store_->has(x.pieces[i]))
      plan_.place(key, i);
}

std::optional<digest> blob_download::begun() const {
  if (!state_ || plan_.progress(state_->key).first == 0)
    return std::nullopt;
  return lists_.chosen(state_->key)->manifest.state;
}

void blob_download::drop(const blob_key& key) {
  plan_.drop(key);
  lists_.drop(key);
  if (!key.state)
    means_.erase(key.step);
  else if (state_ && state_->key.step == key.step)
    state_.reset();
}

void blob_download::drop_unheld() {
  for (auto& key : lists_.unheld())
    if (!plan_.complete(key))
      drop(key);
}

void blob_download::clear() {
  for (auto& key : lists_.keys())
    drop(key);
}

} // namespace potluck
