/// The children of a peer that keep something for later or for others, or make
/// lines better: it could go on without each.
#include "actors/address_keeper.hpp"
#include "actors/amendment_keeper.hpp"
#include "actors/charter_shelf.hpp"
#include "actors/hole_maker.hpp"
#include "actors/peer.hpp"
#include "actors/state_keeper.hpp"
#include "runtime/random.hpp"

namespace potluck {

namespace {

/// Of the peer's seed; the other purposes are in peer.cpp.
constexpr std::uint64_t holes = 6;

} // namespace

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

void peer_state::start_amendment_keeper() {
  children_->add({"amendment_keeper",
                  child(wired_.amendment_keeper,
                        [this] {
                          amendment_keeper_config c;
                          c.self = config_.self;
                          c.folder = config_.amendments_folder;
                          if (config_.role != role::bootstrap)
                            c.run = config_.run;
                          // For a successor; the first one is told.
                          if (!charter_.digest().empty())
                            c.manifest = *manifest_;
                          return self_->spawn(amendment_keeper, c);
                        }),
                  // It reads what it kept, and asks anew.
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

void peer_state::start_hole_maker() {
  children_->add(
      {"hole_maker",
       child(wired_.hole_maker,
             [this] {
               return self_->spawn(
                   hole_maker,
                   hole_maker_config{config_.self, mix(config_.seed, holes)});
             }),
       // It is told anew who is here.
       child_spec::policy::one_for_one});
}

void peer_state::start_state_keeper() {
  children_->add({"state_keeper", child(wired_.state_keeper, [this] {
                    state_keeper_config c;
                    c.guards = config_.guards;
                    c.self = config_.self;
                    c.agreed = charter_;
                    c.checkpoint_path = config_.checkpoint_path;
                    if (config_.checkpoint_disk)
                      c.where = config_.checkpoint_disk;
                    c.mode = config_.workers;
                    c.upload_bytes_per_second = config_.upload_bytes_per_second;
                    c.trains = config_.role == role::trainer;
                    c.pieces = config_.pieces;
                    c.kept_folder = config_.kept_states_folder;
                    return self_->spawn(state_keeper, c);
                  })});
}

} // namespace potluck
