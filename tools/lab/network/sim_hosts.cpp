#include "tools/lab/network/sim_hosts.hpp"

#include <algorithm>

namespace potluck {

sim_hosts::sim_hosts(sim_agenda& agenda, line_emulator& lines)
    : agenda_{agenda}, lines_{lines}, nowhere_{
                                          std::make_shared<sim_host>("", 0)} {
}

sim_hosts::host sim_hosts::named(const std::string& name) {
  auto& x = hosts_[name];
  if (!x) {
    x = std::make_shared<sim_host>(name, lines_.add({}));
    by_number_.push_back(x.get());
  }
  return x;
}

sim_hosts::host sim_hosts::find(const std::string& name) const {
  auto there = hosts_.find(name);
  return there == hosts_.end() ? nowhere_ : there->second;
}

void sim_hosts::put_behind(const host& x, router_kind kind,
                           const std::string& public_host) {
  auto& home = homes_[public_host];
  if (!home) {
    home = x;
    x->router = std::make_shared<home_router>(kind, public_host);
  }
  x->router = home->router;
}

void sim_hosts::move_home(const sim_host& x, const std::string& public_host) {
  if (!x.router)
    return;
  auto home = homes_.extract(x.router->public_host());
  home.key() = public_host;
  homes_.insert(std::move(home));
  x.router->move_to(public_host);
}

sim_hosts::door sim_hosts::door_of(const sim_host& from,
                                   const std::string& name) const {
  auto home = homes_.find(name);
  if (home == homes_.end()) {
    auto machine = find(name);
    auto known = !machine->router || machine->router == from.router;
    return {known ? machine : nowhere_, nullptr};
  }
  // No router sends back what its own home sends to its public host.
  const auto& router = home->second->router;
  return router == from.router ? door{nowhere_, nullptr}
                               : door{home->second, router};
}

void sim_hosts::hand_over(sim_host& x, std::function<void()> what) {
  if (before_ && !x.frozen())
    before_(x.number());
  x.hand_over(agenda_.now(), turns_, std::move(what));
}

void sim_hosts::thaw(sim_host& x) {
  for (auto& what : x.thaw())
    hand_over(x, std::move(what));
}

duration sim_hosts::way(const sim_host& a, const sim_host& b) {
  return exists(a) && exists(b) ? lines_.way(a.number(), b.number())
                                : duration{0};
}

bool sim_hosts::parted(const sim_host& a, const sim_host& b) const {
  return exists(b) && lines_.separated(a.number(), b.number());
}

bool sim_hosts::estranged(const sim_host& a, const sim_host& b) {
  const auto& x = a.estrangements;
  const auto& y = b.estrangements;
  return &a != &b && std::any_of(x.begin(), x.end(), [&](auto number) {
    return y.count(number) != 0;
  });
}

void sim_hosts::clear() {
  before_ = nullptr;
  for (auto* x : by_number_) {
    x->forget_mail();
    x->take_deeds();
  }
}

} // namespace potluck
