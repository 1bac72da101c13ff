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
#include "tools/potluck/visit.hpp"

namespace potluck::tools {

namespace {

using namespace std::chrono_literals;

/// For a connection, its proof and its hello, from the dial on.
constexpr auto doctor_greeting_patience = 16s;
/// For others' dials: one that nobody answers takes ten seconds at most, and a
/// third peer is asked only when the second could not.
constexpr auto reach_patience = 40s;
/// For one of them, and the letters before and after it.
constexpr auto dial_patience = 14s;
/// A router's answer to a search by UPnP takes two seconds, NAT-PMP's less.
constexpr auto mapping_patience = 8s;
constexpr auto upload_patience = 12s;
constexpr auto charter_patience = 3s;
constexpr std::size_t probe_bytes = 1 << 20;
/// Of the heartbeat behind them.
constexpr std::uint64_t probes_end = 2;

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

visit::plan plan_of(const visit_plan& x) {
  visit::plan result;
  result.how = x.how;
  result.as.run = x.run;
  return result;
}

class visitor : public visit {
public:
  explicit visitor(visit_plan plan)
      : visit(plan_of(plan)), plan_(std::move(plan)),
        guests_(self(), role::expert), own_({}),
        reach_(role::expert, random_seed()) {
  }

  visit_report pay() {
    if (auto bound = listen(plan_.listen)) {
      own_.listens(*bound);
      port_ = bound->port;
      greet();
      see_reach();
      measure_upload();
      ask_for_charter();
    } else {
      result_.problem = bound.error();
    }
    return std::move(result_);
  }

private:
  /// A connection that others have dialled, or that only tells our port.
  struct call {
    bool asks_for_port = false;
    address remote;
    peer_id who;
  };

  static time_point now() {
    return time_point{clock::now().time_since_epoch()};
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
      facts_[dial({{}, where}).id] = &peer;
    }
    wait(doctor_greeting_patience, [&] { return !anything_pending(); });
    for (auto& [id, l] : lines()) {
      auto& x = *facts_.at(id);
      x.connected = l.connected;
      x.said = l.said;
      x.refusal = l.refusal;
      if (!x.connected && x.closed.empty())
        x.closed = "no answer in time";
    }
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
      find_out();
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

  /// Once more where nobody has got through: two may have sent the same peer,
  /// which goes once a minute.
  void find_out() {
    votes_are_in();
    const auto kind = reach_.kind();
    if ((reach_.reachable() && kind == reach::unknown)
        || (own_.is_mapped() && kind != reach::mapped)) {
      reach_ = own_reach{role::expert, random_seed()};
      votes_are_in();
    }
  }

