/// Nodes of the DHT on the loopback, which store and look up signed records as
/// fast as they can: a node each, over TLS.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "messages/codec.hpp"
#include "runtime/dht/dht_client.hpp"
#include "runtime/identity/key_pair.hpp"
#include "runtime/uv/uv_transport.hpp"
#include "runtime/uv/wall_clock.hpp"

namespace potluck::bench {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t copies = 8; ///< As OpenDHT has it.
constexpr std::size_t under_way = 32;
constexpr std::size_t value_bytes = 200;

struct speed {
  double puts = 0; ///< A second.
  double gets = 0;
  double found = 0; ///< Of all.
};

inline double since(clock_type::time_point x) {
  return std::chrono::duration<double>(clock_type::now() - x).count();
}

/// Counts what the nodes' threads have seen, for one that waits.
class tally {
public:
  void add(std::size_t acks, std::size_t over, std::size_t found) {
    std::lock_guard<std::mutex> lock{mutex_};
    acks_ += acks;
    over_ += over;
    found_ += found;
    changed_.notify_all();
  }
  void wait_for_acks(std::size_t count) {
    wait([&] { return acks_ >= count; });
  }
  void wait_for_ends(std::size_t count) {
    wait([&] { return over_ >= count; });
  }
  std::size_t found() {
    std::lock_guard<std::mutex> lock{mutex_};
    return found_;
  }

private:
  template <class Done>
  void wait(Done done) {
    std::unique_lock<std::mutex> lock{mutex_};
    changed_.wait_for(lock, 60s, done);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t acks_ = 0;
  std::size_t over_ = 0;
  std::size_t found_ = 0;
};

/// Each node decides on its transport's thread, as OpenDHT's do on theirs.
class swarm {
public:
  explicit swarm(std::size_t nodes) {
    for (std::size_t i = 0; i < nodes; ++i) {
      nodes_.push_back(std::make_unique<member>(i));
      auto& x = *nodes_.back();
      uv_transport_options how;
      how.key = x.key;
      x.net = make_uv_transport(how);
      x.net->start(std::make_shared<ear>(*this, i));
      x.who = {x.key.id(), *x.net->listen({"127.0.0.1", 0})};
      by_id_[x.who.id] = i;
    }
    keeper_ = std::thread{[this] { keep_looking(); }};
    for (std::size_t i = 1; i < nodes; ++i) {
      at(i, [=] { line(i, nodes_[0]->who); });
      wait_until(i, [=] { return !nodes_[i]->lines.empty(); });
      for (int n = 0; n < 8; ++n)
        at(i, [=] { carry_out(i, nodes_[i]->client.refresh(now())); });
    }
    for (std::size_t i = 0; i < nodes; ++i)
      wait_until(i, [=] { return !nodes_[i]->client.waits(); });
  }
  ~swarm() {
    over_ = true;
    keeper_.join();
    for (auto& x : nodes_)
      x->net->stop();
  }

  speed measure(std::size_t records) {
    speed result;
    const auto begun = clock_type::now();
    for (std::size_t i = 0; i < records; ++i) {
      if (i >= under_way)
        tally_.wait_for_acks((i - under_way + 1) * copies);
      at(owner(i), [=] { publish(i); });
    }
    tally_.wait_for_acks(records * copies);
    result.puts = static_cast<double>(records) / since(begun);
    const auto then = clock_type::now();
    for (std::size_t i = 0; i < records; ++i) {
      if (i >= under_way)
        tally_.wait_for_ends(i - under_way + 1);
      at(asker(i), [=] { ask(i); });
    }
    tally_.wait_for_ends(records);
    result.gets = static_cast<double>(records) / since(then);
    result.found
        = static_cast<double>(tally_.found()) / static_cast<double>(records);
    return result;
  }

private:
  struct member {
    explicit member(std::size_t number)
        : key(key_pair::generate()), here(key.id(), number, signatures_of(key)),
          client(key.id(), here, 1) {
    }
    key_pair key;
    contact who;
    std::unique_ptr<transport> net;
    std::mutex mutex; ///< For what follows.
    dht_node here;
    dht_client client;
    std::map<peer_id, connection_id> lines;
    std::map<connection_id, peer_id> ends;
    std::map<peer_id, std::vector<message>> waiting;
  };

  static time_point now() {
    return time_point{clock_type::now().time_since_epoch()};
  }
  static record_key key(std::size_t i) {
    return key_of("record " + std::to_string(i));
  }
  std::size_t owner(std::size_t i) const {
    return (7 * i) % nodes_.size();
  }
  std::size_t asker(std::size_t i) const {
    return (7 * i + 1 + i % (nodes_.size() - 1)) % nodes_.size();
  }

