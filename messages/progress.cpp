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

std::string to_string(reach x) {
  switch (x) {
    case reach::unknown:
      return "unknown";
    case reach::open:
      return "open";
    case reach::mapped:
      return "mapped";
    case reach::cone:
      return "cone";
    case reach::symmetric:
      return "symmetric";
  }
  return "unknown";
}

} // namespace potluck
