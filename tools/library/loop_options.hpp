/// What a caller of the C interface sets by name: options of the peer, and
/// settings of the run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "messages/contact.hpp"
#include "runtime/artifacts/own_artifacts.hpp"
#include "runtime/state/charter.hpp"
#include "runtime/state/setting_kinds.hpp"

namespace potluck::library {

class loop_options {
public:
  loop_options();

  /// Checks the value. Throws `complaint`. A setting that only some optimizers
  /// have may come before the optimizer: `settings` holds them against it.
  void set(const std::string& name, const std::string& value);
  /// What was set, or holds by default; lists with a space between two. Throws
  /// `complaint` for a name that is none.
  std::string get(const std::string& name) const;

  /// The run's settings in a consistent whole. Throws `complaint`.
  /// @param initial See `run_settings`.
  run_settings settings(const std::string& initial) const;
  /// The settings that a run must have, as a charter prints them.
  std::vector<setting> demanded() const;

  bool given(const std::string& name) const {
    return given_.count(name) != 0;
  }
  const std::string& text(const std::string& name) const {
    return options_.at(name);
  }
  bool flag(const std::string& name) const {
    return text(name) == "yes";
  }
  /// Whether the loop calls experts on other machines.
  bool calls_experts() const {
    return given("experts");
  }
  std::uint64_t integer(const std::string& name) const;
  double rate(const std::string& name) const;
  const own_artifacts& artifacts() const {
    return artifacts_;
  }
  const std::vector<contact>& peers() const {
    return peers_;
  }
  const std::vector<address>& listened() const {
    return listen_;
  }

private:
  /// Throws `complaint`, also where the chosen optimizer has no such setting.
  run_settings whole() const;

  std::map<std::string, std::string> options_; ///< By name, of the peer.
  run_settings settings_;
  /// Settings that only some optimizers, or only runs with experts have.
  std::vector<setting> own_;
  std::map<std::string, std::string> given_;
  own_artifacts artifacts_;
  std::vector<contact> peers_;
  std::vector<address> listen_;
};

} // namespace potluck::library