  class ear : public transport_listener {
  public:
    ear(swarm& to, std::size_t node) : to_(to), node_(node) {
    }
    void on_accepted(connection_id id, const address&,
                     const peer_id& proven) override {
      to_.at(node_, [&] { to_.opened(node_, id, proven); });
    }
    void on_connected(connection_id id, const address&,
                      const peer_id& proven) override {
      to_.at(node_, [&] { to_.opened(node_, id, proven); });
    }
    void on_frame(connection_id id, incoming_frame frame) override {
      const auto content
          = decode(frame.head.data(), frame.head.size(), frame.body.size);
      if (content)
        to_.at(node_, [&] {
          std::visit(
              [&](auto& x) {
                to_.read(node_, id, to_.nodes_[node_]->ends.at(id), x);
              },
              *content);
        });
    }
    void on_closed(connection_id, const std::string&) override {
    }

  private:
    swarm& to_;
    std::size_t node_;
  };

  template <class Work>
  void at(std::size_t node, Work work) {
    std::lock_guard<std::mutex> lock{nodes_[node]->mutex};
    work();
  }
  template <class Done>
  void wait_until(std::size_t node, Done done) {
    for (bool is = false; !is;) {
      at(node, [&] { is = done(); });
      if (!is)
        std::this_thread::sleep_for(1ms);
    }
  }

  void keep_looking() {
    while (!over_) {
      for (std::size_t i = 0; i < nodes_.size(); ++i)
        at(i, [&] {
          const auto ms = wall_clock_ms();
          nodes_[i]->here.clocks(ms, ms);
          carry_out(i, nodes_[i]->client.look(now()));
        });
      std::this_thread::sleep_for(500ms);
    }
  }

  // ---- of one node, under its lock

  void publish(std::size_t i) {
    std::string value;
    for (std::size_t b = 0; b < value_bytes; ++b)
      value += static_cast<char>(b);
    carry_out(owner(i),
              nodes_[owner(i)]->client.publish(
                  {key(i), "", value, 120'000, record_kind::coordinates},
                  copies, now()));
  }
  void ask(std::size_t i) {
    dht_client::question x;
    x.key = key(i);
    carry_out(asker(i), nodes_[asker(i)]->client.look_up(i, x, now()));
  }

  void line(std::size_t from, const contact& to) {
    auto& x = *nodes_[from];
    x.ends[x.net->dial(to.where, to.id)] = to.id;
  }

  void carry_out(std::size_t from, dht_actions xs) {
    auto& me = *nodes_[from];
    for (auto& x : xs) {
      if (auto call = std::get_if<dht_call>(&x)) {
        if (const auto at = me.lines.find(call->to.id); at != me.lines.end()) {
          me.net->send(at->second, {encode(call->content), {}});
        } else {
          auto [queue, fresh] = me.waiting.try_emplace(call->to.id);
          queue->second.push_back(call->content);
          if (fresh)
            line(from, call->to);
        }
      } else if (auto end = std::get_if<lookup_over>(&x)) {
        tally_.add(0, 1, end->records.empty() ? 0 : 1);
      }
    }
  }

  void opened(std::size_t at, connection_id id, const peer_id& proven) {
    auto& me = *nodes_[at];
    me.ends[id] = proven;
    me.lines[proven] = id;
    carry_out(at,
              me.client.joined(nodes_[by_id_.at(proven)]->who, true, now()));
    auto all = me.waiting.extract(proven);
    if (!all.empty())
      for (auto& x : all.mapped())
        me.net->send(id, {encode(x), {}});
  }

  void read(std::size_t at, connection_id from, const peer_id&,
            const routing_ping& x) {
    reply(at, from, nodes_[at]->here.answer(x));
  }
  void read(std::size_t at, connection_id from, const peer_id&,
            const find_nodes& x) {
    reply(at, from, nodes_[at]->here.answer(x));
  }
  void read(std::size_t at, connection_id from, const peer_id&,
            const find_records& x) {
    reply(at, from, nodes_[at]->here.answer(x, now()));
  }
  void read(std::size_t at, connection_id from, const peer_id& who,
            const store_records& x) {
    reply(at, from, nodes_[at]->here.answer(who, x, now()));
  }
  void read(std::size_t at, connection_id, const peer_id& who,
            const records_stored& x) {
    tally_.add(x.accepted, 0, 0);
    carry_out(at, nodes_[at]->client.read(who, x, now()));
  }
  void read(std::size_t at, connection_id, const peer_id& who,
            const routing_pong& x) {
    carry_out(at, nodes_[at]->client.read(who, x, now()));
  }
  void read(std::size_t at, connection_id, const peer_id& who,
            const nodes_found& x) {
    carry_out(at, nodes_[at]->client.read(who, x, now()));
  }
  void read(std::size_t at, connection_id, const peer_id& who,
            const records_found& x) {
    carry_out(at, nodes_[at]->client.read(who, x, now()));
  }
  template <class Other>
  void read(std::size_t, connection_id, const peer_id&, const Other&) {
  }
  void reply(std::size_t from, connection_id to, const message& x) {
    nodes_[from]->net->send(to, {encode(x), {}});
  }

  std::vector<std::unique_ptr<member>> nodes_;
  std::map<peer_id, std::size_t> by_id_; ///< Not changed once they connect.
  std::thread keeper_;
  std::atomic<bool> over_{false};
  tally tally_;
};

} // namespace potluck::bench
