#include "actors/experts/expert_caller.hpp"

#include "actors/behavior.hpp"
#include "runtime/experts/call_placement.hpp"
#include "runtime/experts/call_values.hpp"

namespace potluck {

void expert_caller_state::init(expert_caller_actor::pointer self,
                               expert_caller_config config) {
  self_ = self;
  address_ = self->address();
  config_ = std::move(config);
  // A successor's numbers are higher, whatever its predecessor has called.
  auto now = self_->clock().now().time_since_epoch();
  calls_ = open_calls{
      1 + static_cast<std::uint64_t>(now / std::chrono::nanoseconds{1})};
  config_.line->connect(caf::actor_cast<expert_caller_actor>(self));
  self_->send(self_, tick{});
}

expert_caller_state::~expert_caller_state() {
  if (config_.line)
    config_.line->disconnect(address_);
}

void expert_caller_state::on(const expert_caller_handles& w) {
  auto new_router = w.router && w.router != wired_.router;
  wired_ = w;
  if (!new_router)
    return;
  for (auto& [key, s] : searches_)
    look_up(key);
}

// ---- look-ups

void expert_caller_state::look_up(const record_key& key) {
  // Without a router yet, its handle begins all searches.
  if (wired_.router)
    self_->send(
        wired_.router,
        look_up_records{key, caf::actor_cast<expert_caller_actor>(self_)});
}

void expert_caller_state::on(const records_looked_up& x) {
  auto i = searches_.find(x.key);
  if (i == searches_.end())
    return;
  auto s = std::move(i->second);
  searches_.erase(i);
  auto f
      = findings_.keep(x.key, s.uid.empty(), x.records, self_->clock().now());
  auto silent = f.nobody() && x.answers == 0;
  for (auto& asked : s.asked) {
    if (silent)
      asked->answer.keep(
          failure{"Nobody answers questions about " + asked->prefix
                  + "; is this peer connected with others of its run?"});
    else
      asked->answer.keep(f.coordinates);
  }
  if (!s.uid.empty())
    for (auto number : calls_.looked_up(s.uid))
      dispatch(number, f.hosts);
}

void expert_caller_state::on(const ask_prefix& x) {
  auto key = expert_key(config_.run, x.errand->prefix);
  if (auto f = findings_.find(key, self_->clock().now())) {
    x.errand->answer.keep(f->coordinates);
    return;
  }
  auto [s, fresh] = searches_.try_emplace(key);
  s->second.asked.push_back(x.errand);
  if (fresh)
    look_up(key);
}

// ---- calls

void expert_caller_state::on(const place_call& x) {
  const auto& what = x.errand->what;
  if (auto problem = problem_with(what); !problem.empty()) {
    x.errand->answer.keep(failure{problem});
    return;
  }
  open_calls::call c;
  c.uid = what.uid;
  c.samples = what.samples;
  c.packing = what.packing;
  c.bytes = what.values->size() * sizeof(float);
  auto number = calls_.open(c);
  if (!number) {
    x.errand->answer.keep(
        failure{"Too many calls of experts are open already; wait for some."});
    return;
  }
  pending_[*number] = {x.errand, self_->clock().now() + what.patience};
  self_->delayed_send(self_, what.patience, deadline_passed{*number});
  resolve(*number);
}

void expert_caller_state::resolve(std::uint64_t number) {
  const auto& uid = calls_.find(number)->uid;
  auto key = expert_key(config_.run, uid);
  if (auto f = findings_.find(key, self_->clock().now())) {
    dispatch(number, std::vector<expert_announcement>{f->hosts});
    return;
  }
  auto [s, fresh] = searches_.try_emplace(key);
  s->second.uid = uid;
  if (fresh)
    look_up(key);
}

void expert_caller_state::dispatch(
    std::uint64_t number, const std::vector<expert_announcement>& hosts) {
  const auto& p = pending_.at(number);
  const auto& what = p.errand->what;
  auto now = self_->clock().now();
  auto [host, problem] = choose_host(what, hosts, failing_, now);
  if (host == nullptr) {
    findings_.doubt(expert_key(config_.run, what.uid), now);
    fail(number, problem);
    return;
  }
  auto forward = what.pass == expert_pass::forward;
  calls_.sent(number, host->host.id, forward ? host->outputs : host->inputs);
  auto r = request_of(what, number, *host, p.deadline - now);
  auto body = body_of(r.packing, what.values, what.values->data(), size_of(r));
  if (host->host.id != config_.self)
    self_->send(wired_.gateway, call{host->host, r, body});
  else if (wired_.expert_host)
    self_->send(wired_.expert_host, letter{config_.self, r, body});
  else
    fail(number, "Expert " + what.uid + " was hosted here, and is no more.");
}

void expert_caller_state::fail(std::uint64_t number,
                               const std::string& sentence) {
  auto i = pending_.find(number);
  if (i == pending_.end())
    return;
  i->second.errand->answer.keep(failure{sentence});
  pending_.erase(i);
  calls_.close(number);
}

void expert_caller_state::on(const letter& x) {
  auto a = std::get_if<expert_answer>(&x.content);
  if (a == nullptr)
    return;
  expert_reply reply;
  reply.version = a->version;
  auto who = "The host " + short_name(x.from);
  auto blame = [&](const std::string& what) {
    auto uid = calls_.find(a->number)->uid;
    failing_.failed(x.from, self_->clock().now());
    if (wired_.roster)
      self_->send(wired_.roster,
                  offence_seen{x.from, misconduct::witness::alone,
                               "call " + std::to_string(a->number),
                               "answered a call of an expert with " + what});
    fail(a->number, who + " answered the call of " + uid + " with " + what);
  };
  switch (calls_.judge(x.from, *a, x.body, reply.values)) {
    case open_calls::verdict::answered: {
      failing_.answered(x.from);
      auto i = pending_.find(a->number);
      i->second.errand->answer.keep(std::move(reply));
      pending_.erase(i);
      calls_.close(a->number);
      break;
    }
    case open_calls::verdict::refused: {
      auto uid = calls_.find(a->number)->uid;
      if (a->outcome == expert_outcome::not_here)
        findings_.forget(expert_key(config_.run, uid));
      fail(a->number, who + " refused the call of " + uid + ": " + a->sentence);
      break;
    }
    case open_calls::verdict::wrong_shape:
      blame("another number of values than it announced, or packed otherwise");
      break;
    case open_calls::verdict::wrong_values:
      blame("values that are not finite, or wrongly packed");
      break;
    case open_calls::verdict::stranger:
      break; // Too late, most likely.
  }
}

void expert_caller_state::on(const peer_left& x) {
  auto lost = calls_.waiting_for(x.id);
  if (!lost.empty())
    failing_.failed(x.id, self_->clock().now());
  for (auto number : lost) {
    auto uid = calls_.find(number)->uid;
    // It may come back elsewhere.
    findings_.forget(expert_key(config_.run, uid));
    fail(number, "The host " + short_name(x.id) + " of expert " + uid
                     + " is gone: " + x.reason);
  }
}

void expert_caller_state::on(const deadline_passed& x) {
  auto c = calls_.find(x.number);
  if (c == nullptr)
    return;
  auto host = c->host;
  auto uid = c->uid;
  if (!host.empty())
    failing_.failed(host, self_->clock().now());
  fail(x.number, host.empty() ? "Expert " + uid + " was not found in time."
                              : "The host " + short_name(host) + " of expert "
                                    + uid + " did not answer in time.");
}

void expert_caller_state::on(const tick&) {
  findings_.tidy(self_->clock().now());
  self_->delayed_send(self_, limits::expert_lookup_life, tick{});
}

expert_caller_actor::behavior_type
expert_caller(expert_caller_actor::stateful_pointer<expert_caller_state> self,
              expert_caller_config config) {
  return behave<expert_caller_actor, expert_caller_state>(self,
                                                          std::move(config));
}

} // namespace potluck
