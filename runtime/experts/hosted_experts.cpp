#include "runtime/experts/hosted_experts.hpp"

#include <algorithm>

namespace potluck {

hosted_experts::expert* hosted_experts::here(const std::string& uid) {
  auto i = experts_.find(uid);
  return i == experts_.end() || !i->second.here ? nullptr : &i->second;
}

const hosted_experts::expert*
hosted_experts::find(const std::string& uid) const {
  auto i = experts_.find(uid);
  return i == experts_.end() || !i->second.here ? nullptr : &i->second;
}

bool hosted_experts::add(const expert_uid& name, bool adopted) {
  auto& e = experts_[to_string(name)];
  if (e.here)
    return false;
  e.name = name;
  e.here = true;
  e.adopted = adopted;
  return true;
}

bool hosted_experts::made(const std::string& uid, const expert_shape& shape,
                          std::uint64_t updates, std::uint32_t term) {
  auto e = here(uid);
  if (e == nullptr)
    return false;
  e->ready = true;
  e->shape = shape;
  e->updates = e->saved = updates;
  e->term = term;
  return true;
}

void hosted_experts::computed(const std::string& uid, std::uint64_t updates) {
  if (auto e = here(uid))
    e->updates = updates;
}

void hosted_experts::saved(const std::string& uid, std::uint64_t updates) {
  if (auto e = here(uid))
    e->saved = updates;
}

void hosted_experts::not_saved(const std::string& uid) {
  auto e = here(uid);
  if (e == nullptr || !leaving_)
    return;
  e->ready = false;
  e->handed_over = true;
}

bool hosted_experts::crashed(const std::string& uid, time_point now) {
  auto e = here(uid);
  if (e == nullptr)
    return false;
  e->ready = false;
  e->here = !leaving_ && e->budget.allow(now);
  return e->here;
}

bool hosted_experts::withdraw(const std::string& uid) {
  auto e = here(uid);
  if (e == nullptr)
    return false;
  e->here = e->ready = false;
  return true;
}

void hosted_experts::handed_over(const std::string& uid) {
  if (auto i = experts_.find(uid); i != experts_.end())
    i->second.handed_over = true;
}

void hosted_experts::offer_again() {
  for (auto& [uid, e] : experts_)
    e.offered = false;
}

std::vector<std::string>
hosted_experts::to_hand_over(const std::string& learning) {
  std::vector<std::string> result;
  for (auto& [uid, e] : experts_) {
    if (!leaving_ || !e.here || e.handed_over || e.offered || !e.ready
        || e.updates != e.saved || uid == learning)
      continue;
    e.offered = true;
    result.push_back(uid);
  }
  return result;
}

bool hosted_experts::gone() {
  if (!leaving_ || told_)
    return false;
  told_ = std::none_of(experts_.begin(), experts_.end(), [](auto& x) {
    return x.second.here && !x.second.handed_over;
  });
  return told_;
}

std::vector<std::string> hosted_experts::unsaved() const {
  std::vector<std::string> result;
  for (auto& [uid, e] : experts_)
    if (e.ready && e.updates != e.saved)
      result.push_back(uid);
  return result;
}

std::vector<dht_record>
hosted_experts::records(const std::string& run, const contact& host,
                        const announcements::due_names& due) const {
  std::vector<dht_record> result;
  for (auto& uid : due.uids) {
    const auto& e = experts_.at(uid);
    result.push_back(host_record(
        run, uid, {host, e.shape.inputs, e.shape.outputs, e.updates, e.term}));
  }
  for (auto& [prefix, coordinates] : due.prefixes)
    result.push_back(prefix_record(run, host.id, prefix, coordinates));
  return result;
}

std::size_t hosted_experts::ready() const {
  return static_cast<std::size_t>(
      std::count_if(experts_.begin(), experts_.end(),
                    [](auto& x) { return x.second.ready; }));
}

std::uint64_t hosted_experts::updates() const {
  std::uint64_t result = 0;
  for (auto& [uid, e] : experts_)
    result += e.updates;
  return result;
}

} // namespace potluck
