/// How many bytes wait for strangers that do not read, and whose connection
/// gives way when they are too many. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "runtime/ports/transport.hpp"
#include "runtime/strangers/limits.hpp"

namespace potluck {

class unread_answers {
public:
  explicit unread_answers(std::size_t most = limits::unread_answers_of_all)
      : most_(most) {
  }

  /// So many wait now for this connection.
  void wait(connection_id id, const std::string& host, std::size_t bytes);
  /// It has ended, or is no stranger's.
  void forget(connection_id id);

  /// The connection to end, while too many wait: the one for which most does,
  /// of the home for which most does.
  std::optional<connection_id> gives_way() const;

private:
  struct one {
    std::string home;
    std::size_t bytes = 0;
  };

  const std::size_t most_;
  std::size_t all_ = 0;
  std::map<std::string, std::size_t> homes_;
  std::map<connection_id, one> ones_;
};

} // namespace potluck
