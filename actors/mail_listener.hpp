/// The transport's call-backs, which come on its own thread, as mail.
#pragma once

#include <memory>

#include "actors/guest_list.hpp"
#include "actors/interfaces.hpp"
#include "runtime/admission/admission_gate.hpp"
#include "runtime/averaging/round/round_intake.hpp"
#include "runtime/ports/transport.hpp"

namespace potluck {

/// Sends everything to the gateway, but frames that a round's intake takes, and
/// those that may go straight to their session.
class mail_listener : public transport_listener {
public:
  /// @param intake May be null.
  /// @param clock The actor system's; outlives this.
  /// @param gate May be null: all are let in.
  mail_listener(gateway_actor gateway, std::shared_ptr<round_intake> intake,
                std::shared_ptr<guest_list> guests, caf::actor_clock& clock,
                std::shared_ptr<admission_gate> gate = nullptr);

  void on_accepted(connection_id id, const address& remote,
                   const peer_id& proven) override;
  void on_connected(connection_id id, const address& remote,
                    const peer_id& proven) override;
  void on_frame(connection_id id, incoming_frame frame) override;
  void on_traffic(duration interval,
                  const std::vector<connection_traffic>& traffic) override;
  void on_closed(connection_id id, const std::string& reason) override;

private:
  /// It was a round's, and is where it belongs.
  bool taken(connection_id id, const incoming_frame& frame);

  gateway_actor gateway_;
  std::shared_ptr<round_intake> intake_;
  std::shared_ptr<guest_list> guests_;
  caf::actor_clock& clock_;
  std::shared_ptr<admission_gate> gate_;
};

} // namespace potluck
