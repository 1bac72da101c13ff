#include "tools/potluck/doctor_visit.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include <netdb.h>

#include "messages/codec.hpp"
#include "messages/limits.hpp"
#include "runtime/membership/dialled_hosts.hpp"
#include "runtime/membership/own_address.hpp"
#include "runtime/membership/own_reach.hpp"
#include "runtime/state/run_manifest.hpp"
#include "tools/potluck/peer_options.hpp"
#include "tools/potluck/transport_news.hpp"

namespace potluck::tools {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// For a connection, its proof and its hello, from the dial on.
constexpr auto greeting_patience = 16s;
/// For others' dials: one that nobody answers takes five seconds, and a third
/// peer is asked only when the second could not.
constexpr auto reach_patience = 24s;
/// A router's answer to a search by UPnP takes two seconds, NAT-PMP's less.
constexpr auto mapping_patience = 8s;
constexpr auto upload_patience = 12s;
constexpr auto charter_patience = 3s;
constexpr std::size_t probe_bytes = 1 << 20;

/// The addresses that a name stands for, or why it stands for none.
void look_up(peer_facts& x) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (auto error = ::getaddrinfo(x.where.host.c_str(), nullptr, &hints, &found);
      error != 0) {
    x.unresolved = ::gai_strerror(error);
    return;
  }
  for (auto* i = found; i != nullptr; i = i->ai_next) {
    char text[NI_MAXHOST];
    if (::getnameinfo(i->ai_addr, i->ai_addrlen, text, sizeof(text), nullptr, 0,
                      NI_NUMERICHOST)
        == 0)
      x.addresses.emplace_back(text);
  }
  ::freeaddrinfo(found);
}

class visitor {
public:
  explicit visitor(visit_plan plan)
      : plan_(std::move(plan)), self_(plan_.how.key->id()),
        guests_(self_, role::expert), own_({}),
        reach_(role::expert, random_seed()) {
  }

  visit_report pay() {
    net_ = make_uv_transport(plan_.how);
    net_->start(box_);
    if (auto bound = net_->listen(plan_.listen)) {
      own_.listens(*bound);
      port_ = bound->port;
      greet();
      see_reach();
      measure_upload();
      ask_for_charter();
      for (auto& [id, c] : calls_)
        if (c.peer && c.peer->welcomed)
          say(id, goodbye{"has seen enough"});
      for (auto& [id, c] : calls_)
        net_->close(id);
    } else {
      result_.problem = bound.error();
    }
    net_->stop();
    return std::move(result_);
  }

private:
  struct call {
    peer_facts* peer = nullptr; ///< Null: they came, or only tell our port.
    bool asks_for_port = false;
    address remote;
    peer_id who;
    clock::time_point since{};
  };

  static time_point now() {
    return time_point{clock::now().time_since_epoch()};
  }

  void say(connection_id id, const message& x, shared_bytes body = {}) {
    net_->send(id, {encode(x), std::move(body)});
  }
  void ask_for_sign(connection_id id, std::uint64_t token) {
    calls_[id].since = clock::now();
    awaited_ = token;
    say(id, heartbeat{token});
  }

  /// Handles what happens until `done`, or the time is over.
  template <class Done>
  bool wait(clock::duration patience, Done done) {
    const auto end = clock::now() + patience;
    while (!done()) {
      if (clock::now() >= end)
        return false;
      if (auto x = box_->next(50ms))
        handle(*x);
    }
    return true;
  }

  void greet() {
    result_.peers.resize(plan_.peers.size());
    std::size_t i = 0;
    for (const auto& where : plan_.peers) {
      auto& peer = result_.peers[i++];
      peer.where = where;
      look_up(peer);
      if (!peer.unresolved.empty())
        continue;
      dialled_.note(where.host, now());
      calls_[net_->dial(where)] = {&peer, false, where, {}, clock::now()};
    }
    wait(greeting_patience, [&] {
      return std::all_of(result_.peers.begin(), result_.peers.end(),
                         [](auto& x) {
                           return x.welcomed || !x.unresolved.empty()
                                  || !x.closed.empty() || !x.refusal.empty();
                         });
    });
    for (auto& x : result_.peers)
      if (!x.connected && x.closed.empty())
        x.closed = "no answer in time";
  }

