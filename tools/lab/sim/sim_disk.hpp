/// A simulated machine's disk: files in memory, a disk that is full, and what
/// is left of a file that was being written when the machine ended.
///
/// Replacing a file takes no virtual time. What was replaced less than `unsafe`
/// before the end counts as still under way, if the disk tears writes: then
/// chance leaves the old file (the rename was lost), the new one, or a new one
/// of which only the beginning has reached the disk, cut off or with zeros
/// behind it (the rename came before the bytes, as on disks that lie about
/// having written). Bits of what lies there may rot.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "runtime/clock.hpp"
#include "runtime/ports/disk.hpp"
#include "runtime/random.hpp"

namespace potluck {

/// Without effect when there is none.
inline void flip_a_bit(std::vector<std::uint8_t>& bytes,
                       random_stream& chance) {
  if (!bytes.empty())
    bytes[chance.below(bytes.size())]
        ^= static_cast<std::uint8_t>(1u << chance.below(8));
}

class sim_disk : public disk {
public:
  using bytes = std::vector<std::uint8_t>;
  static constexpr duration unsafe = std::chrono::seconds{5};

  /// @param now The virtual clock.
  sim_disk(std::uint64_t seed, std::function<duration()> now);

  expected<bool> replace(const std::string& path,
                         const std::vector<file_section>& sections) override;

  /// Null when there is none.
  const bytes* find(const std::string& path) const;

  /// The machine ends, with whatever it was writing.
  void cut();
  /// A bit flips in each file.
  void rot(random_stream& chance);

  bool full = false;         ///< Every write fails.
  bool tears_writes = false; ///< See above; else what was written is safe.

private:
  struct file {
    bytes content;
    std::optional<bytes> before; ///< None: there was no file.
    duration written{0};
    bool settled = false;
  };

  random_stream chance_;
  std::function<duration()> now_;
  std::map<std::string, file> files_;
};

} // namespace potluck
