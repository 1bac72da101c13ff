#include "tests/runtime/dht/swarm_world.hpp"

#include <algorithm>
#include <optional>

#include "messages/codec.hpp"
#include "runtime/membership/bootstrap_record.hpp"
#include "tools/lab/network/made_up_signatures.hpp"

namespace potluck::swarm {

namespace {

using namespace std::chrono_literals;

/// Of a frame: its own head, TLS's record, TCP's and IP's.
constexpr std::size_t frame_overhead = 70;
/// Of a dial, for each side: handshakes with a certificate, and the hello.
constexpr std::size_t dial_bytes = 2000;
constexpr int dial_round_trips = 3;
/// Where nobody answers a dial, and a connection whose peer is silent.
constexpr auto dial_patience = 5s;
constexpr auto silence_patience = 15s;
/// Connections of one node; the oldest is closed.
constexpr std::size_t most_links = 200;
constexpr auto refresh_interval = 15s;
constexpr std::uint64_t began_ms = 1'800'000'000'000;

std::string host_of(std::size_t network, std::size_t number) {
  return "11." + std::to_string(network >> 8) + "."
         + std::to_string(network & 0xff) + "." + std::to_string(number % 250);
}

} // namespace

struct world::member {
  member(const contact& who, std::uint64_t seed)
      : who(who), here(who.id, seed, made_up(who.id)), client(who.id, here, 1) {
  }
  contact who;
  dht_node here;
  dht_client client;
  bool sybil = false;
  bool gone = false;
  bool ticking = false;
  std::vector<node> links; ///< The oldest first.
  std::uint64_t number = 0, published = 0;
  // The look-up that is measured, one at a time.
  std::function<void(finding)> done;
  time_point began;
  finding found;
  std::map<peer_id, std::size_t> hops;
};

world::~world() = default;

world::world(const settings& how) : how_(how), chance_(how.seed) {
  std::vector<node> all;
  for (std::size_t i = 0; i < how.routers; ++i)
    all.push_back(add(static_cast<double>(i)
                      < how.sybils * static_cast<double>(how.routers)));
  if (how.acquainted)
    acquaint(all);
  for (auto x : honest_)
    after(duration{static_cast<std::int64_t>(
              chance_.below(duration{refresh_interval}.count()))},
          [this, x] { tick(x); });
  if (how.leaves_an_hour > 0)
    churn();
}

// ---- time -------------------------------------------------------------------

void world::after(duration wait, std::function<void()> run) {
  events_.push({now_ + wait, number_++, std::move(run)});
}

duration world::delay() {
  return 10ms + std::chrono::milliseconds{chance_.below(90)};
}

void world::run_for(duration x) {
  const auto end = now_ + x;
  while (!events_.empty() && events_.top().due <= end) {
    auto run = std::move(const_cast<event&>(events_.top()).run);
    now_ = events_.top().due;
    events_.pop();
    run();
  }
  now_ = end;
}

// ---- who is there -----------------------------------------------------------

world::node world::add(bool sybil) {
  const auto x = members_.size();
  const auto network = sybil && how_.sybil_networks > 0
                           ? 0xff00 + x % how_.sybil_networks
                       : !sybil && how_.networks > 0 ? x % how_.networks
                                                     : x % 0xff00;
  const contact who{chance_.draw<peer_id>(), {host_of(network, x), 7000}};
  members_.push_back(std::make_unique<member>(who, chance_.next()));
  members_[x]->sybil = sybil;
  by_id_[who.id] = x;
  if (sybil)
    sybils_[who.id] = x;
  else
    honest_.push_back(x);
  return x;
}

/// As if they had known each other for long: of each bucket's nodes twenty.
void world::acquaint(const std::vector<node>& all) {
  const auto bit_of = [](const peer_id& id, std::size_t bit) {
    return (id.bytes[bit / 8] >> (7 - bit % 8)) & 1;
  };
  auto sorted = all;
  std::sort(sorted.begin(), sorted.end(), [&](node a, node b) {
    return members_[a]->who.id < members_[b]->who.id;
  });
  for (auto self : all) {
    auto& me = *members_[self];
    if (me.sybil)
      continue;
    std::size_t first = 0, last = sorted.size();
    for (std::size_t bit = 0; bit < point_bits && last - first > 1; ++bit) {
      const auto middle = static_cast<std::size_t>(
          std::partition_point(
              sorted.begin() + static_cast<std::ptrdiff_t>(first),
              sorted.begin() + static_cast<std::ptrdiff_t>(last),
              [&](node x) { return !bit_of(members_[x]->who.id, bit); })
          - sorted.begin());
      const auto upper = bit_of(me.who.id, bit);
      const auto begin = upper ? first : middle;
      const auto count = (upper ? middle : last) - begin;
      std::set<std::size_t> chosen;
      while (chosen.size() < std::min(count, bucket_size))
        chosen.insert(begin + chance_.below(count));
      for (auto i : chosen) {
        const auto& other = members_[sorted[i]]->who;
        me.here.joined(other, now_);
        me.here.left(other.id);
      }
      (upper ? first : last) = middle;
    }
  }
}

world::node world::any_honest() {
  return honest_[chance_.below(honest_.size())];
}

const contact& world::who(node x) const {
  return members_[x]->who;
}

bool world::is_there(node x) const {
  return !members_[x]->gone;
}

bool world::is_looking_up(node x) const {
  return static_cast<bool>(members_[x]->done);
}

world::node world::join(const std::vector<node>& seeds) {
  const auto x = add(false);
  for (auto seed : seeds)
    meet(x, seed);
  after(1s, [this, x] { tick(x); });
  return x;
}

void world::meet(node a, node b) {
  spent(a, dial_bytes);
  spent(b, dial_bytes);
  link(a, b);
}

void world::leave(node x) {
  auto& me = *members_[x];
  me.gone = true;
  honest_.erase(std::find(honest_.begin(), honest_.end(), x));
  for (auto other : std::exchange(me.links, {})) {
    auto& links = members_[other]->links;
    links.erase(std::find(links.begin(), links.end(), x));
    after(silence_patience, [this, other, id = me.who.id] {
      auto& left = *members_[other];
      if (left.gone || left.sybil)
        return;
      left.here.left(id);
      carry_out(other, left.client.lost(id, now_));
    });
  }
}

void world::churn() {
  const auto each
      = 3600.0 / (how_.leaves_an_hour * static_cast<double>(how_.routers));
  after(duration{static_cast<std::int64_t>(each * 1e9)}, [this] {
    leave(any_honest());
    join({any_honest()});
    churn();
  });
}

void world::link(node a, node b) {
  auto& links = members_[a]->links;
  if (std::find(links.begin(), links.end(), b) != links.end())
    return;
  for (auto [x, y] : {std::pair{a, b}, std::pair{b, a}}) {
    auto& one = *members_[x];
    auto& other = *members_[y];
    if (one.links.size() >= most_links) {
      const auto oldest = one.links.front();
      auto& far = *members_[oldest];
      one.links.erase(one.links.begin());
      one.here.left(far.who.id);
      far.links.erase(std::find(far.links.begin(), far.links.end(), x));
      far.here.left(one.who.id);
    }
    one.links.push_back(y);
    if (!one.sybil)
      carry_out(x, one.client.joined(other.who, true, now_));
  }
}

// ---- routers ----------------------------------------------------------------

void world::tick(node x) {
  auto& me = *members_[x];
  if (me.gone)
    return;
  me.here.expire(now_);
  carry_out(x, me.client.refresh(now_));
  after(refresh_interval, [this, x] { tick(x); });
}

void world::tick_soon(node x) {
  auto& me = *members_[x];
  if (me.gone || me.ticking || !me.client.waits())
    return;
  me.ticking = true;
  after(limits::routing_interval, [this, x] {
    auto& it = *members_[x];
    it.ticking = false;
    if (!it.gone)
      carry_out(x, it.client.look(now_));
    tick_soon(x);
  });
}

void world::carry_out(node from, dht_actions xs) {
  for (auto& x : xs)
    std::visit([&](auto& y) { carry_out(from, y); }, x);
  tick_soon(from);
}

void world::carry_out(node from, const dht_call& x) {
  auto& me = *members_[from];
  if (me.done && std::holds_alternative<find_records>(x.content))
    ++me.found.requests;
  const auto at = by_id_.find(x.to.id);
  if (at == by_id_.end() || members_[at->second]->gone) {
    const auto linked
        = std::any_of(me.links.begin(), me.links.end(),
                      [&](node y) { return members_[y]->who.id == x.to.id; });
    if (!linked)
      after(dial_patience, [this, from, id = x.to.id] {
        auto& it = *members_[from];
        if (!it.gone)
          carry_out(from, it.client.lost(id, now_));
      });
    return;
  }
  const auto to = at->second;
  duration extra{0};
  if (std::find(me.links.begin(), me.links.end(), to) == me.links.end()) {
    spent(from, dial_bytes);
    spent(to, dial_bytes);
    for (int i = 0; i < dial_round_trips; ++i)
      extra += delay();
  }
  send(from, to, x.content, extra);
}

void world::carry_out(node from, const lookup_over& x) {
  auto& me = *members_[from];
  if (x.number == 0 || !me.done)
    return;
  me.found.records = x.records;
  me.found.took = now_ - me.began;
  std::exchange(me.done, nullptr)(std::move(me.found));
}

void world::carry_out(node from, const publication_over&) {
  // The last copies are on their way.
  after(1s, [this, from, number = members_[from]->number] {
    members_[from]->published = number;
  });
}

void world::spent(node x, std::size_t bytes) {
  if (!members_[x]->sybil)
    bytes_ += bytes;
}

void world::send(node from, node to, message x, duration extra) {
  spent(from, encode(x).size() + frame_overhead);
  after(delay() + extra,
        [this, from, to, x = std::move(x)] { arrive(from, to, x); });
}

void world::arrive(node from, node to, const message& x) {
  auto& me = *members_[to];
  if (me.gone || members_[from]->gone)
    return;
  link(from, to);
  if (me.sybil) {
    send(to, from, by_sybil(to, x), how_.sybils_wait);
    return;
  }
  const auto& sender = members_[from]->who.id;
  const auto now_ms = began_ms
                      + static_cast<std::uint64_t>(
                          std::chrono::duration_cast<std::chrono::milliseconds>(
                              now_.time_since_epoch())
                              .count());
  me.here.clocks(now_ms, now_ms);
  std::visit(
      [&](const auto& y) {
        using type = std::decay_t<decltype(y)>;
        if constexpr (std::is_same_v<
                          type,
                          routing_ping> || std::is_same_v<type, find_nodes>)
          send(to, from, me.here.answer(y));
        else if constexpr (std::is_same_v<type, find_records>)
          send(to, from, me.here.answer(y, now_));
        else if constexpr (std::is_same_v<type, store_records>)
          send(to, from, me.here.answer(sender, y, now_));
        else if constexpr (std::is_same_v<type, records_found>) {
          if (me.done) {
            const auto at = me.hops.emplace(sender, 1).first->second;
            for (auto& named : y.nodes)
              me.hops.emplace(named.id, at + 1);
            if (!y.records.empty() && me.found.hops == 0)
              me.found.hops = at;
          }
          carry_out(to, me.client.read(sender, y, now_));
        } else if constexpr (
            std::is_same_v<
                type,
                routing_pong> || std::is_same_v<type, nodes_found> || std::is_same_v<type, records_stored>)
          carry_out(to, me.client.read(sender, y, now_));
      },
      x);
}

void world::publish(node from, const record_key& key) {
  auto& me = *members_[from];
  auto record = bootstrap_record::of(me.who);
  record.key = key;
  const auto now_ms = began_ms
                      + static_cast<std::uint64_t>(
                          std::chrono::duration_cast<std::chrono::milliseconds>(
                              now_.time_since_epoch())
                              .count());
  me.here.clocks(now_ms, now_ms);
  me.number = std::max(me.number + 1, now_ms);
  carry_out(from, me.client.publish(record, 10, now_));
}

std::uint64_t world::published(node from) const {
  return members_[from]->published;
}

std::size_t world::copies(const record_key& key) const {
  return static_cast<std::size_t>(
      std::count_if(honest_.begin(), honest_.end(), [&](node x) {
        return !members_[x]->here.stored(key, now_).empty();
      }));
}

void world::look_up(node from, const record_key& key, bool matters,
                    std::function<void(finding)> done) {
  auto& me = *members_[from];
  me.done = std::move(done);
  me.began = now_;
  me.found = {};
  me.hops.clear();
  dht_client::question x;
  x.key = key;
  x.matters = matters;
  carry_out(from, me.client.look_up(1, x, now_));
}

// ---- Sybils -----------------------------------------------------------------

std::vector<contact> world::closest_sybils(const record_key& target) const {
  std::vector<contact> result;
  if (sybils_.empty())
    return result;
  peer_id there;
  there.bytes = target.bytes;
  // The closest share the longest prefix, so they are neighbours in order.
  auto up = sybils_.lower_bound(there);
  auto down = up;
  for (std::size_t i = 0; i < 2 * bucket_size && up != sybils_.end(); ++i)
    result.push_back(members_[(up++)->second]->who);
  for (std::size_t i = 0; i < 2 * bucket_size && down != sybils_.begin(); ++i)
    result.push_back(members_[(--down)->second]->who);
  std::sort(result.begin(), result.end(),
            [&](auto& a, auto& b) { return closer(target, a.id, b.id); });
  if (result.size() > bucket_size)
    result.resize(bucket_size);
  return result;
}

message world::by_sybil(node, const message& asked) {
  if (const auto x = std::get_if<find_nodes>(&asked))
    return nodes_found{x->token, closest_sybils(x->target)};
  if (const auto x = std::get_if<find_records>(&asked))
    return records_found{x->token, {}, closest_sybils(x->key), 0};
  if (const auto x = std::get_if<store_records>(&asked))
    return records_stored{x->token,
                          static_cast<std::uint32_t>(x->records.size())};
  if (const auto x = std::get_if<routing_ping>(&asked))
    return routing_pong{x->token};
  return routing_pong{};
}

std::size_t world::sybils_named(node x, const record_key& target) const {
  std::size_t result = 0;
  for (auto& who : members_[x]->here.closest(target))
    result += sybils_.count(who.id);
  return result;
}

} // namespace potluck::swarm
