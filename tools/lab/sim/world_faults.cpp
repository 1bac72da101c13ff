/// How the faults of a scenario befall simulated machines.
#include "tools/lab/network/forgery.hpp"
#include "tools/lab/sim/world.hpp"

namespace potluck::simulation {

void world::carry_out(const fault_event& x) {
  using what = fault_event::what;
  for (auto number : x.peers)
    life_of(number);
  if (x.kind == fault_kind::isolate || x.kind == fault_kind::estrange) {
    divide(x);
    return;
  }
  for (auto number : x.peers) {
    switch (x.action) {
      case what::join:
        start(number, true);
        break;
      case what::back:
        start(number, x.keeps_disk);
        break;
      case what::begin:
        begin(x, number);
        break;
      case what::end:
        end(x, number);
        break;
    }
  }
}

void world::divide(const fault_event& x) {
  const auto partition = x.kind == fault_kind::isolate;
  if (x.action == fault_event::what::end) {
    auto number = partitions_[x.of];
    partition ? network_.reunite(number) : network_.reconcile(number);
    partitions_.erase(x.of);
    return;
  }
  std::set<std::string> side;
  for (auto number : x.peers)
    side.insert(lives_[number].host);
  partitions_[x.number]
      = partition ? network_.part(std::move(side)) : network_.estrange(side);
}

void world::begin(const fault_event& x, std::size_t number) {
  auto& it = lives_[number];
  auto line = network_.line_of(it.host);
  switch (x.kind) {
    case fault_kind::kill:
      end_process(it, false);
      break;
    case fault_kind::power_cut:
      end_process(it, true);
      break;
    case fault_kind::leave:
      if (it.box->running())
        retire(number, "has to go");
      break;
    case fault_kind::stop:
      it.box->stopped = true;
      network_.freeze(it.host, true);
      break;
    case fault_kind::deafen:
      network_.deafen(it.host, true);
      break;
    case fault_kind::cut:
      network_.cut(it.host);
      touch(number);
      break;
    case fault_kind::delay:
      line.delay += to_duration(x.amount);
      break;
    case fault_kind::throttle:
      line.upload = x.amount;
      line.download = x.amount;
      break;
    case fault_kind::lose:
      line.loss = x.amount;
      break;
    case fault_kind::duplicate:
      line.duplicate = x.amount;
      break;
    case fault_kind::reorder:
      line.reorder = x.amount;
      break;
    case fault_kind::corrupt:
      line.corrupt = x.amount;
      break;
    case fault_kind::slow:
      it.box->slowness = x.amount;
      break;
    case fault_kind::drift:
      it.box->drift(x.amount, now_);
      touch(number);
      break;
    case fault_kind::fill_disk:
      it.disk->full = true;
      break;
    case fault_kind::tear_writes:
      it.disk->tears_writes = true;
      break;
    case fault_kind::crash_actor:
      it.box->crash_actor(x.detail, chance_);
      it.crashes.push_back(now_);
      touch(number);
      break;
    case fault_kind::misbehave:
      it.honest = false;
      it.box->bends_means = x.detail == "wrong_means";
      judge_->of<fair_blame>().no_longer_honest(short_name(it.id));
      network_.corrupt_host(it.host,
                            make_forger(x.detail, it.box->plan().seed));
      break;
    case fault_kind::isolate: // These two are carried out by `divide`.
    case fault_kind::estrange:
    case fault_kind::join: // The plan makes these `what::join`.
      break;
  }
  network_.set_line(it.host, line);
}

void world::end(const fault_event& x, std::size_t number) {
  auto& it = lives_[number];
  auto line = network_.line_of(it.host);
  auto usual = usual_line(it.box->plan());
  switch (x.kind) {
    case fault_kind::stop:
      it.box->stopped = false;
      network_.freeze(it.host, false);
      touch(number);
      break;
    case fault_kind::deafen:
      network_.deafen(it.host, false);
      touch(number);
      break;
    case fault_kind::delay:
      line.delay = usual.delay;
      break;
    case fault_kind::throttle:
      line.upload = usual.upload;
      line.download = usual.download;
      break;
    case fault_kind::lose:
      line.loss = usual.loss;
      break;
    case fault_kind::duplicate:
      line.duplicate = usual.duplicate;
      break;
    case fault_kind::reorder:
      line.reorder = usual.reorder;
      break;
    case fault_kind::corrupt:
      line.corrupt = usual.corrupt;
      break;
    case fault_kind::slow:
      it.box->slowness = 1;
      break;
    case fault_kind::drift:
      it.box->drift(0, now_);
      touch(number);
      break;
    case fault_kind::fill_disk:
      it.disk->full = false;
      break;
    case fault_kind::tear_writes:
      it.disk->tears_writes = false;
      break;
    case fault_kind::misbehave:
      network_.corrupt_host(it.host, nullptr);
      it.box->bends_means = false;
      break;
    default: // The others are over at once.
      break;
  }
  network_.set_line(it.host, line);
}

} // namespace potluck::simulation
