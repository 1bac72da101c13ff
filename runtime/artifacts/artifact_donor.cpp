#include "runtime/artifacts/artifact_donor.hpp"

#include <algorithm>
#include <utility>

#include "runtime/state/limits.hpp"

namespace potluck {

namespace {

/// What the budget knows an artifact by: the first bytes of its SHA-256.
digest short_of(const sha256_digest& content) {
  digest result;
  std::copy_n(content.bytes.begin(), digest::size, result.bytes.begin());
  return result;
}

} // namespace

artifact_donor::artifact_donor(serving_budget::bounds most, reader read)
    : budget_(most), read_(std::move(read)) {
}

void artifact_donor::offers(const artifact& x, const piece_sums& sums) {
  auto bytes = std::make_shared<const std::string>(to_bytes(sums));
  shared_bytes list{bytes, reinterpret_cast<const std::uint8_t*>(bytes->data()),
                    bytes->size()};
  offers_[short_of(x.content)] = {x, sums, std::move(list)};
}

artifact_donor::offer* artifact_donor::find(const sha256_digest& content) {
  for (auto& [name, x] : offers_)
    if (x.it.content == content || x.it.pieces == content)
      return &x;
  return nullptr;
}

piece_request artifact_donor::named(const offer& x,
                                    const artifact_request& wish) {
  piece_request result;
  result.state = short_of(x.it.content);
  result.piece = wish.piece;
  result.mean = wish.content == x.it.pieces; // The list, that is.
  result.arrived = wish.arrived;
  return result;
}

artifact_actions artifact_donor::read(const peer_id& from,
                                      const artifact_request& x,
                                      time_point now) {
  if (x.over) {
    budget_.forget(from);
    arrived_.erase(from);
    return done(now);
  }
  // It begins anew, and does not count what was on its way before.
  auto& before = arrived_[from];
  if (x.arrived < before)
    budget_.begins_anew(from);
  before = x.arrived;
  const auto* it = find(x.content);
  if (!it || x.piece >= (x.content == it->it.pieces ? 1 : it->it.piece_count()))
    say(from, x, false);
  else if (!admit(from, now)
           || !budget_.ask(from, named(*it, x),
                           x.content == it->it.pieces ? it->list.size
                                                      : artifact_piece_bytes,
                           now))
    say(from, x, true);
  return done(now);
}

bool artifact_donor::admit(const peer_id& from, time_point now) {
  if (budget_.admit(from, now))
    return true;
  const auto other = budget_.gives_way(from, now);
  if (!other)
    return false;
  // When it asks for the next piece, it hears that it has to wait.
  budget_.forget(*other);
  return budget_.admit(from, now);
}

void artifact_donor::say(const peer_id& to, const artifact_request& x,
                         bool busy) {
  artifact_piece answer;
  answer.content = x.content;
  answer.piece = x.piece;
  if (busy)
    answer.retry_ms = static_cast<std::uint32_t>(
        std::chrono::milliseconds{limits::busy_retry}.count());
  actions_.emplace_back(state_letter{to, answer, {}});
}

void artifact_donor::send(const serving_budget::turn& x) {
  const auto at = offers_.find(x.request.state);
  if (at == offers_.end())
    return; // Found to be damaged since it was asked for.
  const auto& it = at->second;
  artifact_piece answer;
  answer.content = x.request.mean ? it.it.pieces : it.it.content;
  answer.piece = x.request.piece;
  auto body = x.request.mean
                  ? it.list
                  : read_(it.it, answer.piece, it.sums[answer.piece]);
  if (body.size == 0)
    offers_.erase(at);
  actions_.emplace_back(state_letter{x.joiner, answer, std::move(body)});
}

artifact_actions artifact_donor::lost(const peer_id& who, time_point now) {
  budget_.parted(who);
  budget_.forget(who);
  arrived_.erase(who);
  return done(now);
}

artifact_actions artifact_donor::look(time_point now) {
  return done(now);
}

artifact_actions artifact_donor::done(time_point now) {
  budget_.expire(now);
  while (auto turn = budget_.next(now))
    send(*turn);
  auto wake = budget_.wake();
  if (budget_.joiners() > 0)
    wake = std::min(wake.value_or(time_point::max()),
                    now + limits::fetch_interval);
  if (wake)
    actions_.emplace_back(look_again{*wake});
  return std::exchange(actions_, {});
}

} // namespace potluck
