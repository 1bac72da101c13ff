#include "actors/reach_finder.hpp"

#include <utility>

#include "messages/limits.hpp"
#include "runtime/dialable.hpp"

namespace potluck {

void reach_finder::init(roster_actor::pointer self, config c,
                        listener changed) {
  self_ = self;
  mapper_ = std::move(c.mapper);
  changed_ = std::move(changed);
  address_.emplace(std::move(c.announce));
  reach_.emplace(c.role, c.seed);
  errands_.emplace(c.self, c.seed);
}

void reach_finder::wire(const roster_handles& w) {
  gateway_ = w.gateway;
  hole_maker_ = w.hole_maker;
  registrar_ = w.registrar;
  cell_ = w.cell;
  observer_ = w.observer;
  told_ = known();
  send(gateway_, told_);
  send(hole_maker_, told_);
  send(registrar_, told_);
  send(cell_, told_);
}

reach_known reach_finder::known() const {
  return {reach_->reachable(),
          address_->is_mapped() ? address_->get().port : std::uint16_t{0},
          reach_->kind(), reach_->perhaps_outside(), local_};
}

void reach_finder::tell() {
  auto news = known();
  if (news == told_)
    return;
  const bool turned = news.reachable != told_.reachable;
  told_ = std::move(news);
  send(gateway_, told_);
  send(hole_maker_, told_);
  if (!turned)
    return;
  send(registrar_, told_);
  send(cell_, told_);
}

void reach_finder::note() {
  const bool was = reach_->reachable();
  const bool changed = reach_->changes();
  tell();
  if (!changed)
    return;
  // That they are right in dialling us is nothing that others wait for.
  changed_(!(was && reach_->reachable()));
  self_->send(observer_,
              event{"reach",
                    {{"reachable", reach_->reachable()},
                     {"kind", to_string(reach_->kind())},
                     {"detail", reach_->sentence(address_->get())}}});
  if (!reach_->reachable())
    ask_for_mapping();
}

void reach_finder::seen_by(const peer_joined& x, bool lost) {
  if (!x.relayed)
    address_->seen_at(x.seen_host, x.who.where.host, lost);
}

void reach_finder::came(const contact& who) {
  reach_->came(who, address_->get().host, now());
  note();
}

// ---- whether this peer can be dialled ---------------------------------------

void reach_finder::look(bool decided, bool contributes,
                        const guest_book& guests) {
  if (!address_->is_listening() || !address_->is_seen())
    return;
  auto asks = reach_->ask(address_->get(), address_->is_mapped(), decided,
                          contributes, guests, now());
  if (!asks) {
    note();
  } else {
    shared_bytes payment;
    if (asks->text.elsewhere) {
      static const auto zeros
          = std::make_shared<const std::vector<std::uint8_t>>(errand_bytes);
      payment = {zeros, zeros->data(), zeros->size()};
    }
    send(gateway_, parcel{asks->whom, asks->text, payment});
  }
  if (auto whom = reach_->ask_for_port(guests, now()))
    send(gateway_, ask_for_port{*whom});
}

void reach_finder::on(const reach_proven& x) {
  reach_->proven(x.nonce, x.host, x.new_host, now());
  note();
}

void reach_finder::on(const port_seen& x) {
  reach_->port_seen(x.as, x.by);
  local_ = x.local;
  note();
}

void reach_finder::read(const peer_id& from, const reach_answer& x) {
  if (reach_->answered(from, x, now()))
    note();
  else if (auto asker = errands_->answered(from, x.nonce))
    send(gateway_, parcel{*asker, x, {}});
}

// ---- whether others can -----------------------------------------------------

void reach_finder::read(const peer_id& from, const reach_request& x,
                        const shared_bytes& body, const guest_book& guests) {
  auto guest = guests.find(from);
  // Where one is that comes through a hub, only others say.
  if (!guest || guest->relayed)
    return;
  auto whom = errands_->dials(guest->who, x.port, now());
  if (!whom)
    return;
  auto third = x.elsewhere ? errands_->send(guest->who, x.nonce,
                                            address_->get().host, guests, now())
                           : std::nullopt;
  if (third)
    send(gateway_, parcel{*third, reach_errand{x.nonce, *whom}, body});
  else
    send(gateway_, try_to_reach{*whom, x.nonce, from});
}

void reach_finder::read(const peer_id& from, const reach_errand& x,
                        const guest_book& guests) {
  if (guests.find(from) && errands_->goes(x, now()))
    send(gateway_, try_to_reach{x.who, x.nonce, from});
}

// ---- the router -------------------------------------------------------------

void reach_finder::ask_for_mapping() {
  // Where others see this machine's own address, no router is between.
  if (!mapper_ || address_->is_announced() || !is_public(address_->get().host))
    return;
  mapper_->start(address_->local_port(), [to = caf::actor_cast<roster_actor>(
                                              self_)](const port_mapping& x) {
    caf::anon_send(to, port_mapped{x.outside, x.problem});
  });
}

void reach_finder::on(const port_mapped& x) {
  address_->maps(x.outside.port);
  tell();
  self_->send(observer_, event{"mapping",
                               {{"port", std::uint64_t{x.outside.port}},
                                {"detail", x.problem}}});
}

} // namespace potluck
