#include "runtime/planning/one_place.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/planning/pair_shares.hpp"

namespace potluck {

namespace {

/// A bound on a peer's share, at time T: `slope * T + start`.
struct bound {
  double slope;
  double start;

  double at(double time) const {
    return slope * time + start;
  }
};

/// The bounds of all peers, whose order the sums keep.
struct bounds {
  std::vector<bound> most_up;   ///< Share at most, from each peer's upload.
  std::vector<bound> most_down; ///< The same from its download.
  /// Whose load falls with its share: all of its share at least. Only where
  /// one peer alone computes or holds the model.
  struct low {
    std::size_t peer;
    bound up;
    bound down;

    double at(double time) const {
      return std::max({0.0, up.at(time), down.at(time)});
    }
  };
  std::vector<low> least;
  double earliest = 0; ///< Loads that no share changes need so long.

  bounds(const std::vector<one_place_peer>& peers, double computing,
         double holding);

  double most(std::size_t i, double time) const {
    return std::max(
        0.0, std::min({1.0, most_up[i].at(time), most_down[i].at(time)}));
  }

  bool fits(double time) const {
    double room = 0;
    for (std::size_t i = 0; i < most_up.size(); ++i)
      room += most(i, time);
    if (room < 1)
      return false;
    double needed = 0;
    for (const auto& low : least) {
      double x = low.at(time);
      if (x > most(low.peer, time))
        return false;
      needed += x;
    }
    return needed <= 1;
  }

private:
  /// Moving (fixed + slope w) gradients in time T at this speed.
  void line(std::size_t i, bool upload, double fixed, double slope,
            double speed);
};

bounds::bounds(const std::vector<one_place_peer>& peers, double computing,
               double holding) {
  most_up.assign(peers.size(), {0, 1});
  most_down.assign(peers.size(), {0, 1});
  for (std::size_t i = 0; i < peers.size(); ++i) {
    double c = peers[i].computes;
    double m = peers[i].holds;
    // Up: the parts that others average; the means of its own to all holders.
    line(i, true, c, holding - m - c, peers[i].up);
    // Down: the means that others make; the parts of all others for its own.
    line(i, false, m, computing - c - m, peers[i].down);
    if (!peers[i].averages)
      most_up[i] = {0, 0};
  }
}

void bounds::line(std::size_t i, bool upload, double fixed, double slope,
                  double speed) {
  if (slope > 0)
    (upload ? most_up : most_down)[i] = {speed / slope, -fixed / slope};
  else if (slope < 0) {
    if (least.empty() || least.back().peer != i)
      least.push_back({i, {0, 0}, {0, 0}});
    (upload ? least.back().up : least.back().down)
        = {speed / slope, -fixed / slope};
  }
  if (slope >= 0 && fixed > 0)
    earliest = std::max(earliest, fixed / speed);
}

/// The least and the most of everybody's share in some time.
struct room {
  std::vector<double> least;
  std::vector<double> most;
  bool enough = false; ///< For shares that sum to 1.

  room(const bounds& limit, const std::vector<one_place_peer>& peers,
       const std::vector<one_place_limit>& limits, double time);
};

room::room(const bounds& limit, const std::vector<one_place_peer>& peers,
           const std::vector<one_place_limit>& limits, double time)
    : least(peers.size(), 0), most(peers.size(), 0) {
  for (const auto& low : limit.least)
    least[low.peer] = low.at(time);
  for (std::size_t i = 0; i < peers.size(); ++i)
    most[i] = limit.most(i, time);
  // From i to j go i's part of what j averages, and the mean of what i does.
  std::vector<shared_bound> shared;
  for (const auto& x : limits) {
    auto carried = x.speed * time;
    bool part = peers[x.from].computes;
    bool mean = peers[x.to].holds;
    if (part && mean)
      shared.push_back({x.from, x.to, carried - least[x.from] - least[x.to]});
    else if (part)
      most[x.to] = std::min(most[x.to], carried);
    else if (mean)
      most[x.from] = std::min(most[x.from], carried);
  }
  double needed = 0;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    needed += least[i];
    most[i] -= least[i];
    if (most[i] < 0)
      return;
  }
  for (const auto& x : shared)
    if (x.most < 0)
      return;
  most = most_together(most, shared);
  double sum = needed;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    sum += most[i];
    most[i] += least[i];
  }
  enough = needed <= 1 && sum >= 1;
}

} // namespace

