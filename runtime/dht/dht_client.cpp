#include "runtime/dht/dht_client.hpp"

#include <algorithm>
#include <utility>

#include "messages/limits.hpp"
#include "runtime/dht/limits.hpp"
#include "runtime/median.hpp"

namespace potluck {

namespace {

/// Of the closest that must answer a look-up for records (lookup.hpp says why).
constexpr std::size_t record_quorum = 5;
/// So many must answer before these where a table begins, and in one of three
/// look-ups of the own id: there the spacing of the neighbours is no measure,
/// who may be a lie together.
constexpr std::size_t thorough_quorum = 2 * bucket_size;
constexpr std::size_t thorough_every = 3;

template <class Names>
known_marks marks_of(const Names& names, std::uint64_t token) {
  known_marks result;
  for (const auto& x : names) {
    if (result.size() == max_known)
      break;
    result.push_back(known_mark(x, token));
  }
  return result;
}

/// Of nodes in the order of their distance, those that copies go to.
std::vector<contact> nearest(std::vector<contact> nodes, std::size_t copies) {
  if (nodes.size() > copies)
    nodes.resize(copies);
  return nodes;
}

} // namespace

dht_actions dht_client::done() {
  return std::exchange(actions_, {});
}

// ---- beginning --------------------------------------------------------------

dht_client::search dht_client::search_for(const record_key& target,
                                          time_point now,
                                          const std::vector<contact>& seeds,
                                          std::size_t quorum, std::size_t paths,
                                          std::size_t doubted) const {
  lookup::settings how;
  how.quorum = quorum;
  how.doubted = doubted;
  how.avoids
      = [this, now](const peer_id& who) { return node_.puts_off(who, now); };
  return {disjoint_lookup{target, self_, seeds, how, paths, node_.spacing()},
          {},
          {},
          {},
          bucket_size,
          {},
          {},
          {}};
}

dht_actions dht_client::publish(dht_record record, std::size_t copies,
                                time_point now) {
  if (!node_.keep_own(record, now))
    return done();
  const auto key = record.key;
  if (copies == 0)
    copies = bucket_size;
  if (auto nodes = published_.of(key, now); !nodes.empty()) {
    store_at(nearest(std::move(nodes), copies), record, now);
    return done();
  }
  // In doubt from the start: the contacts that it begins with may be Sybils
  // alone, which lie close enough together to pass for the neighbourhood.
  auto s
      = search_for(key, now, node_.seeds(key), bucket_size, 1, thorough_quorum);
  s.to_store = std::move(record);
  s.copies = copies;
  begin(std::move(s), now);
  return done();
}

dht_actions dht_client::look_up(std::uint64_t number, question x,
                                time_point now) {
  auto s = search_for(x.key, now, node_.seeds(x.key), record_quorum,
                      x.matters ? disjoint_lookup::careful : 1,
                      x.matters && node_.spacing() == 0 ? thorough_quorum : 0);
  s.number = number;
  s.wish = std::move(x);
  begin(std::move(s), now);
  return done();
}

dht_actions dht_client::refresh(time_point now) {
  if (searches_.size() >= limits::searches_beside_refreshes)
    return done();
  for (auto& target : node_.refresh_targets(now)) {
    const bool own = target == point_of(self_);
    const bool thorough = own && own_lookups_++ % thorough_every == 0;
    begin(search_for(target, now, node_.seeds(target),
                     own ? bucket_size : record_quorum, 1,
                     thorough ? thorough_quorum : 0),
          now);
  }
  return done();
}

dht_actions dht_client::joined(const contact& who, bool asks, time_point now) {
  const bool is_new = !node_.knows(who.id);
  if (const auto old = node_.joined(who, now))
    if (auto token = requests_.issue(old->id, 0, now))
      actions_.push_back(dht_call{*old, routing_ping{*token}});
  if (asks && is_new && introductions_.take(now)) {
    auto s = search_for(point_of(self_), now, {who}, bucket_size, 1,
                        node_.spacing() == 0 ? thorough_quorum : 0);
    for (const auto& x : node_.closest(point_of(self_)))
      s.known_here.push_back(x.id);
    begin(std::move(s), now);
  }
  return done();
}

void dht_client::begin(search s, time_point now) {
  if (searches_.size() >= limits::lookups_at_once) {
    finish(s, now); // With what is known here: the asker tries again by itself.
    return;
  }
  s.began = now;
  auto id = next_search_++;
  if (s.known_here.empty())
    node_.looked_up(s.state.target(), now);
  searches_.emplace(id, std::move(s));
  advance(id, now);
}

// ---- asking -----------------------------------------------------------------

void dht_client::advance(std::uint64_t id, time_point now) {
  auto& s = searches_.at(id);
  for (auto& who : s.state.next()) {
    auto token = requests_.issue(who.id, id, now);
    if (!token) {
      s.state.failed(who.id);
      continue;
    }
    auto names = s.state.known();
    names.insert(names.end(), s.known_here.begin(), s.known_here.end());
    const auto known = marks_of(names, *token);
    if (s.number)
      actions_.push_back(
          dht_call{who,
                   find_records{*token, s.wish.key, known,
                                marks_of(s.wish.known, *token), s.wish.most},
                   s.state.path_of(who.id)});
    else
      actions_.push_back(dht_call{who,
                                  find_nodes{*token, s.state.target(), known},
                                  s.state.path_of(who.id)});
  }
  if (!s.state.done()) {
    // What is published must not wait for those that do not answer.
    if (s.state.awaits_only())
      store_at_answered(s, now);
    return;
  }
  finish(s, now);
  searches_.erase(id);
}

void dht_client::store_at(const std::vector<contact>& nodes,
                          const dht_record& record, time_point now) {
  for (auto& who : nodes)
    if (auto token = requests_.issue(who.id, 0, now))
      actions_.push_back(dht_call{who, store_records{*token, {record}}});
}

void dht_client::store_at_answered(search& s, time_point now) {
  if (!s.to_store)
    return;
  auto nodes = nearest(s.state.closest(), s.copies);
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(),
                             [&](auto& who) {
                               return !s.stored_at.insert(who.id).second;
                             }),
              nodes.end());
  store_at(nodes, *s.to_store, now);
}

