#include "actors/guest_list.hpp"

namespace potluck {

void guest_list::add(connection_id id, const peer_id& who,
                     session_actor session) {
  std::lock_guard<std::mutex> guard{mutex_};
  auto& g = guests_[id];
  g.who = who;
  g.session = std::move(session);
}

void guest_list::remove(connection_id id) {
  std::lock_guard<std::mutex> guard{mutex_};
  guests_.erase(id);
}

peer_id guest_list::at(connection_id id) const {
  std::lock_guard<std::mutex> guard{mutex_};
  auto found = guests_.find(id);
  return found == guests_.end() ? peer_id{} : found->second.who;
}

session_actor guest_list::straight_to(connection_id id) {
  std::lock_guard<std::mutex> guard{mutex_};
  auto& g = guests_[id];
  if (g.session && g.passing == 0)
    return g.session;
  ++g.passing;
  return {};
}

void guest_list::passed(connection_id id) {
  std::lock_guard<std::mutex> guard{mutex_};
  if (auto found = guests_.find(id);
      found != guests_.end() && found->second.passing > 0)
    --found->second.passing;
}

} // namespace potluck
