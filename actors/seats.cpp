#include "actors/seats.hpp"

#include <utility>

namespace potluck {

seats::arrival seats::arrives(const peer_joined& x,
                              const session_actor& session) {
  const auto seat = all_.find(x.who.id);
  if (seat == all_.end() || seat->second.session != session)
    return arrival::fresh;
  if (seat->second.news.role == x.role) {
    seat->second.news = x;
    return arrival::again;
  }
  sessions_.erase(session.address());
  all_.erase(seat);
  return arrival::changed;
}

void seats::take(const peer_joined& x, const session_actor& session) {
  all_[x.who.id] = {x, session};
  sessions_[session.address()] = x.who.id;
}

std::optional<seats::seat> seats::ended(const caf::actor_addr& session) {
  const auto known = sessions_.find(session);
  if (known == sessions_.end())
    return std::nullopt;
  const auto who = known->second;
  sessions_.erase(known);
  const auto seat = all_.find(who);
  if (seat == all_.end() || seat->second.session.address() != session)
    return std::nullopt; // It has come back with another session.
  auto gone = std::move(seat->second);
  all_.erase(seat);
  return gone;
}

} // namespace potluck
