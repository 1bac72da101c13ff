#include "messages/progress.hpp"

namespace potluck {

std::string to_string(phase x) {
  switch (x) {
    case phase::joining:
      return "joining";
    case phase::accumulating:
      return "accumulating";
    case phase::matchmaking:
      return "matchmaking";
    case phase::averaging:
      return "averaging";
    case phase::waiting:
      return "waiting";
    case phase::finished:
      return "finished";
    case phase::founding:
      return "founding";
  }
  return "unknown";
}

} // namespace potluck
