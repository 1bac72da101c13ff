#include "runtime/fault_points.hpp"

namespace potluck {

namespace {

struct trait {
  std::string name;
  unsigned one_in; ///< Of the times that it could strike, while it is on.
};

// In the order of `fault_point`. What is asked often strikes rarely.
const std::array<trait, static_cast<std::size_t>(fault_point::count)> traits{{
    {"line_ends", 400},
    {"heartbeat_early", 20},
    {"dial_fails", 8},
    {"roster_late", 50},
    {"news_late", 20},
    {"lookup_unanswered", 20},
    {"record_refused", 20},
    {"charter_not_yet", 3},
    {"donor_busy", 3},
    {"piece_gone", 20},
    {"invitation_declined", 50},
    {"round_abandoned", 100},
}};

/// Of the points, those that are on in a run.
constexpr std::uint64_t one_on_in = 3;

thread_local fault_points* switched_on = nullptr;

} // namespace

const std::string& name_of(fault_point x) {
  return traits.at(static_cast<std::size_t>(x)).name;
}

fault_points::fault_points(std::uint64_t run, std::uint64_t own)
    : chance_{own} {
  random_stream which{run};
  for (auto& on : on_)
    on = which.below(one_on_in) == 0;
}

bool fault_points::decide(fault_point x) {
  const auto i = static_cast<std::size_t>(x);
  if (!on_.at(i) || chance_.below(traits.at(i).one_in) != 0)
    return false;
  ++struck_.at(i);
  return true;
}

fault_points::turn::turn(fault_points* x) : before_{switched_on} {
  switched_on = x;
}

fault_points::turn::~turn() {
  switched_on = before_;
}

bool strikes(fault_point x) {
  return switched_on != nullptr && switched_on->decide(x);
}

} // namespace potluck
