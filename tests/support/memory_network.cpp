#include "tests/support/memory_network.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "messages/framing.hpp"
#include "tools/lab/network/aligned_copy.hpp"

namespace potluck {

namespace {

using hosts = std::pair<std::string, std::string>;

hosts between(const std::string& a, const std::string& b) {
  return a < b ? hosts{a, b} : hosts{b, a};
}

} // namespace

/// All machines, under one lock that is held during call-backs too: a listener
/// hands over and calls nothing back, or does so on the same thread.
class memory_network::core : public std::enable_shared_from_this<core> {
public:
  /// One transport.
  struct endpoint {
    std::string host;
    peer_id who; ///< Proven to whoever is connected.
    std::shared_ptr<transport_listener> listener;
    address bound; ///< Port 0: does not listen.
    connection_id next_id = 1;
    transport_traffic traffic;
    std::map<connection_id, planned_window> windows;
  };

  /// One side of a connection.
  struct side {
    std::shared_ptr<endpoint> owner;
    connection_id id = 0;
    bool closed = false;  ///< Its `on_closed` was called, or never will be.
    bool closing = false; ///< Closed by its owner: sends no more.
    duration last_due{0}; ///< Of what is on its way to this side.
  };

  struct connection {
    std::array<side, 2> sides; ///< The dialling one first.
    address to;
    address from;
    bool open = false; ///< Both sides know of each other.
    bool torn = false; ///< Something of it was lost.
  };
  using line = std::shared_ptr<connection>;

  mutable std::recursive_mutex mutex;
  duration now{0};
  std::uint64_t sequence = 0;
  std::map<std::pair<duration, std::uint64_t>, std::function<void()>> due;
  std::map<address, std::shared_ptr<endpoint>> listening;
  std::map<std::pair<endpoint*, connection_id>, std::pair<line, int>> lines;
  std::map<std::string, std::uint16_t> next_port;
  std::map<std::string, std::weak_ptr<endpoint>> endpoints; ///< The newest.
  std::map<hosts, duration> delays;
  std::map<hosts, double> rates;
  std::map<hosts, duration> free_at; ///< By direction: sender, receiver.
  std::set<hosts> cuts;
  std::set<hosts> silences;
  judge decide;

  hosts ends(const connection& c) const {
    return between(c.from.host, c.to.host);
  }
  bool silent(const connection& c) const {
    return silences.count(ends(c)) != 0;
  }

  void later(duration when, std::function<void()> what) {
    due.emplace(std::make_pair(when, sequence++), std::move(what));
  }
  /// When `bytes` sent now have left the sender.
  duration sent(const line& c, int to, std::size_t bytes) {
    auto rate = rates.find(ends(*c));
    if (rate == rates.end() || rate->second <= 0)
      return now;
    auto& x = to == 1 ? free_at[{c->from.host, c->to.host}]
                      : free_at[{c->to.host, c->from.host}];
    std::chrono::duration<double> takes{static_cast<double>(bytes)
                                        / rate->second};
    x = std::max(x, now) + std::chrono::duration_cast<duration>(takes);
    return x;
  }
  /// Behind everything that is already on its way to that side.
  void send_to(const line& c, int to, std::function<void()> what,
               std::size_t bytes = 0) {
    auto delay = delays.find(ends(*c));
    auto& last = c->sides[to].last_due;
    last = std::max(
        last, sent(c, to, bytes)
                  + (delay == delays.end() ? duration{0} : delay->second));
    later(last, [this, c, what = std::move(what)] {
      if (silent(*c))
        c->torn = true;
      else
        what();
    });
  }

  void close_side(const line& c, int which, const std::string& reason) {
    auto& s = c->sides[which];
    if (s.closed || !s.owner)
      return;
    s.closed = true;
    c->open = false;
    lines.erase({s.owner.get(), s.id});
    if (s.owner->listener)
      s.owner->listener->on_closed(s.id, reason);
  }
  void break_line(const line& c, const std::string& reason) {
    for (int i = 0; i < 2; ++i)
      close_side(c, i, reason);
  }

  std::vector<line> lines_between(const hosts& x) const {
    std::vector<line> result;
    for (auto& [key, value] : lines)
      if (ends(*value.first) == x
          && std::find(result.begin(), result.end(), value.first)
                 == result.end())
        result.push_back(value.first);
    return result;
  }

