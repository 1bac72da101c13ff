#include "runtime/strangers/stranger_desk.hpp"

namespace potluck {

namespace {

const std::string made_room
    = "it made room for others: too many strangers are connected";

} // namespace

void stranger_desk::trusts(connection_id id) {
  unproven_.remove(id);
  proven_.remove(id);
  arrivals_.erase(id);
  large_is_over(id);
  unread_.forget(id);
  with_bodies_.forget(id);
}

void stranger_desk::ended(connection_id id, time_point now) {
  if (const auto came = arrivals_.find(id);
      came != arrivals_.end() && now - came->second.at < limits::fleeting)
    handshakes_.charge(came->second.host, limits::handshakes_of_fleeting, now);
  trusts(id);
}

std::optional<stranger_desk::departure> stranger_desk::one_too_many() const {
  if (auto id = unproven_.too_many())
    return departure{*id, "it made room for others: it has proven nothing yet"};
  if (auto id = proven_.too_many())
    return departure{*id, made_room};
  return std::nullopt;
}

std::optional<stranger_desk::departure>
stranger_desk::reads_too_little() const {
  for (const auto* x : {&unread_, &with_bodies_})
    if (auto id = x->gives_way())
      return departure{*id, "the other side does not read its answers"};
  return std::nullopt;
}

std::optional<stranger_desk::departure> stranger_desk::gives_way() const {
  if (unproven_.size() == 0 && proven_.size() == 0)
    return std::nullopt;
  const auto& more = unproven_.size() > proven_.size() ? unproven_ : proven_;
  return departure{more.gives_way(), made_room};
}

std::vector<connection_id> stranger_desk::next_large(time_point now) {
  auto result = medium_.next(now);
  for (auto id : large_.next(now))
    result.push_back(id);
  return result;
}

std::optional<stranger_desk::departure>
stranger_desk::too_slow(time_point now,
                        const large_frames::progress& come) const {
  for (const auto* room : {&medium_, &large_})
    if (auto id = room->too_slow(now, come))
      return departure{*id, "a large frame came too slowly while others waited "
                            "for its room"};
  return std::nullopt;
}

} // namespace potluck
