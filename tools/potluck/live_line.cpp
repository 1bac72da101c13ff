#include "tools/potluck/live_line.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/numbers.hpp"

namespace potluck {

std::string live_line(const live_status& status, std::size_t width) {
  std::string line = "step " + std::to_string(status.step);
  if (status.steps > 0)
    line += "/" + std::to_string(status.steps);
  line.resize(std::min(line.size(), width));
  bool room = true;
  auto add = [&](bool known, const std::string& part) {
    room = room && (!known || line.size() + 3 + part.size() <= width);
    if (known && room)
      line += " | " + part;
  };
  add(!status.trouble.empty(), status.trouble);
  add(std::isfinite(status.loss), "loss " + readable(status.loss));
  add(std::isfinite(status.samples_per_second),
      readable(status.samples_per_second, 3) + " samples/s");
  add(true,
      std::to_string(status.peers) + (status.peers == 1 ? " peer" : " peers"));
  add(true, to_string(status.phase));
  add(std::isfinite(status.share),
      "yours " + readable(std::round(status.share * 100)) + "%");
  add(std::isfinite(status.seconds_to_step) && status.seconds_to_step >= 0,
      "next step in " + readable_seconds(status.seconds_to_step));
  add(!status.reach.empty(), status.reach);
  return line;
}

} // namespace potluck
