#include "tools/lab/demo/demo_screen.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <sys/ioctl.h>
#include <unistd.h>

#include "runtime/numbers.hpp"
#include "tools/lab/display/table.hpp"

namespace potluck::tools {

namespace {

constexpr std::uint64_t lines_without_a_terminal = 20;
constexpr std::size_t bar_width = 20;

struct extent {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

extent terminal_extent() {
  winsize size{};
  extent result;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
      && size.ws_row > 0)
    result = {size.ws_col, size.ws_row};
  return result;
}

std::string rounded(double x, const char* unit = "") {
  return std::isfinite(x) ? std::to_string(std::lround(x)) + unit : "-";
}

std::string with_decimals(double x) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f", x);
  return std::isfinite(x) ? text : "-";
}

} // namespace

std::string peer_table(const std::vector<peer_view>& peers) {
  std::vector<std::vector<std::string>> rows{
      {"peer", "role", "step", "loss", "share", "samples/s", "peers", "phase"}};
  for (const auto& x : peers)
    rows.push_back({x.name, x.role, x.step > 0 ? std::to_string(x.step) : "-",
                    with_decimals(x.loss), rounded(100 * x.share, " %"),
                    rounded(x.samples_per_second),
                    x.peers > 0 ? std::to_string(x.peers) : "-", x.phase});
  return table(rows);
}

std::string run_line(const run_view& run) {
  auto done = run.steps > 0
                  ? std::min(run.step, run.steps) * bar_width / run.steps
                  : 0;
  return "step " + std::to_string(run.step) + " of " + std::to_string(run.steps)
         + " [" + std::string(done, '#') + std::string(bar_width - done, '.')
         + "]  loss " + with_decimals(run.loss) + "  "
         + rounded(run.samples_per_second) + " samples/s  "
         + readable_seconds(run.seconds);
}

demo_screen::demo_screen(bool quiet)
    : quiet_(quiet), live_(!quiet && isatty(STDOUT_FILENO) == 1) {
}

void demo_screen::wipe() {
  if (lines_ > 0)
    std::printf("\x1b[%zuA\r\x1b[J", lines_);
  lines_ = 0;
}

void demo_screen::draw() {
  // A line that wraps, or one that scrolls away, cannot be wiped again.
  auto room = terminal_extent();
  std::istringstream in{drawn_};
  for (std::string line; std::getline(in, line) && lines_ + 1 < room.rows;
       ++lines_)
    std::printf("%s\n", line.substr(0, room.columns - 1).c_str());
  std::fflush(stdout);
}

void demo_screen::say(const std::string& message) {
  if (quiet_)
    return;
  wipe();
  std::printf("%s\n", harmless(message).c_str());
  draw();
}

void demo_screen::show(const std::vector<peer_view>& peers,
                       const run_view& run) {
  if (!live_) {
    auto part
        = run.steps > 0 ? run.step * lines_without_a_terminal / run.steps : 0;
    if (part > told_)
      say(run_line(run));
    told_ = std::max(told_, part);
    return;
  }
  auto text = "\n" + peer_table(peers) + "\n" + run_line(run) + "\n";
  if (text == drawn_)
    return;
  wipe();
  drawn_ = text;
  draw();
}

void demo_screen::close() {
  wipe();
  drawn_.clear();
  std::fflush(stdout);
}

} // namespace potluck::tools