void dht_client::finish(search& s, time_point now) {
  const auto key = s.state.target();
  const auto closest = s.state.closest();
  if (s.to_store) {
    store_at_answered(s, now);
    published_.found(key, closest, now);
    actions_.push_back(publication_over{
        key, static_cast<std::uint32_t>(std::min(closest.size(), s.copies))});
  }
  if (!s.number)
    return;
  // What we store ourselves counts too.
  record_store merged;
  for (auto& record : node_.stored(key, now))
    merged.store(record, now);
  for (auto& record : s.state.records(now))
    merged.store(record, now);
  lookup_over news{*s.number, key, merged.find(key, now),
                   static_cast<std::uint32_t>(closest.size())};
  news.stored = upper_median(std::move(s.stored));
  actions_.push_back(std::move(news));
}

// ---- answers ----------------------------------------------------------------

std::optional<dht_client::request>
dht_client::answered(const peer_id& from, std::uint64_t token, time_point now) {
  auto answer = requests_.answered(from, token, now);
  // Where it is too late for the look-up, its node lives all the same.
  if (answer.wanted)
    node_.lives(from, now);
  return answer.in_time;
}

template <class Use>
dht_actions dht_client::use_answer(const peer_id& from, std::uint64_t token,
                                   time_point now, Use use) {
  auto asked = answered(from, token, now);
  auto at = asked ? searches_.find(asked->what) : searches_.end();
  if (at != searches_.end()) {
    use(at->second);
    advance(at->first, now);
  }
  return done();
}

dht_actions dht_client::read(const peer_id& from, const routing_pong& x,
                             time_point now) {
  answered(from, x.token, now);
  return done();
}

dht_actions dht_client::read(const peer_id& from, const records_stored& x,
                             time_point now) {
  answered(from, x.token, now);
  return done();
}

std::vector<contact>
dht_client::unknown_neighbours(const search& s, std::vector<contact> named) {
  const auto& known = s.known_here; // Closest first.
  named.erase(
      std::remove_if(
          named.begin(), named.end(),
          [&](const contact& who) {
            return std::find(known.begin(), known.end(), who.id) != known.end()
                   || (known.size() >= bucket_size
                       && !closer(s.state.target(), who.id, known.back()));
          }),
      named.end());
  return named;
}

dht_actions dht_client::read(const peer_id& from, const nodes_found& x,
                             time_point now) {
  return use_answer(from, x.token, now, [&](search& s) {
    s.state.answered(from, unknown_neighbours(s, x.nodes), {}, now);
  });
}

dht_actions dht_client::read(const peer_id& from, const records_found& x,
                             time_point now) {
  return use_answer(from, x.token, now, [&](search& s) {
    auto said = x.records;
    said.erase(
        std::remove_if(said.begin(), said.end(),
                       [&](auto& y) { return y.key != s.state.target(); }),
        said.end());
    const auto found = [&](const record_key&, const std::string& subkey) {
      return s.state.number(subkey);
    };
    s.state.answered(from, x.nodes,
                     node_.read(from, std::move(said), found, now), now);
    s.stored.push_back(x.stored);
  });
}

void dht_client::unanswered(const request& x, time_point now) {
  node_.failed(x.peer, now);
  published_.forget_with(x.peer);
  auto at = searches_.find(x.what);
  if (at == searches_.end())
    return;
  at->second.state.failed(x.peer);
  advance(at->first, now);
}

dht_actions dht_client::lost(const peer_id& who, time_point now) {
  for (auto& x : requests_.cancel(who))
    unanswered(x, now);
  return done();
}

dht_actions dht_client::look(time_point now) {
  requests_.expire(now, [&](const request& x) { unanswered(x, now); });
  std::set<std::uint64_t> held_up;
  for (auto& x : requests_.slow(now))
    if (const auto at = searches_.find(x.what); at != searches_.end()) {
      at->second.state.slow(x.peer);
      held_up.insert(x.what);
    }
  for (auto id : held_up)
    advance(id, now);
  for (auto i = searches_.begin(); i != searches_.end();)
    if (has_enough(i->second, now)
        || now - i->second.began >= limits::lookup_patience) {
      finish(i->second, now);
      i = searches_.erase(i);
    } else {
      ++i;
    }
  return done();
}

bool dht_client::has_enough(const search& s, time_point now) {
  return s.number && s.wish.most != 0 && now - s.began >= patience_with_finds
         && !s.state.records(now).empty();
}

} // namespace potluck
