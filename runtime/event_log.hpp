/// What happened, one JSON object a line, for programs and for later.
///
/// Knows neither a clock nor what events mean: runtime/README.md has the
/// table of events and fields.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "messages/expected.hpp"
#include "messages/ids.hpp"
#include "runtime/state/file_descriptor.hpp"

namespace potluck {

struct event {
  /// Integers must have one of the two types: a cast says which.
  using value
      = std::variant<std::int64_t, std::uint64_t, double, bool, std::string>;

  std::string name;
  /// Written in this order. A name must not repeat, nor be "event" or "time".
  std::vector<std::pair<std::string, value>> fields;
};

/// Something is wrong, with a peer or without.
event fault_news(const std::string& what, const std::string& detail);
event fault_news(const peer_id& who, const std::string& what,
                 const std::string& detail);

/// `x` as one line of JSON without its end: "event" and "time" (in seconds)
/// first. Numbers that are not finite become null, and bytes that are not
/// UTF-8 the replacement character.
std::string to_json(const event& x, double time);

/// Appends to a file; each line is one write, so a reader never sees half of
/// one and nothing is lost when the process ends.
class event_log {
public:
  /// Makes the file when it is missing. Fails with a sentence.
  static expected<event_log> open(const std::string& path);

  /// Fails with a sentence, for instance when the disk is full; the log can be
  /// used further.
  /// @param time Seconds, since whenever the caller counts.
  expected<bool> write(const event& x, double time);

private:
  event_log(std::string path, file_descriptor file)
      : path_(std::move(path)), file_(std::move(file)) {
  }

  std::string path_;
  file_descriptor file_;
  bool torn_ = false; ///< The last write stopped inside a line.
};

} // namespace potluck