  bool anybody() const {
    return std::any_of(result_.peers.begin(), result_.peers.end(),
                       [](auto& x) { return x.welcomed; });
  }

  void see_reach() {
    auto& x = result_.reach;
    x.asked = anybody();
    if (x.asked) {
      x.two_hosts = hosts_.size() > 1;
      votes_are_in();
      x.reachable = reach_.reachable();
    }
    // Where others see this machine's own address, no router is between.
    if (plan_.mapper
        && (!x.asked || (!x.reachable && is_public(own_.get().host))))
      ask_the_router();
    x.reachable = reach_.reachable();
    x.kind = reach_.kind();
    x.where = own_.get();
  }

  /// Has others try until the verdict is clear.
  void votes_are_in() {
    auto quiet = clock::now() + 4s;
    wait(reach_patience, [&] {
      const auto q = reach_.ask(own_.get(), own_.is_mapped(), true, false,
                                guests_, now());
      if (q) {
        quiet = clock::now() + 12s;
        shared_bytes body;
        if (q->text.elsewhere) {
          auto zeros
              = std::make_shared<const std::vector<std::uint8_t>>(errand_bytes);
          body = {zeros, zeros->data(), zeros->size()};
        }
        for (auto& [id, c] : calls_)
          if (c.peer && c.who == q->whom)
            say(id, q->text, body);
      }
      if (reach_.changes() && !reach_.reachable())
        quiet = clock::now() + 4s;
      if (auto whom = reach_.ask_for_port(guests_, now())) {
        quiet = clock::now() + 4s;
        dialled_.note(whom->where.host, now());
        calls_[net_->punch(whom->where, true)]
            = {nullptr, true, whom->where, whom->id, clock::now()};
      }
      // What a router said of a port is nothing before somebody gets through.
      const bool clear = reach_.reachable() || !own_.is_mapped();
      return clock::now() > quiet || (clear && reach_.kind() != reach::unknown);
    });
  }

  void ask_the_router() {
    // The listener may be called when this is over.
    struct answer {
      std::mutex mutex;
      std::optional<port_mapping> said;
    };
    auto told = std::make_shared<answer>();
    plan_.mapper->start(port_, [told](const port_mapping& x) {
      std::lock_guard<std::mutex> lock{told->mutex};
      told->said = x;
    });
    wait(mapping_patience, [&] {
      std::lock_guard<std::mutex> lock{told->mutex};
      result_.reach.mapping = told->said;
      return told->said.has_value();
    });
    if (!result_.reach.mapping) {
      result_.reach.mapping.emplace();
      result_.reach.mapping->problem = "no router answers in time";
    }
    const auto port = result_.reach.mapping->outside.port;
    own_.maps(port);
    if (port != 0 && result_.reach.asked)
      votes_are_in();
  }

  void measure_upload() {
    for (auto& [id, c] : calls_) {
      if (!c.peer || !c.peer->welcomed)
        continue;
      auto zeros
          = std::make_shared<const std::vector<std::uint8_t>>(max_probe_bytes);
      const auto begin = clock::now();
      for (std::size_t sent = 0; sent < probe_bytes; sent += max_probe_bytes)
        say(id, line_probe{}, {zeros, zeros->data(), zeros->size()});
      // Its answer comes behind all of that.
      ask_for_sign(id, 2);
      if (!wait(upload_patience, [&] { return awaited_ == 0; }))
        return;
      const std::chrono::duration<double> took = clock::now() - begin;
      const auto there = took.count() - c.peer->round_trip;
      result_.upload = probe_bytes / std::max(there, 1e-3);
      return;
    }
  }

  void ask_for_charter() {
    if (plan_.run.empty())
      return;
    for (auto& [id, c] : calls_)
      if (c.peer && c.peer->welcomed)
        say(id, charter_request{1, plan_.run});
    if (anybody())
      wait(charter_patience, [&] { return !result_.charter.empty(); });
  }

