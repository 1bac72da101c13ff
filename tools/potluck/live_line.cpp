#include "tools/potluck/live_line.hpp"

#include <cmath>
#include <vector>

#include "runtime/numbers.hpp"

namespace potluck {

namespace {

struct segment {
  std::string text;
  int importance; ///< The lowest goes first.
};

std::string join(const std::vector<segment>& segments) {
  std::string line;
  for (const auto& x : segments)
    line += (line.empty() ? "" : " | ") + x.text;
  return line;
}

} // namespace

std::string live_line(const live_status& status, std::size_t width) {
  std::vector<segment> segments;
  auto add = [&](bool known, std::string text, int importance) {
    if (known)
      segments.push_back({std::move(text), importance});
  };
  std::string step = "step " + std::to_string(status.step);
  if (status.steps > 0)
    step += "/" + std::to_string(status.steps);
  add(true, step, 7);
  add(std::isfinite(status.loss), "loss " + readable(status.loss), 6);
  add(std::isfinite(status.samples_per_second),
      readable(status.samples_per_second, 3) + " samples/s", 5);
  add(std::isfinite(status.share),
      "yours " + readable(std::round(status.share * 100)) + "%", 2);
  add(true,
      std::to_string(status.peers) + (status.peers == 1 ? " peer" : " peers"),
      4);
  add(true, to_string(status.phase), 3);
  add(std::isfinite(status.seconds_to_step) && status.seconds_to_step >= 0,
      "next step in " + readable_seconds(status.seconds_to_step), 1);

  auto line = join(segments);
  while (line.size() > width && segments.size() > 1) {
    auto least = segments.begin();
    for (auto i = segments.begin(); i != segments.end(); ++i)
      if (i->importance < least->importance)
        least = i;
    segments.erase(least);
    line = join(segments);
  }
  return line.substr(0, width);
}

} // namespace potluck
