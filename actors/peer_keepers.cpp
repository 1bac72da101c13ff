/// The children of a peer that keep something for later, or for others.

#include "actors/address_keeper.hpp"
#include "actors/charter_shelf.hpp"
#include "actors/peer.hpp"

namespace potluck {

void peer_state::start_address_keeper() {
  if (!config_.keeping && config_.role != role::bootstrap)
    return;
  children_->add({"address_keeper",
                  child(wired_.address_keeper,
                        [this] {
                          address_keeper_config c;
                          c.self = config_.self;
                          c.role = config_.role;
                          c.keeping
                              = config_.keeping.value_or(address_keeping{});
                          c.mode = config_.workers;
                          return self_->spawn(address_keeper, c);
                        }),
                  // It is told anew who is here.
                  child_spec::policy::one_for_one});
}

void peer_state::start_charter_shelf() {
  children_->add({"charter_shelf",
                  child(wired_.charter_shelf,
                        [this] {
                          return self_->spawn(
                              charter_shelf,
                              charter_shelf_config{config_.manifests});
                        }),
                  // It asks anew.
                  child_spec::policy::one_for_one});
}

} // namespace potluck