  void handle(const transport_news::item& x) {
    if (x.happened == transport_news::what::accepted) {
      calls_[x.id] = {nullptr, false, x.remote, x.proven, clock::now()};
      return;
    }
    auto at = calls_.find(x.id);
    if (at == calls_.end())
      return;
    auto& c = at->second;
    if (x.happened == transport_news::what::closed) {
      if (c.peer) {
        c.peer->welcomed = false;
        c.peer->closed = x.reason;
        guests_.left(c.who);
      }
      calls_.erase(at);
    } else if (x.happened == transport_news::what::connected) {
      c.remote = x.remote;
      dialled_.note(x.remote.host, now());
      if (!c.peer) {
        if (!x.proven.empty() && x.proven != c.who)
          net_->close(x.id, 0);
        return;
      }
      c.who = x.proven;
      c.peer->connected = true;
      hello ours;
      ours.id = self_;
      ours.run = plan_.run;
      ours.seen_host = x.remote.host;
      ours.seen_port = x.remote.port;
      ours.clock_ms = wall_clock_ms();
      say(x.id, ours);
      ask_for_sign(x.id, 1);
    } else if (auto content = decode(x.frame.head.data(), x.frame.head.size(),
                                     x.frame.body.size)) {
      read(x.id, c, *content, x.frame.body);
    }
  }

  void read(connection_id id, call& c, const message& content,
            const shared_bytes& body) {
    if (auto proof = std::get_if<reach_proof>(&content)) {
      reach_.proven(proof->nonce, c.remote.host,
                    dialled_.proves_something(c.remote.host, now()), now());
      net_->close(id, 0);
    } else if (auto theirs = std::get_if<hello>(&content)) {
      if (c.asks_for_port) {
        reach_.port_seen({theirs->seen_host, theirs->seen_port}, c.remote.host);
        net_->close(id, 0);
      } else if (c.peer) {
        said_hello(c, *theirs);
      }
    } else if (!c.peer) {
      return;
    } else if (auto no = std::get_if<refusal>(&content)) {
      c.peer->refusal = no->sentence;
    } else if (auto beat = std::get_if<heartbeat>(&content)) {
      say(id, heartbeat_reply{beat->token});
    } else if (auto reply = std::get_if<heartbeat_reply>(&content)) {
      if (reply->token == 1 && c.peer->said && !c.peer->welcomed)
        is_welcome(c);
      if (reply->token == awaited_)
        awaited_ = 0;
    } else if (auto answer = std::get_if<reach_answer>(&content)) {
      reach_.answered(c.who, *answer, now());
    } else if (std::holds_alternative<charter_reply>(content)) {
      auto theirs = read_charter(
          plan_.run, {reinterpret_cast<const char*>(body.data), body.size});
      if (theirs) {
        result_.settings = theirs->table();
        result_.charter = to_string(theirs->digest());
      }
    }
  }

  void said_hello(call& c, const hello& theirs) {
    c.peer->said = theirs;
    const std::chrono::duration<double> half = (clock::now() - c.since) / 2;
    if (theirs.clock_ms != 0)
      c.peer->clock_behind = (static_cast<double>(theirs.clock_ms)
                              - static_cast<double>(wall_clock_ms()))
                                 / 1e3
                             + half.count();
    own_.seen_at(theirs.seen_host, c.remote.host, false);
    hosts_.insert(c.remote.host);
  }

  void is_welcome(call& c) {
    c.peer->welcomed = true;
    const std::chrono::duration<double> took = clock::now() - c.since;
    c.peer->round_trip = took.count();
    guests_.joined({c.who, {c.remote.host, c.peer->said->listen_port}},
                   role::bootstrap, now());
  }

  visit_plan plan_;
  peer_id self_;
  std::shared_ptr<transport_news> box_ = std::make_shared<transport_news>();
  std::unique_ptr<transport> net_;
  std::uint16_t port_ = 0;
  std::map<connection_id, call> calls_;
  std::set<std::string> hosts_; ///< Of those that were greeted.
  guest_book guests_;
  own_address own_;
  own_reach reach_;
  dialled_hosts dialled_;
  std::uint64_t awaited_ = 0; ///< A heartbeat's token; 0: it came back.
  visit_report result_;
};

} // namespace

visit_report visit(visit_plan plan) {
  return visitor{std::move(plan)}.pay();
}

} // namespace potluck::tools
