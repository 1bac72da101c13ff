#include "tools/lab/sim/accidents.hpp"

#include "tools/lab/network/forgery.hpp"
#include "tools/lab/scenario/faulty_line.hpp"
#include "tools/lab/scenario/limits.hpp"
#include "tools/lab/sim/address_plan.hpp"

namespace potluck::simulation {

accidents::accidents(std::uint64_t seed, population& peers,
                     sim_network& network, turns& time, run_judge& judge)
    : chance_{seed}, peers_{peers}, network_{network}, time_{time}, judge_{
                                                                        judge} {
}

void accidents::carry_out(const fault_event& x) {
  using what = fault_event::what;
  for (auto number : x.peers)
    peers_.at(number);
  if (x.kind == fault_kind::isolate || x.kind == fault_kind::estrange) {
    divide(x);
    return;
  }
  for (auto number : x.peers) {
    switch (x.action) {
      case what::join:
        peers_.start(number, true);
        break;
      case what::back:
        peers_.start(number, x.keeps_disk);
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

void accidents::divide(const fault_event& x) {
  const auto partition = x.kind == fault_kind::isolate;
  if (x.action == fault_event::what::end) {
    auto number = partitions_[x.of];
    partition ? network_.reunite(number) : network_.reconcile(number);
    partitions_.erase(x.of);
    return;
  }
  std::set<std::string> side;
  for (auto number : x.peers)
    side.insert(peers_.at(number).host);
  partitions_[x.number]
      = partition ? network_.part(side) : network_.estrange(side);
}

void accidents::draw_line(std::size_t number) {
  const auto& x = peers_.at(number);
  auto line = usual_line(x.box->plan(), peers_.group_of(number));
  for (auto& [fault, what] : lasting_[number])
    befall(line, what.kind, what.amount);
  network_.set_line(x.host, line);
}

void accidents::misbehave(const std::string& manner, std::size_t number) {
  auto& x = peers_.at(number);
  x.honest = false;
  x.box->bends_means = manner == "wrong_means";
  x.box->is_greedy = manner == "greedy";
  judge_.of<fair_blame>().no_longer_honest(short_name(x.id));
  network_.corrupt_host(x.host, make_forger(manner, x.box->plan().seed));
}

void accidents::begin(const fault_event& x, std::size_t number) {
  auto& it = peers_.at(number);
  switch (x.kind) {
    case fault_kind::kill:
      peers_.end(number, false);
      return;
    case fault_kind::power_cut:
      peers_.end(number, true);
      return;
    case fault_kind::leave:
      if (it.box->running())
        peers_.retire(number, "has to go");
      return;
    case fault_kind::stop:
      it.box->stopped = true;
      network_.freeze(it.host, true);
      return;
    case fault_kind::cut:
      network_.cut(it.host);
      break;
    case fault_kind::router_reboots:
      network_.reboot_router(it.host);
      return;
    case fault_kind::address_changes:
      // As none of the peers has it.
      network_.move_home(it.host,
                         public_host(limits::scenario_peers + moves_++));
      return;
    case fault_kind::slow:
      it.box->slowness = x.amount;
      return;
    case fault_kind::drift:
      it.box->drift(x.amount, time_.now());
      break;
    case fault_kind::fill_disk:
      it.disk->full = true;
      return;
    case fault_kind::tear_writes:
      it.disk->tears_writes = true;
      return;
    case fault_kind::rot:
      it.disk->rot(chance_);
      if (it.pieces)
        it.pieces->rot(chance_);
      return;
    case fault_kind::crash_actor:
      it.box->crash_actor(x.detail, chance_);
      it.crashes.push_back(time_.now());
      break;
    case fault_kind::misbehave:
      misbehave(x.detail, number);
      return;
    default: // Of its line.
      lasting_[number][x.number] = {x.kind, x.amount};
      draw_line(number);
      return;
  }
  time_.touch(number);
}

void accidents::end(const fault_event& x, std::size_t number) {
  auto& it = peers_.at(number);
  switch (x.kind) {
    case fault_kind::stop:
      it.box->stopped = false;
      network_.freeze(it.host, false);
      break;
    case fault_kind::slow:
      it.box->slowness = 1;
      return;
    case fault_kind::drift:
      it.box->drift(0, time_.now());
      break;
    case fault_kind::fill_disk:
      it.disk->full = false;
      return;
    case fault_kind::tear_writes:
      it.disk->tears_writes = false;
      return;
    case fault_kind::misbehave:
      network_.corrupt_host(it.host, nullptr);
      it.box->bends_means = it.box->is_greedy = false;
      return;
    default:
      lasting_[number].erase(x.of);
      draw_line(number);
      break; // It may hear again.
  }
  time_.touch(number);
}

} // namespace potluck::simulation
