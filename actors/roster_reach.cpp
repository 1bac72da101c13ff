/// The roster's part in finding out who can be dialled: this peer, and those
/// that ask it.
#include "actors/roster.hpp"

#include "messages/limits.hpp"
#include "runtime/dialable.hpp"

namespace potluck {

reach_known roster_state::known_reach() const {
  return {reach_->reachable(),
          address_->is_mapped() ? address_->get().port : std::uint16_t{0}};
}

void roster_state::ask_for_reach() {
  const auto where = address_->get();
  if (!address_->is_listening() || !address_->is_seen())
    return;
  auto asks = reach_->ask(where, address_->is_mapped(), dialling_.decided(),
                          news_.mine().contributes, *guests_, now());
  if (!asks) {
    note_reach();
  } else {
    shared_bytes payment;
    if (asks->text.elsewhere) {
      static const auto zeros
          = std::make_shared<const std::vector<std::uint8_t>>(errand_bytes);
      payment = {zeros, zeros->data(), zeros->size()};
    }
    self_->send(seats_.at(asks->whom).session,
                parcel{asks->whom, asks->text, payment});
  }
  if (auto whom = reach_->ask_for_port(*guests_, now()))
    self_->send(wired_.gateway, ask_for_port{*whom});
}

void roster_state::note_reach() {
  const bool was = reach_->reachable();
  if (!reach_->changes())
    return;
  dialling_.look_soon();
  if (was != reach_->reachable())
    tell_reach();
  // That they are right in dialling us is nothing that others wait for.
  if (in_a_run() && !(was && reach_->reachable()))
    report_to(news_.all(*guests_, kept(), now()));
  say({"reach",
       {{"reachable", reach_->reachable()},
        {"kind", to_string(reach_->kind())},
        {"detail", reach_->sentence(address_->get())}}});
  if (!reach_->reachable())
    ask_for_mapping();
}

void roster_state::on(const reach_proven& x) {
  reach_->proven(x.nonce, x.host, x.new_host, now());
  note_reach();
}

void roster_state::on(const port_seen& x) {
  reach_->port_seen(x.as, x.by);
  note_reach();
}

void roster_state::read(const peer_id& from, const reach_request& x,
                        const shared_bytes& body) {
  auto guest = guests_->find(from);
  if (!guest || guest->relayed) // It would be dialled where it was not seen.
    return;
  auto whom = errands_->dials(guest->who, x.port, now());
  if (!whom)
    return;
  auto third = x.elsewhere ? errands_->send(
                   guest->who, x.nonce, address_->get().host, *guests_, now())
                           : std::nullopt;
  if (third)
    self_->send(seats_.at(*third).session,
                parcel{*third, reach_errand{x.nonce, *whom}, body});
  else
    self_->send(wired_.gateway, try_to_reach{*whom, x.nonce, from});
}

void roster_state::read(const peer_id& from, const reach_errand& x,
                        const shared_bytes&) {
  if (guests_->find(from) && errands_->goes(x, now()))
    self_->send(wired_.gateway, try_to_reach{x.who, x.nonce, from});
}

void roster_state::read(const peer_id& from, const reach_answer& x,
                        const shared_bytes&) {
  if (reach_->answered(from, x, now()))
    note_reach();
  else if (auto asker = errands_->answered(from, x.nonce))
    if (auto seat = seats_.find(*asker); seat != seats_.end())
      self_->send(seat->second.session, parcel{*asker, x, {}});
}

void roster_state::ask_for_mapping() {
  // Where others see this machine's own address, no router is between.
  if (!config_.mapper || address_->is_announced()
      || !is_public(address_->get().host))
    return;
  config_.mapper->start(
      address_->local_port(),
      [to = caf::actor_cast<roster_actor>(self_)](const port_mapping& x) {
        caf::anon_send(to, port_mapped{x.outside, x.problem});
      });
}

void roster_state::on(const port_mapped& x) {
  address_->maps(x.outside.port);
  if (reach_->reachable())
    tell(wired_.gateway, known_reach());
  say({"mapping",
       {{"port", std::uint64_t{x.outside.port}}, {"detail", x.problem}}});
}

} // namespace potluck
