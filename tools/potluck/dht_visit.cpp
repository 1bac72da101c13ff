#include "tools/potluck/dht_visit.hpp"

#include <algorithm>
#include <utility>

#include "messages/codec.hpp"
#include "runtime/dht/record_rules.hpp"
#include "runtime/dialable.hpp"
#include "runtime/membership/handshake.hpp"
#include "tools/potluck/peer_options.hpp"

namespace potluck::tools {

namespace {

using namespace std::chrono_literals;

/// For connections, their proofs and hellos.
constexpr auto greeting_patience = 10s;
/// A look-up ends by itself: this is for a machine that stood still.
constexpr auto visit_patience = 60s;
/// For what nodes say to a record that has reached them.
constexpr auto store_patience = 5s;
/// As actors/roster has it for reports.
constexpr std::size_t copies = 10;

} // namespace

dht_visitor::dht_visitor(uv_transport_options how)
    : how_(std::move(how)), self_(how_.key->id()),
      here_(self_, random_seed(), signatures_of(*how_.key)),
      client_(self_, here_, random_seed()) {
  const auto ms = wall_clock_ms();
  here_.clocks(ms, ms);
  net_ = make_uv_transport(how_);
  net_->start(box_);
}

dht_visitor::~dht_visitor() {
  for (auto& [id, l] : links_) {
    if (l.is_ready)
      net_->send(id, {encode(goodbye{"has seen enough"}), {}});
    if (!l.is_over)
      net_->close(id);
  }
  net_->stop();
}

time_point dht_visitor::now() {
  return time_point{clock::now().time_since_epoch()};
}

template <class Done>
bool dht_visitor::wait(clock::duration patience, Done done) {
  const auto end = clock::now() + patience;
  auto look_at = clock::now();
  while (!done()) {
    if (clock::now() >= end)
      return false;
    if (auto x = box_->next(50ms))
      handle(*x);
    if (clock::now() >= look_at) {
      look_at = clock::now() + limits::routing_interval;
      carry_out(client_.look(now()));
    }
  }
  return true;
}

expected<std::size_t> dht_visitor::enter(const std::vector<contact>& seeds) {
  for (auto& who : seeds) {
    link l;
    l.who = who;
    l.dialled_for_id = !who.id.empty();
    links_[net_->dial(who.where, who.id)] = std::move(l);
  }
  wait(greeting_patience, [&] {
    return std::all_of(links_.begin(), links_.end(), [](auto& x) {
      return x.second.is_ready || x.second.is_over;
    });
  });
  const auto there = std::count_if(links_.begin(), links_.end(),
                                   [](auto& x) { return x.second.is_ready; });
  if (there > 0)
    return static_cast<std::size_t>(there);
  std::string why;
  for (auto& [id, l] : links_)
    why += (why.empty() ? "" : "; ") + to_string(l.who.where) + ": "
           + (l.why.empty() ? "no answer in time" : l.why);
  return failure{"Nobody lets this machine in (" + why
                 + "); name a peer that runs with --peer HOST:PORT."};
}

dht_finding dht_visitor::get(const record_key& key) {
  dht_client::question x;
  x.key = key;
  x.matters = true;
  carry_out(client_.look_up(1, x, now()));
  wait(visit_patience, [&] { return over_.has_value(); });
  dht_finding result;
  result.asked = asked_.size();
  if (!over_)
    return result;
  result.answers = over_->answers;
  for (auto& record : over_->records) {
    seen_record seen{std::move(record), 0, {}};
    for (auto& [node, number] : naming_[seen.record.subkey])
      if (number == seen.record.seal.number) {
        ++seen.nodes;
        seen.paths.insert(paths_[node]);
      }
    result.records.push_back(std::move(seen));
  }
  return result;
}

expected<std::size_t> dht_visitor::put(dht_record record) {
  auto tried = record;
  tried.seal.life_ms = tried.lives_ms;
  if (auto problem = problem_with(tried, self_); !problem.empty())
    return failure{"No node would keep that: " + problem + "."};
  carry_out(client_.publish(std::move(record), copies, now()));
  wait(visit_patience, [&] { return sent_to_.has_value(); });
  wait(store_patience, [&] { return !client_.waits(); });
  return kept_;
}

void dht_visitor::carry_out(dht_actions xs) {
  for (auto& x : xs) {
    if (auto what = std::get_if<dht_call>(&x))
      call(*what);
    else if (auto found = std::get_if<lookup_over>(&x))
      over_ = std::move(*found);
    else if (auto done = std::get_if<publication_over>(&x))
      sent_to_ = done->copies;
  }
}

void dht_visitor::call(const dht_call& x) {
  if (std::holds_alternative<find_records>(x.content)) {
    asked_.insert(x.to.id);
    paths_[x.to.id] = x.path;
  }
  if (const auto at = by_id_.find(x.to.id); at != by_id_.end()) {
    auto& l = links_.at(at->second);
    if (l.is_ready)
      net_->send(at->second, {encode(x.content), {}});
    else
      l.waiting.push_back(x.content);
    return;
  }
  if (!may_knock(seen_host_, x.to.where.host)) {
    carry_out(client_.lost(x.to.id, now()));
    return;
  }
  link l;
  l.who = x.to;
  l.dialled_for_id = true;
  l.waiting.push_back(x.content);
  const auto id = net_->dial(x.to.where, x.to.id);
  by_id_[x.to.id] = id;
  links_[id] = std::move(l);
}

void dht_visitor::handle(const transport_news::item& x) {
  if (x.happened == transport_news::what::accepted) {
    net_->close(x.id, 0);
    return;
  }
  const auto at = links_.find(x.id);
  if (at == links_.end() || at->second.is_over)
    return;
  auto& l = at->second;
  if (x.happened == transport_news::what::closed) {
    closed(x.id, x.reason);
  } else if (x.happened == transport_news::what::connected) {
    if (l.dialled_for_id && !x.proven.empty() && x.proven != l.who.id) {
      net_->close(x.id, 0);
      closed(x.id, "another peer answers there");
      return;
    }
    if (!x.proven.empty())
      l.who.id = x.proven;
    l.who.where.host = x.remote.host;
    hello ours;
    ours.id = self_;
    ours.role = role::bootstrap; // Serves no run, and asks for none.
    ours.seen_host = x.remote.host;
    ours.seen_port = x.remote.port;
    ours.clock_ms = wall_clock_ms();
    net_->send(x.id, {encode(ours), {}});
  } else if (auto content = decode(x.frame.head.data(), x.frame.head.size(),
                                   x.frame.body.size)) {
    read(x.id, l, *content);
  }
}

void dht_visitor::read(connection_id id, link& l, const message& content) {
  if (auto theirs = std::get_if<hello>(&content)) {
    hello ours;
    ours.id = self_;
    ours.role = role::bootstrap;
    auto why = objection(ours, *theirs);
    if (why.empty())
      why = false_claim(l.who.id, theirs->id);
    if (!why.empty()) {
      net_->close(id, 0);
      closed(id, why);
      return;
    }
    l.who.id = theirs->id;
    l.who.where.port = theirs->listen_port;
    l.is_ready = true;
    if (seen_host_.empty())
      seen_host_ = theirs->seen_host;
    by_id_[l.who.id] = id;
    carry_out(client_.joined(l.who, false, now()));
    for (auto& x : std::exchange(l.waiting, {}))
      net_->send(id, {encode(x), {}});
    return;
  }
  if (auto no = std::get_if<refusal>(&content))
    l.why = no->sentence;
  else if (auto beat = std::get_if<heartbeat>(&content))
    net_->send(id, {encode(heartbeat_reply{beat->token}), {}});
  else if (auto wish = std::get_if<charter_request>(&content))
    net_->send(id, {encode(charter_reply{wish->token}), {}}); // It has none.
  if (!l.is_ready)
    return;
  const auto& from = l.who.id;
  if (auto pong = std::get_if<routing_pong>(&content)) {
    carry_out(client_.read(from, *pong, now()));
  } else if (auto nodes = std::get_if<nodes_found>(&content)) {
    carry_out(client_.read(from, *nodes, now()));
  } else if (auto stored = std::get_if<records_stored>(&content)) {
    kept_ += stored->accepted > 0;
    carry_out(client_.read(from, *stored, now()));
  } else if (auto found = std::get_if<records_found>(&content)) {
    for (auto& record : found->records) {
      const auto owner = signatures_of(*how_.key)->owner_of(record.seal.signer);
      naming_[subkey_of(owner)][from] = record.seal.number;
    }
    carry_out(client_.read(from, *found, now()));
  }
}

void dht_visitor::closed(connection_id id, const std::string& reason) {
  auto& l = links_.at(id);
  l.is_over = true;
  l.is_ready = false;
  if (l.why.empty())
    l.why = reason;
  if (const auto at = by_id_.find(l.who.id);
      at != by_id_.end() && at->second == id)
    by_id_.erase(at);
  if (l.who.id.empty())
    return;
  here_.left(l.who.id);
  carry_out(client_.lost(l.who.id, now()));
}

} // namespace potluck::tools
