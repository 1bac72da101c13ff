#include "tools/caf_run/launch_plan.hpp"

#include <algorithm>
#include <utility>

namespace potluck::caf_run {

launch_plan::launch_plan(std::vector<host_line> hosts)
    : hosts_(std::move(hosts)), phases_(hosts_.size(), phase::planned) {
}

std::optional<std::size_t> launch_plan::next_start() {
  if (ending_)
    return std::nullopt;
  for (std::size_t i = 1; i < hosts_.size(); ++i) {
    if (phases_[i] == phase::planned) {
      phases_[i] = phase::silent;
      return i;
    }
    if (phases_[i] == phase::silent && hosts_[i].wait)
      return std::nullopt;
  }
  if (phases_[0] != phase::planned || awaits_reports())
    return std::nullopt;
  phases_[0] = phase::working;
  return 0;
}

bool launch_plan::reported(const std::string& host) {
  // Slaves of one host cannot be told apart, and need not be: what counts is
  // how many are still silent. The earliest line is taken, so that `wait` may
  // hold back a little longer than needed but never too short: a line that
  // waits is the last one started.
  for (std::size_t i = 1; i < hosts_.size(); ++i) {
    if (phases_[i] == phase::silent && hosts_[i].host == host) {
      phases_[i] = phase::working;
      return true;
    }
  }
  return false;
}

void launch_plan::ended(std::size_t index, const std::string& how) {
  auto before = std::exchange(phases_[index], phase::done);
  if (ending_)
    return;
  auto who = hosts_[index].label();
  if (!how.empty())
    return fail(who + " " + how + ": see what it printed.");
  if (before == phase::silent)
    return fail(who
                + " ended before it reported: see what it printed, and "
                  "whether it is a program that caf-run can start.");
  auto is_done = [&](std::size_t i) { return phases_[i] == phase::done; };
  auto all_done = true;
  for (std::size_t i = 0; i < hosts_.size(); ++i)
    all_done = all_done && (is_done(i) || hosts_[i].serve);
  ending_ = all_done;
}

void launch_plan::interrupted() {
  if (!ending_)
    fail("interrupted.");
}

void launch_plan::timed_out() {
  for (std::size_t i = 1; i < hosts_.size(); ++i)
    if (!ending_ && phases_[i] == phase::silent)
      return fail(hosts_[i].label()
                  + " has not reported in time: see what it printed, or give "
                    "it longer with --patience.");
}

bool launch_plan::awaits_reports() const {
  return std::find(phases_.begin(), phases_.end(), phase::silent)
         != phases_.end();
}

bool launch_plan::over() const {
  for (std::size_t i = 0; i < hosts_.size(); ++i)
    if (runs(i) || (!ending_ && phases_[i] == phase::planned))
      return false;
  return true;
}

void launch_plan::fail(const std::string& sentence) {
  problem_ = sentence;
  ending_ = true;
}

} // namespace potluck::caf_run
