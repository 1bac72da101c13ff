#include "actors/router.hpp"

#include <algorithm>

#include "actors/behavior.hpp"
#include "messages/limits.hpp"
#include "runtime/config.hpp"

namespace potluck {

namespace {

/// Of the closest that must answer a look-up for records (lookup.hpp says why).
constexpr std::size_t record_quorum = 5;
/// Ranges of the table refreshed at one tick.
constexpr std::size_t refreshes_at_once = 2;

/// Whether marks of a request have this name.
bool among(const known_marks& marks, std::uint32_t mark) {
  return std::find(marks.begin(), marks.end(), mark) != marks.end();
}

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

} // namespace

void router_state::init(router_actor::pointer self, router_config config) {
  self_ = self;
  config_ = config;
  random_ = random_stream{config_.seed};
  quiet_ = config_.newcomer;
  table_.emplace(config_.self);
  requests_ = rpc_table<purpose>{random_.next()};
  tick_soon();
}

void router_state::on(const wiring& w) {
  wired_ = w;
}

void router_state::on(const letter& x) {
  std::visit([&](const auto& y) { read(x.from, y); }, x.content);
}

void router_state::on(const peer_joined& x) {
  connected_.insert(x.who.id);
  auto outcome = table_->seen(x.who, self_->clock().now());
  if (!outcome.ping)
    return;
  auto& old = *outcome.ping;
  if (auto token = issue(old, 0))
    self_->send(wired_.gateway, call{old, routing_ping{*token}, {}});
}

void router_state::on(const peer_left& x) {
  connected_.erase(x.id);
  if (x.orderly)
    on(routes_no_more{x.id});
  for (auto& request : requests_.cancel(x.id))
    unanswered(request);
}

void router_state::on(const routes_no_more& x) {
  connected_.erase(x.id);
  table_->remove(x.id);
  forget_neighbourhoods_with(x.id);
}

void router_state::on(const dial_failed& x) {
  for (auto& request : requests_.cancel(x.expected))
    unanswered(request);
}

// ---- answering
// ----------------------------------------------------------------

void router_state::reply(const peer_id& to, message content) {
  self_->send(wired_.gateway, parcel{to, std::move(content), {}});
}

void router_state::read(const peer_id& from, const routing_ping& x) {
  reply(from, routing_pong{x.token});
}

std::vector<contact> router_state::closest_unknown(const record_key& target,
                                                   const known_marks& known,
                                                   std::uint64_t token) const {
  auto result = table_->closest(target, bucket_size);
  result.erase(std::remove_if(result.begin(), result.end(),
                              [&](const contact& who) {
                                return among(known, known_mark(who.id, token));
                              }),
               result.end());
  return result;
}

void router_state::read(const peer_id& from, const find_nodes& x) {
  reply(from, nodes_found{x.token,
                          closest_unknown(x.target, x.known_nodes, x.token)});
}

void router_state::read(const peer_id& from, const store_records& x) {
  auto now = self_->clock().now();
  std::uint32_t accepted = 0;
  tick_soon();
  for (auto& record : x.records) {
    auto verdict = store_.store(record, now);
    if (verdict == record_store::verdict::stored
        || verdict == record_store::verdict::refreshed)
      ++accepted;
  }
  reply(from, records_stored{x.token, accepted});
}

void router_state::read(const peer_id& from, const find_records& x) {
  auto records = store_.find(x.key, self_->clock().now());
  const auto stored = static_cast<std::uint32_t>(
      std::min<std::size_t>(records.size(), max_stored));
  if (!x.known_records.empty())
    records.erase(std::remove_if(records.begin(), records.end(),
                                 [&](const dht_record& record) {
                                   return among(
                                       x.known_records,
                                       known_mark(record.subkey, x.token));
                                 }),
                  records.end());
  const auto most = x.most == 0 ? max_records : std::size_t{x.most};
  for (std::size_t i = 0; x.most != 0 && i < most && i < records.size(); ++i)
    std::swap(records[i], records[i + random_.below(records.size() - i)]);
  if (records.size() > most)
    records.resize(most);
  reply(from,
        records_found{x.token, std::move(records),
                      closest_unknown(x.key, x.known_nodes, x.token), stored});
}

// ---- asking
// --------------------------------------------------------------------

std::optional<rpc_table<router_state::purpose>::pending>
router_state::answered(const peer_id& from, std::uint64_t token) {
  auto now = self_->clock().now();
  auto outcome = requests_.answer(token, from);
  if (outcome.request) {
    answers_.observed(from, now - outcome.request->sent);
  } else if (auto i = overdue_.find(token);
             i != overdue_.end() && i->second.peer == from) {
    // Too late for the look-up, but it lives; next time it gets longer.
    answers_.observed(from, now - i->second.sent);
    lives({from, i->second.what.where});
    overdue_.erase(i);
  }
  return outcome.request;
}

void router_state::lives(const contact& who) {
  if (connected_.count(who.id) != 0)
    table_->seen(who, self_->clock().now());
}

std::optional<std::uint64_t> router_state::issue(const contact& who,
                                                 std::uint64_t search) {
  tick_soon();
  return requests_.issue(who.id, {search, who.where}, self_->clock().now(),
                         answers_.patience(who.id));
}

void router_state::too_late(const rpc_table<purpose>::pending& request) {
  answers_.expired(request.peer);
  if (overdue_.size() >= limits::overdue_requests)
    overdue_.erase(overdue_.begin()); // Tokens count up: the oldest.
  overdue_.emplace(request.token, request);
  unanswered(request);
}

void router_state::unanswered(const rpc_table<purpose>::pending& request) {
  table_->failed(request.peer);
  forget_neighbourhoods_with(request.peer);
  auto i = searches_.find(request.what.search);
  if (i == searches_.end())
    return;
  i->second.state.failed(request.peer);
  advance(i->first);
}

void router_state::read(const peer_id& from, const routing_pong& x) {
  if (auto request = answered(from, x.token))
    lives({from, request->what.where});
}

void router_state::read(const peer_id& from, const records_stored& x) {
  answered(from, x.token);
}

void router_state::read(const peer_id& from, const nodes_found& x) {
  auto request = answered(from, x.token);
  if (!request)
    return;
  if (auto i = searches_.find(request->what.search); i != searches_.end()) {
    i->second.state.answered(from, x.nodes);
    advance(i->first);
  }
}

void router_state::read(const peer_id& from, const records_found& x) {
  auto request = answered(from, x.token);
  if (!request)
    return;
  if (auto i = searches_.find(request->what.search); i != searches_.end()) {
    i->second.state.answered(from, x.nodes, x.records, self_->clock().now());
    i->second.stored.push_back(x.stored);
    advance(i->first);
  }
}

void router_state::on(const publish_record& x) {
  tick_soon();
  const auto copies = x.copies == 0 ? bucket_size : std::size_t{x.copies};
  std::vector<dht_record> records{x.record};
  records.insert(records.end(), x.others.begin(), x.others.end());
  for (auto& record : records)
    store_.store(record, self_->clock().now());
  if (auto nodes = remembered(x.record.key); !nodes.empty()) {
    store_at(nearest(std::move(nodes), copies), records);
    return;
  }
  search s{lookup{x.record.key, config_.self,
                  table_->closest(x.record.key, bucket_size)},
           false,
           {},
           std::move(records),
           copies};
  begin(std::move(s));
}

void router_state::on(const look_up_records& x) {
  lookup::settings how;
  how.quorum = record_quorum;
  search s{
      lookup{x.key, config_.self, table_->closest(x.key, bucket_size), how},
      true,
      x.asker,
      {}};
  s.known = x.known;
  s.most = x.most;
  begin(std::move(s));
}

void router_state::begin(search s) {
  if (searches_.size() >= limits::lookups_at_once) {
    finish(s); // With what is known here: the asker tries again by itself.
    return;
  }
  auto id = next_search_++;
  table_->looked_up(s.state.target(), self_->clock().now());
  searches_.emplace(id, std::move(s));
  advance(id);
}

void router_state::advance(std::uint64_t id) {
  auto& s = searches_.at(id);
  for (auto& who : s.state.next()) {
    auto token = issue(who, id);
    if (!token) {
      s.state.failed(who.id);
      continue;
    }
    if (s.for_records)
      self_->send(wired_.gateway,
                  call{who,
                       find_records{*token, s.state.target(),
                                    marks_of(s.state.known(), *token),
                                    marks_of(s.known, *token), s.most},
                       {}});
    else
      self_->send(wired_.gateway,
                  call{who,
                       find_nodes{*token, s.state.target(),
                                  marks_of(s.state.known(), *token)},
                       {}});
  }
  if (!s.state.done()) {
    // What is published must not wait for those that do not answer.
    if (s.state.awaits_only())
      store_at_answered(s);
    return;
  }
  finish(s);
  searches_.erase(id);
}

std::vector<contact> router_state::remembered(const record_key& key) {
  auto now = self_->clock().now();
  forget_neighbourhoods([&](const neighbourhood& x) {
    return now - x.found >= limits::closest_nodes_age;
  });
  auto i = published_.find(key);
  return i == published_.end() ? std::vector<contact>{} : i->second.nodes;
}

template <class Predicate>
void router_state::forget_neighbourhoods(Predicate which) {
  for (auto i = published_.begin(); i != published_.end();)
    i = which(i->second) ? published_.erase(i) : std::next(i);
}

void router_state::forget_neighbourhoods_with(const peer_id& id) {
  forget_neighbourhoods([&](const neighbourhood& x) {
    return std::any_of(x.nodes.begin(), x.nodes.end(),
                       [&](auto& who) { return who.id == id; });
  });
}

void router_state::store_at(const std::vector<contact>& nodes,
                            const std::vector<dht_record>& records) {
  for (auto& who : nodes)
    if (auto token = issue(who, 0))
      self_->send(wired_.gateway,
                  call{who, store_records{*token, records}, {}});
}

std::vector<contact> router_state::nearest(std::vector<contact> nodes,
                                           std::size_t copies) {
  if (nodes.size() > copies)
    nodes.resize(copies);
  return nodes;
}

void router_state::store_at_answered(search& s) {
  if (s.to_store.empty())
    return;
  auto nodes = nearest(s.state.closest(), s.copies);
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(),
                             [&](auto& who) {
                               return !s.stored_at.insert(who.id).second;
                             }),
              nodes.end());
  store_at(nodes, s.to_store);
}

