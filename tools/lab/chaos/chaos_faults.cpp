// What befalls the peers of a chaos run, and how it ends.

#include <algorithm>

#include "tools/lab/chaos/chaos_run.hpp"

namespace potluck::tools {

expected<bool> chaos_run::carry_out_due() {
  std::set<std::size_t> there;
  for (std::size_t i = 0; i < peers_.size(); ++i)
    if (peers_[i].present())
      there.insert(i);
  auto told = faults_.history().size();
  for (const auto& x : faults_.due(plan_time(), there))
    if (auto done = carry_out(x); !done)
      return done;
  auto history = faults_.history();
  for (; told < history.size(); ++told)
    screen_.say(history[told]);
  return true;
}

expected<bool> chaos_run::carry_out(const fault_event& x) {
  using what = fault_event::what;
  calm_since_ = clock::now();
  switch (x.action) {
    case what::join:
    case what::back: {
      if (auto added = add_peers(); !added)
        return added;
      for (auto peer : x.peers) {
        if (x.action == what::back)
          screen_.say("peer-" + std::to_string(peer) + " returns"
                      + (x.keeps_disk ? "" : " without its files"));
        if (auto started = start(peer, !x.keeps_disk); !started)
          return started;
      }
      return true;
    }
    case what::begin:
      befall(x);
      return true;
    case what::end:
      if (lasting_.count(x.of) > 0) {
        screen_.say(to_string(x.kind) + " ends for "
                    + std::to_string(x.peers.size()));
        relieve(x);
      }
      return true;
  }
  return true;
}

void chaos_run::befall(const fault_event& x) {
  switch (x.kind) {
    case fault_kind::isolate:
      partitions_[x.number] = network_->part({x.peers.begin(), x.peers.end()});
      break;
    default:
      break;
  }
  if (trait_of(x.kind).lasts)
    lasting_[x.number] = x;
  for (auto number : x.peers) {
    auto& peer = peers_[number];
    switch (x.kind) {
      case fault_kind::kill:
        peer.kill();
        break;
      case fault_kind::power_cut:
        // First the line, so that nobody hears of it.
        dark_[number] = network_->part({number});
        peer.kill();
        break;
      case fault_kind::leave:
        peer.leave();
        break;
      case fault_kind::stop:
        peer.stop(x.number);
        break;
      case fault_kind::slow:
        peer.slow(x.number, x.amount);
        break;
      case fault_kind::fill_disk:
        peer.fill_disk(x.number);
        break;
      case fault_kind::cut:
        network_->cut(number);
        break;
      default:
        draw_line(number);
    }
  }
}

void chaos_run::relieve(const fault_event& x) {
  lasting_.erase(x.of);
  if (auto i = partitions_.find(x.of); i != partitions_.end()) {
    network_->reunite(i->second);
    partitions_.erase(i);
  }
  for (auto number : x.peers) {
    peers_[number].end_fault(x.of);
    draw_line(number);
  }
}

/// Whoever is there shall finish, so nothing may hold anybody up any more.
void chaos_run::end_all_faults() {
  while (!lasting_.empty()) {
    auto x = lasting_.begin()->second;
    x.of = x.number;
    relieve(x);
  }
}

/// A peer's line as its group has it, and the faults on it at present.
void chaos_run::draw_line(std::size_t number) {
  const auto& peer = faults_.peers()[number];
  const auto& group = plan_.what.groups[peer.group];
  random_stream chance{mix(peer.seed, 2)};
  access_line line;
  line.delay = peer.delay;
  line.jitter = to_duration(group.line.jitter.draw(chance));
  line.upload = peer.upload;
  line.download = peer.download;
  line_faults wrong;
  wrong.loss = group.line.loss;
  wrong.duplicate = group.line.duplicate;
  wrong.reorder = group.line.reorder;
  wrong.corrupt = group.line.corrupt;
  wrong.closed = group.behind_nat;
  auto slower = [](double rate, double cap) {
    return rate > 0 ? std::min(rate, cap) : cap;
  };
  auto either = [](double a, double b) { return 1 - (1 - a) * (1 - b); };
  for (const auto& [of, x] : lasting_) {
    if (std::find(x.peers.begin(), x.peers.end(), number) == x.peers.end())
      continue;
    if (x.kind == fault_kind::delay) {
      line.delay += to_duration(x.amount);
    } else if (x.kind == fault_kind::throttle) {
      line.upload = slower(line.upload, x.amount);
      line.download = slower(line.download, x.amount);
    } else if (x.kind == fault_kind::lose) {
      wrong.loss = either(wrong.loss, x.amount);
    } else if (x.kind == fault_kind::duplicate) {
      wrong.duplicate = either(wrong.duplicate, x.amount);
    } else if (x.kind == fault_kind::reorder) {
      wrong.reorder = either(wrong.reorder, x.amount);
    } else if (x.kind == fault_kind::corrupt) {
      wrong.corrupt = either(wrong.corrupt, x.amount);
    } else if (x.kind == fault_kind::deafen) {
      wrong.deaf = true;
    }
  }
  network_->set_line(number, line, wrong);
}

/// One that ends: what lasts for ever has to be lived with.
bool chaos_run::a_fault_is_under_way() const {
  return std::any_of(lasting_.begin(), lasting_.end(),
                     [&](const auto& x) { return faults_.ends(x.first); });
}

} // namespace potluck::tools
