/// Connections of strangers, by the home and the prefix that they come from,
/// and which of them gives way to the next one.
///
/// Where there are too many, the oldest goes, of the home that has most, of the
/// prefix that has most: whoever brings the crowd pays for it, and a home that
/// has few keeps them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "runtime/ports/transport.hpp"

namespace potluck {

class crowd {
public:
  struct bounds {
    std::size_t home, prefix, all; ///< Connections; none is zero.
  };

  explicit crowd(const bounds& most) : most_(most) {
  }

  /// From here on it is the newest. Does nothing where it is there already.
  void add(connection_id id, const std::string& host);
  /// Does nothing where there is none.
  void remove(connection_id id);

  bool has(connection_id id) const {
    return where_.count(id) != 0;
  }
  std::size_t size() const {
    return where_.size();
  }
  /// The connection that is one too many, if any is.
  std::optional<connection_id> too_many() const;
  /// The one that gives way to somebody else's. Precondition: not empty.
  connection_id gives_way() const;

private:
  using home = std::map<std::uint64_t, connection_id>; ///< By their coming.
  struct prefix {
    std::size_t size = 0;
    std::map<std::string, home> homes;
  };

  struct place {
    std::string host;
    std::uint64_t number = 0; ///< In the order of their coming.
  };

  static const home& fullest_of(const prefix& x);

  const bounds most_;
  std::map<std::string, prefix> prefixes_;
  std::map<connection_id, place> where_;
  connection_id newest_ = 0; ///< Of them all, if it is still there.
  std::uint64_t come_ = 0;   ///< So far.
};

} // namespace potluck
