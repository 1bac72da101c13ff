#include "actors/router.hpp"

#include "actors/behavior.hpp"
#include "runtime/dht/limits.hpp"

namespace potluck {

void router_state::init(router_actor::pointer self, router_config config) {
  self_ = self;
  wall_clock_ = std::move(config.wall_clock);
  quiet_ = config.newcomer;
  random_stream random{config.seed};
  const auto first_token = random.next();
  node_.emplace(config.self, random.next(), std::move(config.how));
  client_.emplace(config.self, *node_, first_token);
  tick_soon();
}

std::uint64_t router_state::wall_ms() const {
  if (wall_clock_)
    return wall_clock_();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(
          now().time_since_epoch())
          .count());
}

void router_state::set_clocks() {
  const auto own = wall_ms();
  node_->clocks(own, own + static_cast<std::uint64_t>(swarm_.ahead_ms()));
}

void router_state::note_forgeries(const peer_id& from) {
  const auto seen = node_->forgeries();
  if (seen == forgeries_ || !wired_.observer)
    return;
  forgeries_ = seen;
  self_->send(wired_.observer,
              fault_news(from, "forged record",
                         "it passed on what its owner has not signed; "
                         "its records are not read for ten minutes"));
}

void router_state::on(const peer_joined& x) {
  if (!x.routes) {
    if (!x.relayed)
      node_->came(x.who);
    return;
  }
  if (x.clock_ahead_ms)
    swarm_.says(x.who, *x.clock_ahead_ms, x.was_dialled);
  carry_out(client_->joined(x.who, !quiet_, now()));
}

void router_state::on(const peer_left& x) {
  node_->left(x.id);
  swarm_.left(x.id);
  if (x.orderly && !x.unneeded)
    on(routes_no_more{x.id});
  carry_out(client_->lost(x.id, now()));
}

void router_state::on(const routes_no_more& x) {
  node_->routes_no_more(x.id);
  client_->routes_no_more(x.id);
}

void router_state::on(const publish_record& x) {
  set_clocks();
  carry_out(client_->publish(x.record, x.copies, now()));
  tick_soon(); // What is kept here will expire.
}

void router_state::on(const look_up_records& x) {
  askers_[++next_lookup_] = x.asker;
  carry_out(client_->look_up(next_lookup_, {x.key, x.known, x.most, x.matters},
                             now()));
}

void router_state::on(const tick&) {
  ticking_ = false;
  const bool keeps = node_->expire(now());
  carry_out(client_->look(now()));
  if (!quiet_)
    carry_out(client_->refresh(now()));
  if (!quiet_ || keeps)
    tick_soon();
}

void router_state::tick_soon() {
  if (ticking_)
    return;
  ticking_ = true;
  self_->delayed_send(self_, limits::routing_interval, tick{});
}

// ---- what is to be done -----------------------------------------------------

void router_state::carry_out(dht_actions xs) {
  for (auto& x : xs)
    std::visit([this](auto& y) { carry_out(y); }, x);
  if (client_->waits())
    tick_soon();
}

void router_state::carry_out(dht_call& x) {
  self_->send(wired_.gateway, call{std::move(x.to), std::move(x.content), {}});
}

void router_state::carry_out(lookup_over& x) {
  auto asker = askers_.extract(x.number);
  if (!asker.empty() && asker.mapped())
    self_->send(asker.mapped(), records_looked_up{x.key, std::move(x.records),
                                                  x.answers, x.stored});
}

void router_state::carry_out(publication_over& x) {
  if (wired_.roster)
    self_->send(wired_.roster, record_published{x.key, x.copies});
}

router_actor::behavior_type
router(router_actor::stateful_pointer<router_state> self,
       router_config config) {
  return behave<router_actor, router_state>(self, config);
}

} // namespace potluck
