/// A run's manifest: what its organiser has laid down, in named sections that
/// know nothing of each other, signed with the organiser's key.
///
/// The run's id is the hash of the manifest's head, which has the hash of every
/// section. So whoever knows the id knows before anything is parsed whether
/// bytes are that run's, whoever gave them. README.md has the layout. Pure.
#pragma once

#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "messages/framing.hpp"
#include "runtime/identity/key_pair.hpp"
#include "runtime/manifest/run_key.hpp"

namespace potluck {

struct manifest_section {
  std::string name; ///< 1 to 32 small letters, digits and dashes.
  std::string bytes;
};

class manifest {
public:
  /// Bytes of a whole manifest: it travels as one body.
  static constexpr std::size_t most_bytes = max_body_bytes;
  static constexpr std::size_t most_sections = 32;
  static constexpr std::size_t longest_section_name = 32;

  /// Signs it. Fails with a sentence when the run's name or a section's is
  /// none, comes twice, or when it all is too large.
  static expected<manifest> sign(std::string name,
                                 std::vector<manifest_section> sections,
                                 const key_pair& organiser);

  /// The id of the run that has these, whether its organiser has signed it or
  /// not.
  static run_id id_of(std::string name, std::vector<manifest_section> sections,
                      const public_key& organiser);

  /// Reads what `to_bytes` wrote, and verifies it: the id first, then the
  /// signature, then every section. Of one manifest no other bytes are read.
  /// Fails with the end of a sentence that begins with where they are from.
  /// @param wanted The run that is meant; empty: any.
  static expected<manifest> read(const std::string& bytes,
                                 const run_id& wanted = {});
  std::string to_bytes() const;

  const std::string& name() const {
    return name_;
  }
  const run_id& id() const {
    return id_;
  }
  /// The word for the run: `run_key`.
  std::string run() const {
    return run_key(name_, id_);
  }
  const public_key& organiser() const {
    return organiser_;
  }
  const std::vector<manifest_section>& sections() const {
    return sections_;
  }

private:
  manifest() = default;
  std::string head() const;

  std::string name_;
  run_id id_;
  public_key organiser_;
  signature proof_;
  std::vector<manifest_section> sections_;
};

} // namespace potluck