  connection_id dial(const std::shared_ptr<endpoint>& from,
                     const address& where) {
    auto c = std::make_shared<connection>();
    auto port = ++next_port.try_emplace(from->host, 40000).first->second;
    c->from = {from->host, port};
    c->to = where;
    c->sides[0].owner = from;
    c->sides[0].id = from->next_id++;
    lines[{from.get(), c->sides[0].id}] = {c, 0};
    send_to(c, 1, [this, c] { arrive(c); });
    return c->sides[0].id;
  }

  void arrive(const line& c) {
    auto found = listening.find(c->to);
    if (found == listening.end() || cuts.count(ends(*c))) {
      send_to(c, 0, [this, c] { close_side(c, 0, "connection refused"); });
      return;
    }
    if (c->sides[0].closing)
      return;
    auto& s = c->sides[1];
    s.owner = found->second;
    s.id = s.owner->next_id++;
    lines[{s.owner.get(), s.id}] = {c, 1};
    c->open = true;
    s.owner->listener->on_accepted(s.id, c->from, c->sides[0].owner->who);
    send_to(c, 0, [c] {
      auto& dialler = c->sides[0];
      if (!dialler.closed)
        dialler.owner->listener->on_connected(dialler.id, c->to,
                                              c->sides[1].owner->who);
    });
  }

  void send(endpoint& from, connection_id id, outgoing_frame frame) {
    auto found = lines.find({&from, id});
    if (found == lines.end() || frame.head.empty()
        || frame.head.size() > max_head_bytes
        || frame.body.size > max_body_bytes)
      return;
    auto [c, side] = found->second;
    if (c->sides[side].closing || c->torn)
      return;
    const auto& sender = side == 0 ? c->from.host : c->to.host;
    const auto& receiver = side == 0 ? c->to.host : c->from.host;
    from.traffic.bytes_sent += frame.head.size() + frame.body.size;
    switch (decide ? decide(sender, receiver, frame) : fate::arrives) {
      case fate::arrives:
        break;
      case fate::lost:
        c->torn = true;
        return;
      case fate::cuts:
        later(now, [this, c = c] { break_line(c, "the line broke"); });
        return;
    }
    auto bytes = frame.head.size() + frame.body.size;
    auto arrive = [c = c, to = 1 - side, frame = std::move(frame)] {
      auto& s = c->sides[to];
      if (s.closed || s.closing || !s.owner)
        return;
      s.owner->traffic.bytes_received += frame.head.size() + frame.body.size;
      s.owner->listener->on_frame(s.id, {frame.head, aligned_copy(frame.body)});
    };
    send_to(c, 1 - side, std::move(arrive), bytes);
  }

  void close(endpoint& from, connection_id id) {
    auto found = lines.find({&from, id});
    if (found == lines.end())
      return;
    auto [c, side] = found->second;
    if (c->sides[side].closing)
      return;
    c->sides[side].closing = true;
    send_to(c, 1 - side, [this, c = c, to = 1 - side] {
      close_side(c, to, "the other side closed");
    });
    later(now, [this, c = c, side = side] {
      close_side(c, side, "closed by this side");
    });
  }

  void stop(endpoint& x) {
    if (!x.listener)
      return;
    std::vector<std::pair<line, int>> mine;
    for (auto& [key, value] : lines)
      if (key.first == &x)
        mine.push_back(value);
    for (auto& [c, side] : mine) {
      send_to(c, 1 - side, [this, c = c, to = 1 - side] {
        close_side(c, to, "the other side closed");
      });
      close_side(c, side, "stopped");
    }
    if (x.bound.port != 0)
      listening.erase({x.host, x.bound.port});
    x.listener.reset();
  }
};

namespace {

class memory_transport : public transport {
public:
  memory_transport(std::shared_ptr<memory_network::core> net,
                   const std::string& host, const peer_id& who)
      : net_(std::move(net)),
        self_(std::make_shared<memory_network::core::endpoint>()) {
    self_->host = host;
    self_->who = who;
  }
  ~memory_transport() override {
    stop();
  }

  void start(std::shared_ptr<transport_listener> listener) override {
    guard lock{net_->mutex};
    self_->listener = std::move(listener);
    net_->endpoints[self_->host] = self_;
  }

  expected<address> listen(const address& where) override {
    guard lock{net_->mutex};
    auto port = where.port;
    if (port == 0)
      for (port = 1000; net_->listening.count({self_->host, port});)
        ++port;
    if (!net_->listening.emplace(address{self_->host, port}, self_).second)
      return failure{"Cannot listen on " + to_string(where)
                     + ": the address is in use; choose another port."};
    self_->bound = {where.host, port};
    return self_->bound;
  }

