#include "tools/lab/bench/beam_world.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/dht/limits.hpp"

namespace potluck::bench {

namespace {

/// As actors/router has it.
constexpr std::size_t record_quorum = 5;
/// Of a dial, besides the request's own: TCP's and TLS's.
constexpr int dial_messages = 4;

const deadline_estimator::settings patience{
    limits::routing_floor, limits::routing_cap, limits::routing_patience};

bool bit_of(const peer_id& id, std::size_t bit) {
  return (id.bytes[bit / 8] >> (7 - bit % 8)) & 1;
}

} // namespace

/// A look-up under way.
struct beam_world::errand {
  node from;
  lookup search;
  std::function<void(finding)> done;
  std::size_t answers = 0;
  std::size_t hops = 0;
  std::map<peer_id, std::size_t> depths; ///< Hops to who is named.
  bool over = false;
};

beam_world::beam_world(const settings& how) : how_(how), chance_(how.seed) {
  std::vector<peer_id> ids;
  for (std::size_t i = 0; i < how.nodes; ++i)
    ids.push_back(chance_.draw<peer_id>());
  std::sort(ids.begin(), ids.end());
  for (auto& id : ids) {
    by_id_[id] = nodes_.size();
    nodes_.push_back(
        std::make_unique<member>(contact{id, {"10.0.0.1", 7000}}, patience));
  }
  acquaint();
}

void beam_world::acquaint() {
  for (node self = 0; self < nodes_.size(); ++self) {
    auto& me = *nodes_[self];
    // Nodes `first` to `last` share the first `bit` bits with this one.
    node first = 0;
    node last = nodes_.size();
    for (std::size_t bit = 0; bit < point_bits && last - first > 1; ++bit) {
      const auto middle = static_cast<node>(
          std::partition_point(
              nodes_.begin() + static_cast<std::ptrdiff_t>(first),
              nodes_.begin() + static_cast<std::ptrdiff_t>(last),
              [&](auto& x) { return !bit_of(x->who.id, bit); })
          - nodes_.begin());
      const auto upper = bit_of(me.who.id, bit);
      const auto others_begin = upper ? first : middle;
      const auto others = (upper ? middle : last) - others_begin;
      std::set<node> chosen;
      while (chosen.size() < std::min(others, bucket_size))
        chosen.insert(others_begin + chance_.below(others));
      for (auto x : chosen) {
        me.table.seen(nodes_[x]->who, now_);
        me.answers.observed(nodes_[x]->who.id, delay() + delay());
      }
      (upper ? first : last) = middle;
    }
  }
}

void beam_world::after(duration wait, std::function<void()> run) {
  events_.push({now_ + wait, number_++, std::move(run)});
}

duration beam_world::delay() {
  const auto mean = static_cast<double>(how_.mean_delay.count());
  return duration{
      static_cast<std::int64_t>(-mean * std::log(1 - chance_.uniform01()))};
}

void beam_world::run() {
  while (!events_.empty()) {
    auto run = events_.top().run;
    now_ = events_.top().due;
    events_.pop();
    run();
  }
}

void beam_world::publish(node from, const std::vector<dht_record>& records) {
  const auto& key = records.front().key;
  auto& me = *nodes_[from];
  lookup search{key, me.who.id, me.table.closest(key, bucket_size)};
  while (!search.done())
    for (auto& to : search.next())
      search.answered(
          to.id, nodes_[by_id_.at(to.id)]->table.closest(key, bucket_size));
  for (auto& home : search.closest())
    for (auto& record : records)
      nodes_[by_id_.at(home.id)]->store.store(record, now_);
}

void beam_world::look_up(node from, const record_key& key,
                         std::function<void(finding)> done) {
  auto& me = *nodes_[from];
  lookup::settings how;
  how.quorum = record_quorum;
  auto seeds = me.table.closest(key, bucket_size);
  auto x = std::make_shared<errand>(errand{
      from, lookup{key, me.who.id, seeds, how}, std::move(done), 0, 0, {}});
  for (auto& seed : seeds)
    x->depths[seed.id] = 1;
  me.table.looked_up(key, now_);
  advance(x);
}

void beam_world::advance(const std::shared_ptr<errand>& x) {
  if (x->over)
    return;
  for (auto& to : x->search.next())
    ask(x, to);
  if (!x->search.done())
    return;
  x->over = true;
  // What the asker stores itself counts too.
  record_store merged;
  auto& me = *nodes_[x->from];
  for (auto& record : me.store.find(x->search.target(), now_))
    merged.store(record, now_);
  for (auto& record : x->search.records(now_))
    merged.store(record, now_);
  x->done({merged.find(x->search.target(), now_), x->search.asked(), x->answers,
           x->hops});
}

void beam_world::ask(const std::shared_ptr<errand>& x, const contact& to) {
  auto& me = *nodes_[x->from];
  const auto other = by_id_.at(to.id);
  const auto sent = now_;
  const auto settled = std::make_shared<bool>(false);
  // The router looks for what has expired at every tick.
  const duration tick = limits::routing_interval;
  const auto expiry = (now_.time_since_epoch() + me.answers.patience(to.id));
  const auto noticed = (expiry / tick + 1) * tick - now_.time_since_epoch();
  after(noticed, [=] {
    if (std::exchange(*settled, true))
      return;
    auto& asker = *nodes_[x->from];
    asker.answers.expired(to.id);
    asker.table.failed(to.id);
    if (!x->over) {
      x->search.failed(to.id);
      advance(x);
    }
  });
  if (nodes_[other]->vanished)
    return;
  duration there = delay();
  if (how_.dials && me.connected.insert(other).second) {
    nodes_[other]->connected.insert(x->from);
    for (int i = 0; i < dial_messages; ++i)
      there += delay();
  }
  after(there, [=] {
    auto& answerer = *nodes_[other];
    answerer.table.seen(nodes_[x->from]->who, now_);
    auto nodes = answerer.table.closest(x->search.target(), bucket_size);
    auto records = answerer.store.find(x->search.target(), now_);
    after(delay(), [=] {
      auto& asker = *nodes_[x->from];
      if (std::exchange(*settled, true))
        return; // Too late.
      asker.answers.observed(to.id, now_ - sent);
      asker.table.seen(to, now_);
      if (x->over)
        return;
      ++x->answers;
      const auto depth = x->depths.at(to.id);
      x->hops = std::max(x->hops, depth);
      for (auto& named : nodes)
        x->depths.emplace(named.id, depth + 1);
      x->search.answered(to.id, nodes, records, now_);
      advance(x);
    });
  });
}

} // namespace potluck::bench