  /// Has others try until the verdict is clear.
  void votes_are_in() {
    auto quiet = clock::now() + 4s;
    const auto waits
        = [&](auto longer) { quiet = std::max(quiet, clock::now() + longer); };
    wait(reach_patience, [&] {
      const auto q = reach_.ask(own_.get(), own_.is_mapped(), true, false,
                                guests_, now());
      if (q) {
        waits(dial_patience);
        shared_bytes body;
        if (q->text.elsewhere) {
          auto zeros
              = std::make_shared<const std::vector<std::uint8_t>>(errand_bytes);
          body = {zeros, zeros->data(), zeros->size()};
        }
        for (auto* l : guests())
          if (l->who.id == q->whom)
            say(*l, q->text, body);
      }
      if (reach_.changes() && !reach_.reachable())
        waits(4s);
      if (auto whom = reach_.ask_for_port(guests_, now())) {
        waits(4s);
        dialled_.note(whom->where.host, now());
        calls_[net().punch(whom->where, true)] = {true, whom->where, whom->id};
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
      find_out();
  }

  void measure_upload() {
    for (auto* l : guests()) {
      auto zeros
          = std::make_shared<const std::vector<std::uint8_t>>(max_probe_bytes);
      const auto begin = clock::now();
      for (std::size_t sent = 0; sent < probe_bytes; sent += max_probe_bytes)
        say(*l, line_probe{}, {zeros, zeros->data(), zeros->size()});
      // Its answer comes behind all of that.
      say(*l, heartbeat{probes_end});
      if (!wait(upload_patience, [&] { return probed_; }))
        return;
      const std::chrono::duration<double> took
          = clock::now() - begin - l->round_trip;
      const auto there = took.count();
      result_.upload = probe_bytes / std::max(there, 1e-3);
      return;
    }
  }

  void ask_for_charter() {
    if (plan_.run.empty())
      return;
    for (auto* l : guests())
      say(*l, charter_request{1, plan_.run});
    if (anybody())
      wait(charter_patience, [&] { return !result_.charter.empty(); });
  }

  // ---- what happens

  void welcomed(line& l) override {
    auto& x = *facts_.at(l.id);
    x.welcomed = true;
    x.round_trip = std::chrono::duration<double>{l.round_trip}.count();
    guests_.joined({l.who.id, {l.who.where.host, l.said->listen_port}},
                   role::bootstrap, now());
  }

  void ended(line& l) override {
    auto& x = *facts_.at(l.id);
    x.welcomed = false;
    x.closed = l.closed;
    guests_.left(l.who.id);
  }

  void heard(line& l, const message& content,
             const shared_bytes& body) override {
    if (auto theirs = std::get_if<hello>(&content)) {
      said_hello(l, *theirs);
    } else if (auto reply = std::get_if<heartbeat_reply>(&content)) {
      probed_ = probed_ || reply->token == probes_end;
    } else if (auto answer = std::get_if<reach_answer>(&content)) {
      reach_.answered(l.who.id, *answer, now());
    } else if (std::holds_alternative<charter_reply>(content)) {
      auto theirs = read_charter(
          plan_.run, {reinterpret_cast<const char*>(body.data), body.size});
      if (theirs) {
        result_.settings = theirs->table();
        result_.charter = to_string(theirs->digest());
      }
    }
  }

  void said_hello(line& l, const hello& theirs) {
    dialled_.note(l.who.where.host, now());
    const std::chrono::duration<double> half = (clock::now() - l.since) / 2;
    if (theirs.clock_ms != 0)
      facts_.at(l.id)->clock_behind = (static_cast<double>(theirs.clock_ms)
                                       - static_cast<double>(wall_clock_ms()))
                                          / 1e3
                                      + half.count();
    own_.seen_at(theirs.seen_host, l.who.where.host, false);
    hosts_.insert(l.who.where.host);
  }

  void other(const transport_news::item& x) override {
    using what = transport_news::what;
    if (x.happened == what::accepted) {
      calls_[x.id] = {false, x.remote, x.proven};
      return;
    }
    auto at = calls_.find(x.id);
    if (at == calls_.end())
      return;
    auto& c = at->second;
    if (x.happened == what::closed) {
      calls_.erase(at);
    } else if (x.happened == what::connected) {
      c.remote = x.remote;
      dialled_.note(x.remote.host, now());
      if (!x.proven.empty() && x.proven != c.who)
        net().close(x.id, 0);
    } else if (auto content = decode(x.frame.head.data(), x.frame.head.size(),
                                     x.frame.body.size)) {
      if (auto proof = std::get_if<reach_proof>(&*content)) {
        reach_.proven(proof->nonce, c.remote.host,
                      dialled_.proves_something(c.remote.host, now()), now());
        net().close(x.id, 0);
      } else if (auto theirs = std::get_if<hello>(&*content);
                 theirs && c.asks_for_port) {
        reach_.port_seen({theirs->seen_host, theirs->seen_port}, c.remote.host);
        net().close(x.id, 0);
      }
    }
  }

  visit_plan plan_;
  std::uint16_t port_ = 0;
  std::map<connection_id, peer_facts*> facts_; ///< Of the visit's lines.
  std::map<connection_id, call> calls_;
  std::set<std::string> hosts_; ///< Of those that were greeted.
  guest_book guests_;
  own_address own_;
  own_reach reach_;
  dialled_hosts dialled_;
  bool probed_ = false; ///< The other end has got all probes.
  visit_report result_;
};

} // namespace

visit_report see(visit_plan plan) {
  return visitor{std::move(plan)}.pay();
}

} // namespace potluck::tools
