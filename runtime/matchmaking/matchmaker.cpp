#include "runtime/matchmaking/matchmaker.hpp"

#include <iterator>
#include <stdexcept>
#include <utility>

#include "messages/limits.hpp"

namespace potluck {

namespace {

group_actions joined(group_actions a, group_actions b) {
  std::move(b.begin(), b.end(), std::back_inserter(a));
  return a;
}

} // namespace

void matchmaker::hold(std::uint64_t step, const digest& state) {
  step_ = step;
  held_ = state;
}

void matchmaker::measure(double upload, double download,
                         std::vector<slow_pair> slow_pairs) {
  if (slow_pairs.size() > max_slow_pairs)
    slow_pairs.resize(max_slow_pairs);
  said_.upload_bytes_per_second = upload;
  said_.download_bytes_per_second = download;
  said_.slow_pairs = std::move(slow_pairs);
  leader_.restate(own_answer());
}

void matchmaker::avoid(std::vector<peer_id> whom) {
  if (whom.size() > max_avoided)
    whom.resize(max_avoided);
  said_.avoid = std::move(whom);
  leader_.restate(own_answer());
}

void matchmaker::without_line(std::vector<peer_id> whom) {
  if (whom.size() > max_members)
    whom.resize(max_members);
  said_.relayed = std::move(whom);
  leader_.restate(own_answer());
}

group_answer matchmaker::own_answer() const {
  auto x = said_;
  x.accepted = true;
  if (own_) {
    x.samples = own_->samples;
    x.loss_sum = own_->loss_sum;
  }
  return x;
}

matchmaker::state matchmaker::now() const {
  using leading = group_leader::state;
  using following = group_follower::state;
  if (leader_.now() == leading::inviting)
    return state::leading;
  if (leader_.now() == leading::averaging
      || follower_.now() == following::averaging)
    return state::busy;
  if (follower_.now() == following::freezing)
    return state::freezing;
  return follower_.now() == following::answered ? state::answered : state::idle;
}

matchmaker::actions matchmaker::settled(actions x) {
  if (now() == state::idle)
    own_.reset();
  return x;
}

matchmaker::actions matchmaker::begin(const group_id& group,
                                      std::vector<invitee> invitees,
                                      leading_orders orders) {
  if (now() != state::idle)
    throw std::logic_error{"A peer leads one group at a time."};
  for (auto& x : invitees)
    x.made_step = order_.made(x.who.id);
  return leader_.begin({group, step_ + 1, held_}, invitees, std::move(orders));
}

matchmaker::actions matchmaker::frozen(std::uint64_t samples, double loss_sum) {
  if (now() != state::leading && now() != state::freezing)
    return {};
  own_ = figures{samples, loss_sum};
  return settled(leads() ? leader_.frozen(own_answer())
                         : follower_.frozen(own_answer()));
}

matchmaker::actions matchmaker::receive(const peer_id& from,
                                        const matchmaking_message& what) {
  return settled(std::visit([&](auto& x) { return on(from, x); }, what));
}

std::string matchmaker::objection_to(const peer_id& from,
                                     const group_invite& x) const {
  if (now() == state::busy)
    return "busy averaging";
  if (role_ != role::trainer)
    return {};
  if (x.step != step_ + 1)
    return "at step " + std::to_string(step_ + 1) + ", not "
           + std::to_string(x.step);
  if (x.state != held_)
    return "another state before step " + std::to_string(x.step);
  if (!order_.follows(from))
    return "it is not your turn to lead";
  return {};
}

matchmaker::actions matchmaker::on(const peer_id& from, const group_invite& x) {
  if (auto reason = objection_to(from, x); !reason.empty())
    return {decline(from, x.group, reason)};
  if (leads() && order_.before(self_, from))
    // Whoever leads itself has lost our invitation with its memory.
    return joined({decline(from, x.group, "leading a group itself")},
                  leader_.remind(from));
  const auto& followed = follower_.leader();
  const bool stays
      = prefers(followed, from)
        || (!prefers(from, followed) && order_.before(followed, from));
  if (!followed.empty() && stays)
    return {decline(from, x.group, "following " + short_name(followed))};
  auto cancelled = leader_.give_up("following " + short_name(from));
  auto own = own_ ? std::make_optional(own_answer()) : std::nullopt;
  return joined(std::move(cancelled),
                follower_.follow(from, x, std::move(own)));
}

matchmaker::actions matchmaker::on(const peer_id& from, const group_answer& x) {
  // It waits for a contract that a predecessor of this peer's would have
  // written, or that is written without it.
  if (x.accepted && x.group != group())
    return {send_to_peer{from, group_cancel{x.group, "no longer invited"}}};
  // Its contract may be lost on the way, and the leader has left the round.
  if (!x.accepted && (now() == state::freezing || now() == state::answered))
    return follower_.cancelled(from, {x.group, x.reason});
  if (now() != state::busy)
    return leader_.answered(from, x);
  // Whether `from` is a member at all is for the round to know.
  if (x.accepted || x.group != group())
    return {};
  return {member_declined{x.group, from, x.reason}};
}

matchmaker::actions matchmaker::on(const peer_id& from, const group_start& x) {
  if (now() == state::busy && x.contract.group == group())
    return {}; // Begun already.
  return follower_.started(from, x.contract);
}

matchmaker::actions matchmaker::on(const peer_id& from, const group_cancel& x) {
  return follower_.cancelled(from, x);
}

matchmaker::actions matchmaker::lost(const peer_id& peer) {
  return settled(leads() ? leader_.lost(peer) : follower_.lost(peer));
}

matchmaker::actions matchmaker::expired() {
  return settled(leads() ? leader_.expired() : follower_.expired());
}

matchmaker::actions matchmaker::finished() {
  return settled(leads() ? leader_.finished() : follower_.finished());
}

matchmaker::actions matchmaker::forgotten() {
  if (now() != state::leading)
    return settled(follower_.forgotten());
  const std::string reason = "its gradient is gone";
  const auto group = leader_.group();
  return settled(
      joined(leader_.give_up(reason), {release_gradient{group, reason}}));
}

} // namespace potluck