void router_state::finish(search& s) {
  auto now = self_->clock().now();
  auto closest = s.state.closest();
  if (!s.to_store.empty()) {
    store_at_answered(s);
    // Where few are known, newcomers matter more than requests. From half a
    // bucket on, answers that all name each other are 2 % of a slow line.
    if (closest.size() >= bucket_size / 2
        && published_.size() < limits::closest_nodes_kept)
      published_[s.state.target()] = {closest, now};
    if (wired_.roster)
      self_->send(wired_.roster,
                  record_published{s.state.target(),
                                   static_cast<std::uint32_t>(
                                       std::min(closest.size(), s.copies))});
  }
  if (!s.asker)
    return;
  // What we store ourselves counts too.
  record_store merged;
  for (auto& record : store_.find(s.state.target(), now))
    merged.store(record, now);
  for (auto& record : s.state.records(now))
    merged.store(record, now);
  records_looked_up news{s.state.target(), merged.find(s.state.target(), now),
                         static_cast<std::uint32_t>(closest.size())};
  if (auto& x = s.stored; !x.empty()) {
    const auto middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
    std::nth_element(x.begin(), middle, x.end());
    news.stored = *middle;
  }
  self_->send(s.asker, std::move(news));
}

void router_state::on(const tick&) {
  ticking_ = false;
  auto now = self_->clock().now();
  store_.expire(now);
  for (auto& request : requests_.expired(now))
    too_late(request);
  if (table_->size() > 0 && !quiet_)
    for (auto& target :
         table_->refresh_targets(now, random_, refreshes_at_once))
      begin({lookup{target, config_.self, table_->closest(target, bucket_size)},
             false,
             {},
             {}});
  if (!quiet_ || requests_.size() > 0 || store_.size() > 0)
    tick_soon();
}

void router_state::tick_soon() {
  if (ticking_)
    return;
  ticking_ = true;
  self_->delayed_send(self_, limits::routing_interval, tick{});
}

router_actor::behavior_type
router(router_actor::stateful_pointer<router_state> self,
       router_config config) {
  return behave<router_actor, router_state>(self, config);
}

} // namespace potluck
