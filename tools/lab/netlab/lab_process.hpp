/// One command of a lab as a process.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "tools/lab/netlab/host_network.hpp"

namespace potluck::netlab {

class lab_process {
public:
  /// @param words What to run, nothing left to fill in.
  lab_process(const network_command& what, std::vector<std::string> words,
              host_network::host where);

  /// Starts it on its host; `output` gets what it prints. Fails with a
  /// sentence.
  expected<bool> start(const host_network& network, const std::string& output);

  /// To it and what it started.
  void signal(int number);

  /// The process has ended with this status, as `waitpid` says it.
  void ended(int status, time_point now);

  /// "ended well", "exited with status 3", "was ended by signal 9".
  std::string fate() const;

  /// Ended with status 0, or because we asked it to.
  bool well() const;

  bool started() const {
    return begin_.has_value();
  }
  bool running() const {
    return id_ > 0;
  }
  pid_t id() const {
    return id_;
  }
  double seconds() const;
  const network_command& what() const {
    return what_;
  }
  host_network::host where() const {
    return where_;
  }

  bool asked = false; ///< To end, by us.

private:
  network_command what_;
  std::vector<std::string> words_;
  host_network::host where_;
  pid_t id_ = -1;
  std::optional<int> status_;
  std::optional<time_point> begin_, end_;
};

} // namespace potluck::netlab
