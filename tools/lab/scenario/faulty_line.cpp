#include "tools/lab/scenario/faulty_line.hpp"

#include <algorithm>

#include "tools/lab/network/router_kind.hpp"

namespace potluck {

namespace {

double slower(double rate, double cap) {
  return rate > 0 ? std::min(rate, cap) : cap;
}

double either(double a, double b) {
  return 1 - (1 - a) * (1 - b);
}

} // namespace

access_line usual_line(const scripted_peer& x, const peer_group& of) {
  access_line result;
  random_stream own{mix(x.seed, 2)};
  result.delay = x.delay;
  result.jitter = to_duration(of.line.jitter.draw(own));
  result.upload = x.upload;
  result.download = x.download;
  result.loss_up = of.line.loss;
  result.loss_down = of.line.loss;
  result.duplicate = of.line.duplicate;
  result.reorder = of.line.reorder;
  result.corrupt = of.line.corrupt;
  result.closed = router_named(of.router) != router_kind::none;
  return result;
}

bool befall(access_line& x, fault_kind kind, double amount) {
  switch (kind) {
    case fault_kind::deafen:
      x.deaf = true;
      return true;
    case fault_kind::delay:
      x.delay += to_duration(amount);
      return true;
    case fault_kind::throttle:
      x.upload = slower(x.upload, amount);
      x.download = slower(x.download, amount);
      return true;
    case fault_kind::lose:
      x.loss_up = either(x.loss_up, amount);
      x.loss_down = either(x.loss_down, amount);
      return true;
    case fault_kind::duplicate:
      x.duplicate = either(x.duplicate, amount);
      return true;
    case fault_kind::reorder:
      x.reorder = either(x.reorder, amount);
      return true;
    case fault_kind::corrupt:
      x.corrupt = either(x.corrupt, amount);
      return true;
    default:
      return false;
  }
}

} // namespace potluck