one_place_answer
fastest_in_one_place(const std::vector<one_place_peer>& peers,
                     const std::vector<one_place_limit>& limits) {
  double computing = 0;
  double holding = 0;
  for (const auto& x : peers) {
    computing += x.computes;
    holding += x.holds;
  }
  bounds limit{peers, computing, holding};
  one_place_answer result;
  result.seconds = std::numeric_limits<double>::infinity();
  auto fits = [&](double time) {
    ++result.times_tried;
    return limits.empty() ? limit.fits(time)
                          : room{limit, peers, limits, time}.enough;
  };
  // Each look at limited pairs takes n^3; a share is a chunk of thousands.
  const auto precise = limits.empty() ? 0.0 : 1e-9;
  double low = limit.earliest;
  if (!std::isfinite(low))
    return result;
  double high = low;
  if (!fits(high)) {
    if (high == 0)
      high = 1e-100;
    while (!fits(high)) {
      low = high;
      high *= 16;
      if (high > 1e100)
        return result;
    }
    while (high - low > precise * high) {
      double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high)
        break;
      (fits(middle) ? high : low) = middle;
    }
  }
  result.seconds = high;
  // A hair more time, so that the peers whose bounds are exact have a share.
  const room in_time{limit, peers, limits, high * (1 + 1e-12)};
  const auto& least = in_time.least;
  const auto& most = in_time.most;
  double needed = 0;
  double space = 0;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    needed += least[i];
    space += most[i];
  }
  double part = space > needed
                    ? std::clamp((1 - needed) / (space - needed), 0.0, 1.0)
                    : 0;
  double sum = 0;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    result.shares.push_back(least[i] + (most[i] - least[i]) * part);
    sum += result.shares.back();
  }
  for (auto& x : result.shares)
    x /= sum;
  return result;
}

namespace {

/// The gains by trying a little more of each line: for the few networks in
/// which shares have bounds from below. Zeros for many peers.
one_place_gains tried_gains(const std::vector<one_place_peer>& peers,
                            const one_place_answer& answer) {
  constexpr std::size_t most_peers = 64;
  constexpr double little = 1e-6;
  one_place_gains result;
  result.up.assign(peers.size(), 0);
  result.down.assign(peers.size(), 0);
  if (peers.size() > most_peers)
    return result;
  for (std::size_t i = 0; i < peers.size(); ++i)
    for (bool upload : {true, false}) {
      auto more = peers;
      auto& line = upload ? more[i].up : more[i].down;
      double added = line * little;
      line += added;
      double seconds = fastest_in_one_place(more).seconds;
      if (added > 0 && seconds > 0 && seconds < answer.seconds)
        (upload ? result.up : result.down)[i]
            = (1 / seconds - 1 / answer.seconds) / added;
    }
  return result;
}

} // namespace

one_place_gains gains_in_one_place(const std::vector<one_place_peer>& peers,
                                   const one_place_answer& answer) {
  one_place_gains result;
  result.up.assign(peers.size(), 0);
  result.down.assign(peers.size(), 0);
  double time = answer.seconds;
  if (!std::isfinite(time) || time == 0)
    return result;
  double computing = 0;
  double holding = 0;
  for (const auto& x : peers) {
    computing += x.computes;
    holding += x.holds;
  }
  bounds limit{peers, computing, holding};
  if (!limit.least.empty())
    return tried_gains(peers, answer);
  constexpr double hair = 1e-12;
  if (time <= limit.earliest * (1 + hair)) {
    // A line that carries one gradient whatever the shares are: it alone, or
    // with others, which are then to be mended together.
    double* only = nullptr;
    std::size_t many = 0;
    auto look = [&](double fixed, double slope, double speed, double& gain) {
      if (slope < 0 || fixed <= 0 || fixed / speed < time * (1 - hair))
        return;
      ++many;
      only = &gain;
    };
    for (std::size_t i = 0; i < peers.size(); ++i) {
      double c = peers[i].computes;
      double m = peers[i].holds;
      look(c, holding - m - c, peers[i].up, result.up[i]);
      look(m, computing - c - m, peers[i].down, result.down[i]);
    }
    if (many == 1)
      *only = 1;
    return result;
  }
  // All that peers could average is just enough: sum of shares(T) = 1. One of
  // two lines that limit a peer equally gains nothing.
  double slopes = 0;
  auto binds = [&](std::size_t i, bool upload) {
    double up = limit.most_up[i].at(time);
    double down = limit.most_down[i].at(time);
    const auto& mine = upload ? limit.most_up[i] : limit.most_down[i];
    return mine.slope > 0 && (upload ? up < down : down < up)
           && mine.at(time) <= 1 + hair;
  };
  for (std::size_t i = 0; i < peers.size(); ++i) {
    double up = limit.most_up[i].at(time);
    double down = limit.most_down[i].at(time);
    if (std::min(up, down) <= 1 + hair)
      slopes += (up < down ? limit.most_up[i] : limit.most_down[i]).slope;
  }
  if (slopes <= 0)
    return result;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    // The bound is speed / slope * T - ...: its growth with the speed is T /
    // slope, and gradients per second are 1 / T.
    if (binds(i, true))
      result.up[i] = limit.most_up[i].slope / peers[i].up / (time * slopes);
    if (binds(i, false))
      result.down[i]
          = limit.most_down[i].slope / peers[i].down / (time * slopes);
  }
  return result;
}

} // namespace potluck
