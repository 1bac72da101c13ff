/// A run's settings: how its model is shaped and trained, how its peers
/// average, whom it admits. What can make a run, and what two peers have
/// differently.
///
/// Knows nothing of the files beside them, nor of bytes: `charter` does.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "messages/handshake.hpp"
#include "messages/ids.hpp"
#include "runtime/admission/admission_rules.hpp"
#include "runtime/averaging/robust_mean.hpp"

namespace potluck {

/// Values of settings, by section and name.
using own_settings = std::map<std::string, std::map<std::string, std::string>>;

/// What shapes the model and its training. Every field has one line in
/// `charter_fields()`, from which printing, parsing and comparison follow; what
/// only some kinds of model, source or optimizer have stands in `own`.
struct run_settings {
  std::string run = "potluck";
  std::string model = "albert";
  /// The digest, in hex, of the state before the first step, where that is its
  /// founder's; else it follows from layout and seed (`initial_state`).
  std::string initial = "seed";

  std::uint64_t target_batch = 256; ///< Samples behind one step (paper: B).
  /// Samples collected beyond the target batch, so that a step can lose some.
  std::uint64_t reserve = 0;
  /// Trainers that average together at most; the others contribute through
  /// them (runtime/ways/cells).
  std::uint32_t group_size = 64;
  /// Whether all average as one, or in groups that are drawn anew for every
  /// step (runtime/ways/moshpit).
  std::string averaging_method = "exact";
  std::uint64_t steps = 1000;     ///< The run ends after this many.
  std::string optimizer = "lamb"; ///< runtime/optimizer/optimizer_kinds.hpp
  std::uint64_t warmup_steps = 100;
  double learning_rate = 0.00176; ///< Peak, after warm-up.
  double clip_norm = 1.0;         ///< Of the mean gradient; 0 for none.

  std::string aggregator = "mean"; ///< How parts become one: robust_mean.hpp.
  double trim = averaging_rule{}.trim;
  double clip_radius = averaging_rule{}.clip_radius;
  double part_norm = averaging_rule{}.part_norm;

  std::string packing = "float32"; ///< How values are sent: runtime/packing.

  std::string shares = "planned"; ///< Who averages how much: share_rule.

  /// Whether trainers wait for a step's mean before they compute on.
  std::string updates = "synchronous";

  std::uint64_t seed = 1;              ///< Of initialization and data order.
  std::uint32_t chunk_values = 131072; ///< Of an averaged chunk (512 KiB).

  /// Whom the run admits, and by whose word: runtime/admission.
  std::string admission = "open";
  std::string authority = "none";
  std::string vouchers = "yes";
  // Of a run that an organiser created (runtime/organiser).
  std::string successor
      = "none"; ///< Key that may sign amendments, too, in hex.
  /// Members keep the state of every so many steps, and
  std::uint64_t keep_every = 100;
  std::uint32_t keep_states = 3; ///< the newest so many of those.

  /// Settings that the kinds of these declare, in the form that
  /// `declared_setting::read` gives them. What has no value here has the usual
  /// one, until a charter is made of it (setting_kinds.hpp).
  own_settings own;

  /// Who packs what is planned for each round
  /// (runtime/planning/thin_lines.hpp).
  bool packs_thin_lines() const {
    return packing == "auto";
  }

  /// Gradients of the next step are computed while this one is averaged
  /// (actors/README.md, "Delayed updates").
  bool delayed_updates() const {
    return updates == "delayed";
  }

  /// Every step is averaged in groups of their own, parameters included
  /// (runtime/ways/moshpit).
  bool redraws_groups() const {
    return averaging_method == "moshpit";
  }

  /// The state before the first step; empty: any peer can make it.
  digest initial_digest() const;

  /// How chunks are averaged. An unknown aggregator, which `problem_with`
  /// refuses, reads as the mean.
  averaging_rule averaging() const;
};

/// Sets the setting called `name` (as in `charter::table`, for instance
/// "target-batch") from text. Fails with a sentence on an unknown name or a
/// value outside the setting's limits. Knows the optimizers' settings; what
/// knows the models', too, is in setting_kinds.hpp.
expected<bool> assign(run_settings& settings, const std::string& name,
                      const std::string& value);

/// The settings as `{name, text}`: those of every run in declaration order, but
/// for those that a charter leaves out at their defaults
/// (`charter_field::unwritten`); then the kinds' own.
std::vector<setting> to_table(const run_settings& settings);

/// Whom they admit. Fails with a sentence where that is contradictory.
expected<admission_rules> admission_rules_of(const run_settings& settings);

/// A sentence when the settings cannot make a run (steps is zero, ...), or when
/// the kinds' own are no texts that may stand there; empty when they can.
/// Whether the model's are right its kind says.
std::string problem_with(const run_settings& settings);

/// What differs, for a person: "target-batch is 256 here and 512 there". Empty
/// when nothing does.
std::string differences(const std::vector<setting>& here,
                        const std::vector<setting>& there);

} // namespace potluck
