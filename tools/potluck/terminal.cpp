#include "tools/potluck/terminal.hpp"

#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

#include "runtime/numbers.hpp"
#include "tools/potluck/live_line.hpp"

namespace potluck::tools {

namespace {

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return 80;
}

std::string text_of(const event::value& x) {
  struct visitor {
    std::string operator()(std::int64_t y) const {
      return std::to_string(y);
    }
    std::string operator()(std::uint64_t y) const {
      return std::to_string(y);
    }
    std::string operator()(double y) const {
      return readable(y);
    }
    std::string operator()(bool y) const {
      return y ? "yes" : "no";
    }
    std::string operator()(const std::string& y) const {
      return harmless(y);
    }
  };
  return std::visit(visitor{}, x);
}

/// In a word, what an event `reach` says.
std::string reach_in(const event& x) {
  std::string kind;
  bool reachable = true;
  for (const auto& [name, value] : x.fields) {
    if (auto* text = std::get_if<std::string>(&value); text && name == "kind")
      kind = *text;
    if (auto* yes = std::get_if<bool>(&value); yes && name == "reachable")
      reachable = *yes;
  }
  if (kind == "unknown")
    return reachable ? "" : "cannot be dialled";
  return reachable ? kind : kind + " router";
}

} // namespace

terminal::terminal() : live_(isatty(STDOUT_FILENO) == 1) {
}

void terminal::print(const std::string& line) {
  if (line_open_)
    std::fputs("\r\x1b[K", stdout);
  line_open_ = false;
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

void terminal::end_line() {
  if (line_open_)
    std::fputs("\n", stdout);
  line_open_ = false;
  std::fflush(stdout);
}

void terminal::show(const event& x) {
  if (x.name == "reach")
    reach_ = reach_in(x);
  // Steps and rounds are what the live line is for.
  if (live_ && (x.name == "step" || x.name == "plan" || x.name == "round"))
    return;
  if (x.name == "plan" || x.name == "round")
    return;
  std::string line = x.name;
  for (auto& [name, value] : x.fields) {
    auto text = text_of(value);
    if (text.empty() || name == "history_samples")
      continue;
    if (name == "digest") // An id is for others' --peer ID@HOST:PORT.
      text = text.substr(0, 16);
    line += "  " + name + " " + text;
  }
  // What a host of experts does is news only while somebody looks.
  if (live_ && x.name == "experts")
    rewrite(line.substr(0, terminal_width() - 1));
  else
    print(line);
}

void terminal::rewrite(const std::string& line) {
  if (line == last_ && line_open_)
    return;
  std::fputs(("\r\x1b[K" + line).c_str(), stdout);
  std::fflush(stdout);
  last_ = line;
  line_open_ = true;
}

void terminal::show(const run_status& x) {
  if (!live_)
    return;
  live_status status;
  status.step = x.step;
  status.steps = x.steps;
  if (x.step > 0) {
    status.loss = x.loss;
    status.share = x.own_share;
  }
  status.samples_per_second = x.samples_per_second;
  status.peers = x.peers;
  status.phase = x.phase;
  status.trouble = x.trouble;
  status.reach = reach_;
  if (x.seconds_to_next_step)
    status.seconds_to_step = *x.seconds_to_next_step;
  rewrite(live_line(status, terminal_width() - 1));
}

} // namespace potluck::tools
