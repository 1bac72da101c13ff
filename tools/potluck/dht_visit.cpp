#include "tools/potluck/dht_visit.hpp"

#include <algorithm>
#include <utility>

#include "runtime/dht/record_rules.hpp"
#include "runtime/dialable.hpp"
#include "tools/potluck/peer_options.hpp"

namespace potluck::tools {

namespace {

using namespace std::chrono_literals;

/// For connections, their proofs and hellos.
constexpr auto dht_greeting_patience = 10s;
/// A look-up ends by itself: this is for a machine that stood still.
constexpr auto visit_patience = 60s;
/// For what nodes say to a record that has reached them.
constexpr auto store_patience = 5s;
/// As actors/roster has it for reports.
constexpr std::size_t copies = 10;

} // namespace

dht_visitor::dht_visitor(const uv_transport_options& how)
    : visit([&] {
        visit::plan x;
        x.how = how;
        x.as.role = role::bootstrap; // Serves no run, and asks for none.
        return x;
      }()),
      signs_(signatures_of(*how.key)), here_(self(), random_seed(), signs_),
      client_(self(), here_, random_seed()), look_at_(clock::now()) {
  const auto ms = wall_clock_ms();
  here_.clocks(ms, ms);
}

time_point dht_visitor::now() {
  return time_point{clock::now().time_since_epoch()};
}

void dht_visitor::idle() {
  if (clock::now() < look_at_)
    return;
  look_at_ = clock::now() + limits::routing_interval;
  carry_out(client_.look(now()));
}

expected<std::size_t> dht_visitor::enter(const std::vector<contact>& seeds) {
  for (auto& who : seeds)
    dial(who);
  wait(dht_greeting_patience, [&] { return !anything_pending(); });
  if (count() > 0)
    return count();
  std::string why;
  for (auto& [id, l] : lines())
    why += (why.empty() ? "" : "; ") + to_string(l.who.where) + ": " + l.why();
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
  if (auto problem = problem_with(tried, self()); !problem.empty())
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
  if (const auto at = by_id_.find(x.to.id); at != by_id_.end())
    return say(*at->second, x.content);
  if (!may_knock(seen_host_, x.to.where.host)) {
    carry_out(client_.lost(x.to.id, now()));
    return;
  }
  auto& l = dial(x.to);
  by_id_[x.to.id] = &l;
  say(l, x.content);
}

void dht_visitor::welcomed(line& l) {
  l.who.where.port = l.said->listen_port;
  if (seen_host_.empty())
    seen_host_ = l.said->seen_host;
  by_id_[l.who.id] = &l;
  carry_out(client_.joined(l.who, false, now()));
}

void dht_visitor::heard(line& l, const message& content, const shared_bytes&) {
  if (!l.welcomed)
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
      const auto owner = signs_->owner_of(record.seal.signer);
      naming_[subkey_of(owner)][from] = record.seal.number;
    }
    carry_out(client_.read(from, *found, now()));
  }
}

void dht_visitor::ended(line& l) {
  if (const auto at = by_id_.find(l.who.id);
      at != by_id_.end() && at->second == &l)
    by_id_.erase(at);
  if (l.who.id.empty())
    return;
  here_.left(l.who.id);
  carry_out(client_.lost(l.who.id, now()));
}

} // namespace potluck::tools
