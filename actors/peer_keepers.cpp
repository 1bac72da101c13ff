/// The children of a peer that keep something for later or for others, or make
/// lines better: it could go on without each.
#include "actors/address_keeper.hpp"
#include "actors/amendment_keeper.hpp"
#include "actors/artifact_keeper.hpp"
#include "actors/charter_shelf.hpp"
#include "actors/hole_maker.hpp"
#include "actors/peer.hpp"
#include "actors/state_keeper.hpp"
#include "runtime/history/resumed_history.hpp"
#include "runtime/organiser/kept_amendments.hpp"
#include "runtime/random.hpp"
#include "runtime/state/run_manifest.hpp"

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
                          c.is_authority = config_.authority.has_value();
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
                          if (config_.authority)
                            c.by_list = config_.authority->by_list;
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

std::set<peer_id> peer_state::trusted() const {
  std::set<peer_id> result;
  for (const auto& pin : config_.pins)
    if (pin.second != config_.self)
      result.insert(pin.second);
  return result;
}

void peer_state::start_history_keeper() {
  signed_history resumed;
  if (config_.signs && vault_->state)
    resumed = resumed_history(
        std::exchange(config_.history, {}), charter_.digest(),
        {vault_->state->step, vault_->state->recent}, *config_.signs);
  children_->add({"history_keeper",
                  child(wired_.history_keeper,
                        [this, resumed] {
                          history_keeper_config c;
                          c.is_bootstrap = config_.role == role::bootstrap;
                          if (!c.is_bootstrap)
                            c.own.run = config_.run;
                          c.own.charter = charter_.digest();
                          c.own.trusted = trusted();
                          c.own.keeps = config_.role != role::trainer;
                          c.own.is_newcomer = !config_.state;
                          c.own.how = config_.signs;
                          c.own.resumed = resumed;
                          c.kept = histories_;
                          c.checkpoints = config_.checkpoints;
                          return self_->spawn(history_keeper, c);
                        }),
                  // It has what it kept, and is told anew who is here.
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

void peer_state::open_gate() {
  auto wall_clock = config_.wall_clock;
  if (!wall_clock)
    wall_clock = [&clock = self_->home_system().clock()] {
      const auto now = clock.now().time_since_epoch();
      return static_cast<std::uint64_t>(
          std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
    };
  gate_ = std::make_shared<admission_gate>(config_.self, config_.run,
                                           config_.signs, wall_clock);
  gate_->passes_for(config_.passes_for);
  // A host of experts asks for no charter: the invitation says enough.
  if (config_.role == role::expert && !config_.papers.authority.id.empty())
    gate_->lay_down(
        {admission_rules::mode::token, config_.papers.authority, true});
  auto here = expected<charter>{config_.known.value_or(charter{})};
  if (!config_.known && !manifest_->empty())
    here = read_charter(config_.run, *manifest_);
  if (!here || here->digest().empty())
    return;
  lay_down(here->settings());
}

void peer_state::lay_down(const run_settings& agreed) {
  if (auto signed_by = manifest::read(*manifest_, id_in(agreed.run)))
    gate_->organisers_are(signers_of(*signed_by, agreed).keys);
  // The settings' check leaves no others.
  if (auto rules = admission_rules_of(agreed))
    gate_->lay_down(*rules);
}

void peer_state::start_admission_keeper() {
  if (gate_->run().empty())
    return; // A trial.
  children_->add({"admission_keeper",
                  child(wired_.admission_keeper,
                        [this] {
                          admission_keeper_config c;
                          c.self = config_.self;
                          c.run = config_.run;
                          c.papers = config_.papers;
                          c.gate = gate_;
                          c.signs = config_.signs;
                          c.known = amended_;
                          c.mode = config_.workers;
                          return self_->spawn(admission_keeper, c);
                        }),
                  // It is told anew who is here.
                  child_spec::policy::one_for_one});
}

void peer_state::start_authority() {
  if (!config_.authority)
    return;
  children_->add({"authority",
                  child(wired_.authority,
                        [this] {
                          auto c = *config_.authority;
                          c.mode = config_.workers;
                          return self_->spawn(authority, c);
                        }),
                  // Those who have asked ask again.
                  child_spec::policy::one_for_one});
}

void peer_state::start_artifact_keeper() {
  children_->add({"artifact_keeper",
                  child(wired_.artifact_keeper,
                        [this] {
                          artifact_keeper_config c;
                          c.self = config_.self;
                          c.agreed = charter_;
                          c.trains = config_.role == role::trainer;
                          c.is_hub = config_.pieces != nullptr;
                          c.folder = artifact_folder{config_.artifacts_folder};
                          c.most = config_.max_artifacts;
                          c.own = config_.own_artifacts;
                          c.upload_bytes_per_second
                              = config_.upload_bytes_per_second;
                          c.shows_status = config_.shows_status;
                          c.mode = config_.workers;
                          c.bend = config_.bend_artifact;
                          return self_->spawn(artifact_keeper, c);
                        }),
                  // It looks at its files again, and is told who is here.
                  child_spec::policy::one_for_one});
}

void peer_state::start_state_keeper() {
  children_->add({"state_keeper", child(wired_.state_keeper, [this] {
                    state_keeper_config c;
                    c.guards = config_.guards;
                    c.self = config_.self;
                    c.agreed = charter_;
                    c.checkpoints = config_.checkpoints;
                    c.mode = config_.workers;
                    c.upload_bytes_per_second = config_.upload_bytes_per_second;
                    c.trains = config_.role == role::trainer;
                    c.pieces = config_.pieces;
                    c.kept_folder = config_.kept_states_folder;
                    return self_->spawn(state_keeper, c);
                  })});
}

} // namespace potluck
