/// What a run has one of several kinds of, a model or an optimizer, and the
/// settings that each kind declares for itself.
///
/// Their values stand as text in `run_settings::own`. So a peer that does not
/// know a kind, since it computes nothing, keeps and compares them all the
/// same.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "runtime/state/charter.hpp"
#include "runtime/state/declared_setting.hpp"

namespace potluck {

struct setting_kind {
  std::string name;    ///< "lamb"
  std::string meaning; ///< One line of help, with its source.
  /// No two have one name, nor has any common setting, nor one of a kind of
  /// another family.
  std::vector<declared_setting> settings;
  /// Where it is not empty, a path with this ending stands for the kind on the
  /// command line, and says which file it is of: ".pt".
  std::string suffix = {};
};

/// Kinds of one thing.
struct kind_family {
  std::string chooser; ///< The common setting that names the kind: "optimizer".
  std::vector<std::string> sections; ///< Where its kinds' settings stand.
  std::vector<setting_kind> kinds;

  /// Null when there is none of this name.
  const setting_kind* find(const std::string& kind) const;
  /// The name of the kind that a word of the command line means: itself, but
  /// for a path to a file.
  std::string named_by(const std::string& word) const;
  /// That of these settings; null when it is unknown.
  const setting_kind* chosen(const run_settings& settings) const;
  /// "albert, mnist-ffn"
  std::string names() const;
};

using kind_families = std::vector<const kind_family*>;

/// What every peer knows: `runtime/optimizer`.
const kind_families& built_in_families();

/// The sections that kinds' own settings stand in: those of the built-in
/// families, and "model", "data" and "experts", which peers that compute know.
const std::set<std::string>& own_sections();

/// Sets a setting, every run's or one that the chosen kinds declare, from text.
/// Fails with a sentence on an unknown name, on one of another kind, and on a
/// value outside the limits.
expected<bool> assign(run_settings& settings, const std::string& name,
                      const std::string& value, const kind_families& families);

/// Sets all of these, those first that choose kinds.
expected<bool> assign(run_settings& settings, const std::vector<setting>& all,
                      const kind_families& families = built_in_families());

/// Gives settings of the chosen kinds that have no value their usual one.
void complete(run_settings& settings, const kind_families& families);

/// A sentence when a kind is unknown, or when its settings are not all there,
/// within their limits, and alone in their sections. Empty when all is well.
std::string problem_with(const run_settings& settings,
                         const kind_families& families);

/// A kind's settings, to be read by it. Outlived by both that it is made of.
class kind_settings {
public:
  kind_settings(const setting_kind& kind, const run_settings& settings)
      : kind_(kind), settings_(settings) {
  }

  // Of what has no value, the usual one. Each throws std::logic_error for a
  // name that the kind does not declare, or declares as something else.
  const std::string& text(const std::string& name) const;
  std::uint64_t whole(const std::string& name) const;
  /// The same, of what is declared to have at most 32 bits.
  std::uint32_t small(const std::string& name) const {
    return static_cast<std::uint32_t>(whole(name));
  }
  double real(const std::string& name) const;

private:
  template <class Limits>
  const std::string& value(const std::string& name) const;

  const setting_kind& kind_;
  const run_settings& settings_;
};

} // namespace potluck
