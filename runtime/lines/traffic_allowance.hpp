/// How many bytes a calendar month (UTC) may carry, kept in a file across
/// restarts: who rents a machine pays for what is beyond.
///
/// Pure but for the file: the time comes in, and what has passed so far.
#pragma once

#include <cstdint>
#include <string>

#include "messages/expected.hpp"
#include "runtime/ports/disk.hpp"

namespace potluck {

class traffic_allowance {
public:
  enum class standing {
    ample,
    nearly_used, ///< `nearly` of it is gone.
    used_up,
  };
  static constexpr double nearly = 0.9;
  /// Written when so much of the month's bytes has passed since the last time,
  /// and a minute at least: what a crash forgets.
  static constexpr double written_share = 0.001;
  static constexpr std::int64_t written_after = 60;

  /// Takes what was kept at `path`; a missing file says that nothing has
  /// passed. Fails with a sentence when the file is something else.
  /// @param bytes A month, of both directions together; above zero.
  static expected<traffic_allowance> open(double bytes, std::string path,
                                          disk& where);

  /// @param passed Bytes since this process has begun.
  /// @param now Seconds since 1970.
  standing observe(std::uint64_t passed, std::int64_t now);
  /// Writes what is not written yet. Fails with a sentence.
  expected<bool> save();

  double bytes() const {
    return bytes_;
  }
  std::uint64_t used() const {
    return used_;
  }

private:
  traffic_allowance(double bytes, std::string path, disk& where)
      : bytes_(bytes), path_(std::move(path)), disk_(&where) {
  }

  double bytes_;
  std::string path_;
  disk* disk_;
  std::string month_;         ///< "2026-11"; empty: none yet.
  std::uint64_t used_ = 0;    ///< In it.
  std::uint64_t passed_ = 0;  ///< As observed last.
  std::uint64_t written_ = 0; ///< Of what was used.
  std::int64_t written_at_ = 0;
};

/// The month of that second, in UTC: "2026-11".
std::string month_of(std::int64_t unix_seconds);

} // namespace potluck