  connection_id dial(const address& where, const peer_id&) override {
    guard lock{net_->mutex};
    return net_->dial(self_, where);
  }
  void send(connection_id id, outgoing_frame frame) override {
    guard lock{net_->mutex};
    net_->send(*self_, id, std::move(frame));
  }
  void close(connection_id id, std::uint32_t) override {
    guard lock{net_->mutex};
    net_->close(*self_, id);
  }
  void plan_window(connection_id id, const planned_window& x) override {
    guard lock{net_->mutex};
    if (x.queue > 0)
      self_->windows[id] = x;
    else
      self_->windows.erase(id);
  }
  transport_traffic traffic() const override {
    guard lock{net_->mutex};
    return self_->traffic;
  }
  void stop() override {
    guard lock{net_->mutex};
    net_->stop(*self_);
  }

private:
  using guard = std::lock_guard<std::recursive_mutex>;
  std::shared_ptr<memory_network::core> net_;
  std::shared_ptr<memory_network::core::endpoint> self_;
};

using guard = std::lock_guard<std::recursive_mutex>;

} // namespace

memory_network::memory_network() : core_(std::make_shared<core>()) {
}

std::unique_ptr<transport>
memory_network::make_transport(const std::string& host, const peer_id& who) {
  return std::make_unique<memory_transport>(core_, host, who);
}

std::size_t memory_network::deliver(duration now) {
  std::size_t count = 0;
  for (;; ++count) {
    guard lock{core_->mutex};
    core_->now = std::max(core_->now, now);
    auto first = core_->due.begin();
    if (first == core_->due.end() || first->first.first > now)
      return count;
    auto what = std::move(first->second);
    core_->due.erase(first);
    what();
  }
}

std::uint64_t memory_network::wall_ms() const {
  guard lock{core_->mutex};
  return static_cast<std::uint64_t>(core_->now / std::chrono::milliseconds{1});
}

void memory_network::delay(const std::string& a, const std::string& b,
                           duration one_way) {
  guard lock{core_->mutex};
  core_->delays[between(a, b)] = one_way;
}

void memory_network::bandwidth(const std::string& a, const std::string& b,
                               double bytes_per_second) {
  guard lock{core_->mutex};
  core_->rates[between(a, b)] = bytes_per_second;
}

void memory_network::cut(const std::string& a, const std::string& b) {
  guard lock{core_->mutex};
  core_->cuts.insert(between(a, b));
  for (auto& c : core_->lines_between(between(a, b)))
    core_->break_line(c, "the line was cut");
}

void memory_network::silence(const std::string& a, const std::string& b) {
  guard lock{core_->mutex};
  core_->silences.insert(between(a, b));
}

void memory_network::heal(const std::string& a, const std::string& b) {
  guard lock{core_->mutex};
  core_->cuts.erase(between(a, b));
  core_->silences.erase(between(a, b));
  for (auto& c : core_->lines_between(between(a, b)))
    if (c->torn)
      core_->break_line(c, "the line lost something");
}

bool memory_network::break_oldest(const std::string& a, const std::string& b) {
  guard lock{core_->mutex};
  core::line oldest;
  connection_id smallest = 0;
  for (auto& c : core_->lines_between(between(a, b))) {
    auto id = c->sides[c->from.host == a ? 0 : 1].id;
    if (c->open && (!oldest || id < smallest)) {
      oldest = c;
      smallest = id;
    }
  }
  if (oldest)
    core_->break_line(oldest, "the line broke");
  return oldest != nullptr;
}

void memory_network::judge_frames(judge decide) {
  guard lock{core_->mutex};
  core_->decide = std::move(decide);
}

std::size_t memory_network::open_connections() const {
  guard lock{core_->mutex};
  std::size_t ends = 0;
  for (auto& [key, value] : core_->lines)
    ends += value.first->open;
  return ends / 2;
}

std::vector<planned_window>
memory_network::planned_windows(const std::string& host) const {
  guard lock{core_->mutex};
  std::vector<planned_window> result;
  auto found = core_->endpoints.find(host);
  if (found != core_->endpoints.end())
    if (auto end = found->second.lock())
      for (const auto& [id, x] : end->windows)
        result.push_back(x);
  return result;
}

memory_postman::memory_postman(memory_network& network)
    : network_(network), thread_([this] {
        auto began = std::chrono::steady_clock::now();
        while (!stopping_) {
          if (network_.deliver(std::chrono::steady_clock::now() - began) == 0)
            std::this_thread::sleep_for(std::chrono::microseconds{200});
        }
      }) {
}

memory_postman::~memory_postman() {
  stopping_ = true;
  thread_.join();
}

} // namespace potluck
