#include "actors/address_keeper.hpp"

#include "actors/behavior.hpp"
#include "runtime/membership/bootstrap_record.hpp"
#include "runtime/membership/limits.hpp"

namespace potluck {

void address_keeper_state::init(address_keeper_actor::pointer self,
                                address_keeper_config config) {
  self_ = self;
  config_ = std::move(config);
  if (!config_.keeping.where)
    config_.keeping.where = &local_disk();
  if (keeps())
    thread_ = std::make_unique<worker>(config_.mode, 0, worker_end::runs_them);
  write_at_ = now() + limits::first_address_writing;
  if (config_.role != role::bootstrap)
    network_at_ = now() + bootstrap_record::first_look;
  self_->send(self_, tick{});
}

address_keeper_state::~address_keeper_state() {
  if (!thread_)
    return;
  thread_.reset(); // Nobody else writes from here on.
  if (changed_ || !connected_.empty()) {
    const auto last = text();
    config_.keeping.where->replace(config_.keeping.path,
                                   {{last.data(), last.size()}});
  }
}

void address_keeper_state::on(const address_keeper_handles& w) {
  wired_ = w;
  connected_.clear(); // The roster tells it again.
}

void address_keeper_state::on(const gateway_ready& x) {
  changed_ |= kept().listens(x.bound.port);
}

void address_keeper_state::on(const reachable_at& x) {
  if (x.where == own_)
    return;
  own_ = x.where;
  if (config_.role == role::bootstrap)
    network_at_ = {};
}

void address_keeper_state::on(const answered_at& x) {
  if (x.who.id != config_.self)
    changed_ |= x.proven ? kept().met(x.who, seconds())
                         : kept().claimed(x.who, seconds());
}

void address_keeper_state::on(const peer_left& x) {
  if (connected_.erase(x.id) > 0)
    changed_ |= kept().seen(x.id, seconds());
}

void address_keeper_state::on(const records_looked_up& x) {
  more_seeds fresh;
  for (auto& record : x.records)
    if (auto who = bootstrap_record::read(record);
        who && who->id != config_.self && may_knock(own_.host, who->where.host)
        && kept().named(*who, seconds()))
      fresh.where.push_back(who->where);
  if (fresh.where.empty())
    return;
  changed_ = true;
  if (wired_.roster)
    self_->send(wired_.roster, std::move(fresh));
}

void address_keeper_state::on(const addresses_written& x) {
  if (x.problem.empty() || std::exchange(complained_, true))
    return;
  self_->send(wired_.observer, fault_news("addresses", x.problem));
}

void address_keeper_state::on(const tick&) {
  publish_or_look();
  if (keeps() && changed_ && now() >= write_at_) {
    changed_ = false;
    write_at_ = now() + limits::address_writing_pause;
    auto outbox = caf::actor_cast<address_keeper_actor>(self_);
    thread_->post([where = config_.keeping.where, path = config_.keeping.path,
                   what = text(), outbox] {
      auto done = where->replace(path, {{what.data(), what.size()}});
      if (!done)
        caf::anon_send(outbox, addresses_written{done.error()});
    });
  }
  self_->delayed_send(self_, limits::address_keeper_interval, tick{});
}

std::string address_keeper_state::text() {
  for (auto& id : connected_)
    kept().seen(id, seconds());
  return kept().text();
}

void address_keeper_state::publish_or_look() {
  if (!wired_.router || now() < network_at_)
    return;
  const contact self{config_.self, own_};
  if (config_.role != role::bootstrap) {
    network_at_ = now() + bootstrap_record::look_interval;
    self_->send(wired_.router,
                look_up_records{bootstrap_record::key(),
                                caf::actor_cast<address_keeper_actor>(self_),
                                {},
                                bootstrap_record::asked_for,
                                true});
  } else if (dialable(self)) {
    network_at_ = now() + bootstrap_record::publish_interval;
    self_->send(wired_.router, publish_record{bootstrap_record::of(self),
                                              limits::report_copies});
    if (config_.is_authority)
      self_->send(wired_.router,
                  publish_record{bootstrap_record::of(
                                     self, bootstrap_record::key_of_authority(
                                               config_.self)),
                                 limits::report_copies});
  }
}

address_keeper_actor::behavior_type address_keeper(
    address_keeper_actor::stateful_pointer<address_keeper_state> self,
    address_keeper_config config) {
  return behave<address_keeper_actor, address_keeper_state>(self,
                                                            std::move(config));
}

} // namespace potluck
