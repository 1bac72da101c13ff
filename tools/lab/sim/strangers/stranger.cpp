#include "tools/lab/sim/strangers/stranger.hpp"

#include <algorithm>
#include <utility>

#include "messages/codec.hpp"
#include "runtime/dht/notary.hpp"
#include "runtime/dht/record_rules.hpp"
#include "tools/lab/sim/strangers/manner.hpp"

namespace potluck::simulation {

namespace {

/// With so many keys each has a line to everybody; with more, to one peer.
constexpr std::size_t few_identities = 8;
/// What of a run's model may be in a letter.
bool holds_parameters(const message& x, std::size_t body) {
  return body > 0
         && (std::holds_alternative<state_piece>(x)
             || std::holds_alternative<chunk_part>(x)
             || std::holds_alternative<chunk_mean>(x)
             || std::holds_alternative<contribution_part>(x));
}
/// Between two dials of one place, and as much again by chance.
constexpr duration between_dials = std::chrono::seconds{1};
constexpr auto report_life = std::chrono::milliseconds{15'000};
constexpr std::uint16_t silent_offset = 10'000;

} // namespace

/// Notes what a transport says, until the stranger's turn.
class stranger::ear : public transport_listener {
public:
  ear(stranger& whose, std::size_t self) : whose_{whose}, self_{self} {
  }
  void on_accepted(connection_id id, const address& remote,
                   const peer_id&) override {
    note({happening::what::taken, self_, id, remote, {}});
  }
  void on_connected(connection_id id, const address& remote,
                    const peer_id&) override {
    note({happening::what::made, self_, id, remote, {}});
  }
  void on_frame(connection_id id, incoming_frame frame) override {
    note({happening::what::frame, self_, id, {}, std::move(frame)});
  }
  void on_closed(connection_id id, const std::string&) override {
    note({happening::what::closed, self_, id, {}, {}});
  }

private:
  void note(happening x) {
    if (!whose_.stopped_)
      whose_.news_.push_back(std::move(x));
  }
  stranger& whose_;
  std::size_t self_;
};

stranger::stranger(stranger_config config)
    : config_{std::move(config)}, chance_{config_.seed}, manner_{make_manner(
                                                             config_.manner)} {
  for (std::size_t i = 0; i < config_.identities + 1; ++i)
    add_identity();
  plan_calls();
}

stranger::~stranger() {
  stop();
}

void stranger::add_identity() {
  const auto number = selves_.size();
  identity x;
  for (std::size_t i = 0; i < manner_->keys_drawn(); ++i) {
    auto key = config_.new_key(chance_);
    const auto id = key->owner_of(key->key());
    if (i == 0 || id < x.id) {
      x.key = std::move(key);
      x.id = id;
    }
  }
  x.listener = std::make_shared<ear>(*this, number);
  x.lines = config_.make_transport(x.id);
  x.lines->start(x.listener);
  const auto offset
      = number == config_.identities ? std::size_t{silent_offset} : number;
  auto port = static_cast<std::uint16_t>(config_.listen.port + offset);
  if (auto bound = x.lines->listen({config_.listen.host, port}))
    x.port = bound->port;
  selves_.push_back(std::move(x));
}

void stranger::plan_calls() {
  const auto all = config_.targets.size();
  const auto each = config_.identities <= few_identities
                        ? all
                        : std::min<std::size_t>(1, all);
  for (std::size_t self = 0; self < config_.identities; ++self)
    for (std::size_t i = 0; i < each; ++i) {
      due_.emplace(duration{0}, calls_.size());
      calls_.push_back({self, (self + i) % all});
    }
}

bool stranger::reads() const {
  return manner_->reads();
}

void stranger::stop() {
  if (std::exchange(stopped_, true))
    return;
  for (auto& x : selves_)
    x.lines->stop();
  lines_.clear();
  news_.clear();
}

// ---- its turns --------------------------------------------------------------

std::optional<duration> stranger::wake() const {
  if (stopped_)
    return std::nullopt;
  auto result = config_.until;
  if (!due_.empty())
    result = std::min(result, due_.begin()->first);
  if (next_try_)
    result = std::min(result, *next_try_);
  else
    result = duration{0}; // It has not run yet.
  return result;
}

void stranger::run(duration now) {
  now_ = now;
  if (stopped_)
    return;
  if (now >= config_.until) {
    stop();
    return;
  }
  for (auto& x : std::exchange(news_, {}))
    take(std::move(x));
  while (!due_.empty() && due_.begin()->first <= now) {
    const auto call = due_.begin()->second;
    due_.erase(due_.begin());
    dial(call);
  }
  const duration pause{std::max<duration::rep>(
      1, static_cast<duration::rep>(1e9 / config_.rate))};
  for (next_try_ = next_try_.value_or(now + pause); *next_try_ <= now;
       *next_try_ += pause)
    manner_->tries(*this);
}

void stranger::dial(std::size_t call) {
  const auto& x = calls_[call];
  const auto id = selves_[x.self].lines->dial(config_.targets[x.target]);
  dialling_[{x.self, id}] = call;
}

void stranger::begin(happening x) {
  line on;
  on.self = x.self;
  on.id = x.id;
  on.where = x.remote;
  if (auto dialled = dialling_.extract({x.self, x.id}); !dialled.empty())
    on.dialled = dialled.mapped();
  auto& kept = lines_[{x.self, x.id}] = std::move(on);
  if (is_mute(x.self) || !manner_->greets())
    return;
  greet(kept);
  if (!manner_->reads()) {
    kept.open = true;
    manner_->opened(*this, kept);
  }
}

void stranger::take(happening x) {
  const line_key key{x.self, x.id};
  if (x.kind == happening::what::taken || x.kind == happening::what::made) {
    begin(std::move(x));
    return;
  }
  const auto at = lines_.find(key);
  if (x.kind == happening::what::frame) {
    if (at != lines_.end() && !is_mute(x.self) && manner_->greets())
      read(at->second, x.frame);
    return;
  }
  auto call = not_dialled;
  if (auto dialled = dialling_.extract(key); !dialled.empty())
    call = dialled.mapped();
  if (at != lines_.end()) {
    call = at->second.dialled;
    lines_.erase(at);
  }
  if (call != not_dialled)
    due_.emplace(now_ + between_dials
                     + duration{static_cast<duration::rep>(
                         chance_.below(between_dials.count()))},
                 call);
}

// ---- what it hears ----------------------------------------------------------

void stranger::read(line& on, const incoming_frame& frame) {
  const auto content
      = decode(frame.head.data(), frame.head.size(), frame.body.size);
  if (!content)
    return;
  if (config_.got)
    config_.got(holds_parameters(*content, frame.body.size));
  if (auto beat = std::get_if<heartbeat>(&*content)) {
    say(on, heartbeat_reply{beat->token});
    return;
  }
  heard_.learn(on.peer, *content);
  if (auto theirs = std::get_if<hello>(&*content)) {
    on.peer = theirs->id;
    on.role = theirs->role;
    if (!std::exchange(on.open, true))
      manner_->opened(*this, on);
    return;
  }
  manner_->heard(*this, on, *content, frame);
}

void stranger::greet(const line& to) {
  hello x;
  x.id = id_of(to.self);
  x.role = manner_->role();
  x.run = config_.run;
  x.listen_port = selves_[to.self].port;
  x.seen_host = to.where.host;
  x.seen_port = to.where.port;
  x.charter = heard_.charter();
  x.settings = heard_.settings();
  x.is_hub = manner_->is_hub();
  x.clock_ms = config_.wall_clock();
  say(to, x);
}

// ---- for its manner ---------------------------------------------------------

record_key stranger::run_key() const {
  return potluck::key_of("run/" + config_.run);
}

const shared_signatures& stranger::key_of(std::size_t self) const {
  return selves_[self].key;
}

const peer_id& stranger::id_of(std::size_t self) const {
  return selves_[self].id;
}

address stranger::where(std::size_t self) const {
  return {config_.listen.host, selves_[self].port};
}

address stranger::silent() const {
  return where(selves_.size() - 1);
}

std::vector<stranger::line*> stranger::open_lines() {
  std::vector<line*> result;
  for (auto& [key, x] : lines_)
    if (x.open)
      result.push_back(&x);
  return result;
}

stranger::line* stranger::any_line() {
  const auto all = open_lines();
  return all.empty() ? nullptr : all[chance_.below(all.size())];
}

void stranger::say(const line& to, const message& what, shared_bytes body) {
  say(to, outgoing_frame{encode(what), std::move(body)});
}

void stranger::say(const line& to, outgoing_frame frame) {
  selves_[to.self].lines->send(to.id, std::move(frame));
}

void stranger::hang_up(line& x) {
  x.open = false;
  selves_[x.self].lines->close(x.id, 0);
}

progress_report stranger::report_of(const peer_id& who,
                                    const address& where) const {
  return heard_.imitation(who, where, manner_->role());
}

void stranger::seal(dht_record& x, const shared_signatures& by) const {
  notary its{by};
  const auto now = config_.wall_clock();
  its.clocks(now, now);
  its.seal(x);
}

dht_record stranger::record_of(const progress_report& x,
                               const shared_signatures& by) const {
  dht_record result{run_key(), subkey_of(x.id), encode_progress(x),
                    static_cast<std::uint32_t>(report_life.count()),
                    record_kind::progress};
  seal(result, by);
  return result;
}

} // namespace potluck::simulation
