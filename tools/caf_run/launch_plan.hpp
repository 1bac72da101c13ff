/// Who starts when, when everybody has to end, and with what result.
///
/// 1. Slaves start in the order of the file; a line with `wait` holds back
///    the ones behind it until it has reported.
/// 2. When all slaves have reported, the master starts.
/// 3. When the master and all slaves without `serve` have ended well, the ones
///    that serve are ended too, and all is well.
/// 4. A slave that ends before it has reported, a process that ends badly, an
///    interruption, or a report that does not come in time: the rest is ended,
///    and the launch has failed. One that serves may end well before the
///    others do: it knows best when its work is done.
///
/// Pure: knows no process, no clock and no actor.

#pragma once

#include "tools/caf_run/hosts.hpp"

#include <optional>
#include <string>
#include <vector>

namespace potluck::caf_run {

class launch_plan {
public:
  /// @param hosts As `read_hosts` returns them; line 0 is the master.
  explicit launch_plan(std::vector<host_line> hosts);

  /// The next line to start now, if there is one. The caller starts it, or
  /// calls `ended` with what went wrong.
  std::optional<std::size_t> next_start();

  /// One more slave of this host has reported.
  /// @returns whether one was expected to; if not, nothing has changed.
  bool reported(const std::string& host);

  /// A started process is gone: `how` is empty if it exited with 0, else a
  /// phrase such as "exited with status 1".
  void ended(std::size_t index, const std::string& how);

  /// The user wants to stop.
  void interrupted();

  /// No report came for longer than the user's patience.
  void timed_out();

  /// Whether slaves that were started have yet to report.
  bool awaits_reports() const;

  /// Whether every process that still runs has to be ended.
  bool ending() const {
    return ending_;
  }

  /// Whether nothing runs and nothing will be started any more.
  bool over() const;

  bool runs(std::size_t index) const {
    return phases_[index] == phase::silent || phases_[index] == phase::working;
  }

  /// What went wrong first, in one sentence; empty if nothing did.
  const std::string& problem() const {
    return problem_;
  }

  const std::vector<host_line>& hosts() const {
    return hosts_;
  }

private:
  enum class phase {
    planned, ///< Not started.
    silent,  ///< A slave that has not reported yet.
    working, ///< A slave that has reported, or the master.
    done,    ///< Gone.
  };

  void fail(const std::string& sentence);

  std::vector<host_line> hosts_;
  std::vector<phase> phases_;
  bool ending_ = false;
  std::string problem_;
};

} // namespace potluck::caf_run
