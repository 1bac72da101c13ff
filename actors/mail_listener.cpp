#include "actors/mail_listener.hpp"

#include <utility>

#include "messages/codec.hpp"
#include "runtime/relay/relaying_transport.hpp"

namespace potluck {

mail_listener::mail_listener(gateway_actor gateway,
                             std::shared_ptr<round_intake> intake,
                             std::shared_ptr<guest_list> guests,
                             caf::actor_clock& clock,
                             std::shared_ptr<admission_gate> gate)
    : gateway_(std::move(gateway)), intake_(std::move(intake)),
      guests_(std::move(guests)), clock_(clock), gate_(std::move(gate)) {
}

void mail_listener::on_accepted(connection_id id, const address& remote,
                                const peer_id& proven) {
  caf::anon_send(gateway_, connection_accepted{id, remote, proven});
}

void mail_listener::on_connected(connection_id id, const address& remote,
                                 const peer_id& proven) {
  caf::anon_send(gateway_, connection_opened{id, remote, proven});
}

void mail_listener::on_frame(connection_id id, incoming_frame frame) {
  // No part of a gradient comes by way of a hub.
  if (intake_ && !relaying_transport::is_circuit(id)
      && intake_->worth_a_look(frame.body.size) && taken(id, frame))
    return;
  frame_arrived news{id, std::move(frame)};
  if (auto session = guests_->straight_to(id))
    caf::anon_send(session, std::move(news));
  else
    caf::anon_send(gateway_, std::move(news));
}

void mail_listener::on_traffic(duration interval,
                               const std::vector<connection_traffic>& traffic) {
  caf::anon_send(gateway_, traffic_seen{interval, traffic});
}

void mail_listener::on_closed(connection_id id, const std::string& reason) {
  caf::anon_send(gateway_, connection_closed{id, reason});
}

bool mail_listener::taken(connection_id id, const incoming_frame& frame) {
  auto from = guests_->at(id);
  if (from.empty() || (gate_ && !gate_->admits(from)))
    return false;
  auto content = decode(frame.head.data(), frame.head.size(), frame.body.size);
  return content && intake_->take(from, *content, frame.body, clock_.now());
}

} // namespace potluck
