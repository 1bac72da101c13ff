#include "actors/peer_estate.hpp"

#include <chrono>
#include <utility>

#include "runtime/organiser/kept_amendments.hpp"
#include "runtime/state/run_manifest.hpp"

namespace potluck {

std::set<peer_id> trusted_by(const peer_config& config) {
  std::set<peer_id> result;
  for (const auto& pin : config.pins)
    if (pin.second != config.self)
      result.insert(pin.second);
  return result;
}

void lay_down(admission_gate& gate, const std::string& manifest,
              const run_settings& agreed) {
  if (auto signed_by = potluck::manifest::read(manifest, id_in(agreed.run)))
    gate.organisers_are(signers_of(*signed_by, agreed).keys);
  // The settings' check leaves no others.
  if (auto rules = admission_rules_of(agreed))
    gate.lay_down(*rules);
}

std::shared_ptr<admission_gate> open_gate(const peer_config& config,
                                          const std::string& manifest,
                                          caf::actor_clock& clock) {
  auto wall_clock = config.wall_clock;
  if (!wall_clock)
    wall_clock = [&clock] {
      const auto now = clock.now().time_since_epoch();
      return static_cast<std::uint64_t>(
          std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
    };
  auto gate = std::make_shared<admission_gate>(config.self, config.run,
                                               config.signs, wall_clock);
  gate->passes_for(config.passes_for);
  // A host of experts asks for no charter: the invitation says enough.
  if (config.role == role::expert && !config.papers.authority.id.empty())
    gate->lay_down(
        {admission_rules::mode::token, config.papers.authority, true});
  auto here = expected<charter>{config.known.value_or(charter{})};
  if (!config.known && !manifest.empty())
    here = read_charter(config.run, manifest);
  if (!here || here->digest().empty())
    return gate;
  lay_down(*gate, manifest, here->settings());
  return gate;
}

} // namespace potluck
