/// The chunk reducers of the round that runs: starts them where they are
/// needed, lets the intake add to their sums, and ends them.
///
/// A part of the averager.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "actors/interfaces.hpp"
#include "actors/supervisor.hpp"
#include "runtime/averaging/round/averaging_round.hpp"

namespace potluck {

class reducer_crew {
public:
  /// @param started Told of every reducer.
  void init(averager_actor::pointer self, supervisor::witness started,
            std::shared_ptr<round_intake> intake);

  /// The reducer of a chunk that is still to be averaged here.
  /// @param patience Between two parts.
  const chunk_reducer_actor& of(std::uint32_t chunk,
                                const averaging_round& round,
                                const value_pool& rooms, duration patience);
  /// It has made its mean.
  void done(std::uint32_t chunk) {
    all_.erase(chunk);
  }
  /// An actor has ended. @returns Of which chunk it was the reducer.
  std::optional<std::uint32_t> lost(const caf::actor_addr& who);
  void end_all();

private:
  averager_actor::pointer self_ = nullptr;
  supervisor::witness started_;
  std::shared_ptr<round_intake> intake_;
  std::map<std::uint32_t, chunk_reducer_actor> all_;
};

} // namespace potluck
