/// Under which address this peer is to be found, whether others can connect to
/// it there, and what its router has to do with it. Dials others that ask the
/// same, too.
///
/// A part of the roster: `own_address`, `own_reach` and `errands` decide, this
/// asks, answers and tells (runtime/membership).
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "actors/handles.hpp"
#include "runtime/membership/errands.hpp"
#include "runtime/membership/own_address.hpp"
#include "runtime/membership/own_reach.hpp"
#include "runtime/ports/port_mapper.hpp"

namespace potluck {

class reach_finder {
public:
  struct config {
    peer_id self;
    potluck::role role = potluck::role::trainer;
    address announce; ///< See `roster_config`, as the others.
    std::uint64_t seed = 0;
    std::shared_ptr<port_mapper> mapper = {};
  };
  /// Called when what others are to know has changed.
  /// @param matters Whether they wait for it.
  using listener = std::function<void(bool matters)>;

  void init(roster_actor::pointer self, config c, listener changed);
  /// Tells everybody anew.
  void wire(const roster_handles& w);

  bool reachable() const {
    return reach_->reachable();
  }
  bool sure() const {
    return reach_->sure();
  }
  reach kind() const {
    return reach_->kind();
  }
  address where() const {
    return address_->get();
  }
  /// Where a peer that speaks the other version of IP dials it.
  address also() const {
    return reachable() ? address_->also() : address{};
  }
  bool is_listening() const {
    return address_->is_listening();
  }

  void listens(const address& bound, const std::vector<address>& local) {
    address_->listens(bound, local);
  }
  /// A peer has come, or comes in another way.
  /// @param lost Nobody was connected.
  void seen_by(const peer_joined& x, bool lost);
  /// It has dialled us.
  void came(const contact& who);
  /// Asks somebody whether we can be dialled, if it is time.
  void look(bool decided, bool contributes, const guest_book& guests);

  void on(const reach_proven& x);
  void on(const port_seen& x);
  void on(const port_mapped& x);

  void read(const peer_id& from, const reach_request& x,
            const shared_bytes& body, const guest_book& guests);
  void read(const peer_id& from, const reach_errand& x,
            const guest_book& guests);
  void read(const peer_id& from, const reach_answer& x);

private:
  time_point now() const {
    return self_->clock().now();
  }
  reach_known known() const;
  void note();
  void tell();
  /// Has the router open a port once there is need of it, or open it anew: it
  /// may have forgotten.
  void ask_for_mapping();
  template <class Actor, class News>
  void send(const Actor& whom, const News& news) {
    if (whom)
      self_->send(whom, news);
  }

  roster_actor::pointer self_ = nullptr;
  std::shared_ptr<port_mapper> mapper_;
  listener changed_;
  gateway_actor gateway_;
  hole_maker_actor hole_maker_;
  registrar_actor registrar_;
  cell_actor cell_;
  observer_actor observer_;
  std::optional<own_address> address_;
  std::optional<own_reach> reach_;
  std::optional<errands> errands_;
  std::vector<address> local_; ///< Of the port, within this peer's house.
  reach_known told_;
};

} // namespace potluck
