/// A simulated run that admits not everybody: its manifest, its authority, and
/// what honest peers have to show. Whoever is not equipped here is a stranger.
#pragma once

#include <memory>
#include <string>

#include "actors/peer.hpp"
#include "runtime/manifest/manifest.hpp"
#include "runtime/state/charter.hpp"

namespace potluck::simulation {

class closed_run {
public:
  /// @param settings With admission token or list; gets the authority, and the
  ///     run's key in place of its name.
  /// @param signs The authority's.
  closed_run(run_settings& settings, const contact& authority,
             const shared_signatures& signs);

  /// Makes the peer one that is invited, or the authority itself.
  void equip(peer_config& c) const;

private:
  const contact authority_;
  std::unique_ptr<const manifest> manifest_;
  std::shared_ptr<authority_desk> desk_;
};

} // namespace potluck::simulation
