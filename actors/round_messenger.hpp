/// What a round says to others, as messages: to its members, to this peer's
/// other actors, and to whoever watches.
///
/// A part of the averager, which carries out the orders that only it can.
#pragma once

#include "actors/handles.hpp"
#include "runtime/averaging/round/round_orders.hpp"

namespace potluck {

class round_messenger {
public:
  void init(averager_actor::pointer self) {
    self_ = self;
  }
  void wire(const averager_handles& w) {
    wired_ = w;
  }
  /// Of which contract the members are from here on.
  void begin(const group_contract& contract) {
    contract_ = contract;
  }

  void post(const peer_id& to, message what, shared_bytes body = {});
  /// People should be able to see it.
  void fault(const std::string& what, const std::string& detail);
  void tell_over(const round_over& x);

  void carry_out(round_mail& x);
  void carry_out(const round_fault& x);
  void carry_out(const member_accused& x);
  void carry_out(const member_dropped& x);
  void carry_out(const members_in_doubt& x);
  void carry_out(const mean_checked& x);
  void carry_out(round_outcome& x);

private:
  const peer_id& id_of(std::size_t member) const {
    return contract_.members.at(member).who.id;
  }

  averager_actor::pointer self_ = nullptr;
  averager_handles wired_;
  group_contract contract_;
};

} // namespace potluck
