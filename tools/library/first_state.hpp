/// What training begins with at a loop: its tensors, and their values as they
/// were declared, loaded from a checkpoint, or set.
///
/// Everything happens before the run is opened. What cannot be is a
/// `complaint`, and changes nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/peer.hpp"
#include "runtime/state/charter.hpp"

namespace potluck::library {

class first_state {
public:
  /// @param values Null: zeros.
  void declare(const std::string& name, std::vector<std::int64_t> shape,
               bool decays, const float* values);
  void load(const std::string& path);
  /// @param of The run's settings, where no checkpoint was loaded.
  /// @param first Of every tensor, or null; null for one that is left out.
  void set_moments(const run_settings& of, std::uint64_t step,
                   const float* const* first, const float* const* second);

  const model_layout& layout() const {
    return layout_;
  }
  /// Of the checkpoint that was loaded.
  const std::optional<charter>& resumed() const {
    return resumed_;
  }
  const std::string& resumed_from() const {
    return resumed_from_;
  }
  /// With moments and digest. @param of As in `set_moments`.
  const training_state& whole(const run_settings& of);

  /// Gives it to a peer of `config.run`, whose manifest and demands are there
  /// already. Nothing but layout and checkpoint's name is left here.
  /// @param folder Of the peer's identity; empty: it has none.
  void give(peer_config& config, const std::string& folder,
            const run_settings& of);

private:
  model_layout layout_;
  std::shared_ptr<training_state> own_; ///< Null once it was given.
  std::optional<charter> resumed_;
  std::string resumed_from_;                 ///< The file,
  std::vector<signed_step> resumed_history_; ///< and what it has of that.
};

} // namespace potluck::library
