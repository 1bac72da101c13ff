#include "actors/guest_list.hpp"

namespace potluck {

void guest_list::add(connection_id id, const peer_id& who,
                     session_actor session) {
  std::lock_guard<std::mutex> guard{mutex_};
  auto& g = guests_[id];
  g.who = who;
  g.session = session;
  sessions_[who] = std::move(session);
}

void guest_list::remove(connection_id id) {
  std::lock_guard<std::mutex> guard{mutex_};
  guests_.erase(id);
}

void guest_list::passed(connection_id id) {
  std::lock_guard<std::mutex> guard{mutex_};
  if (auto found = guests_.find(id);
      found != guests_.end() && found->second.passing > 0)
    --found->second.passing;
}

void guest_list::ended(const peer_id& who) {
  std::lock_guard<std::mutex> guard{mutex_};
  sessions_.erase(who);
}

void guest_list::clear() {
  std::lock_guard<std::mutex> guard{mutex_};
  guests_.clear();
  sessions_.clear();
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

session_actor guest_list::session_of(const peer_id& who) const {
  std::lock_guard<std::mutex> guard{mutex_};
  auto found = sessions_.find(who);
  return found == sessions_.end() ? session_actor{} : found->second;
}

} // namespace potluck
