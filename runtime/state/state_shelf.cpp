#include "runtime/state/state_shelf.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/random.hpp"
#include "runtime/state/limits.hpp"
#include "runtime/state/pieces.hpp"

namespace potluck {

state_shelf::state_shelf(const peer_id& self, bounds most, piece_store* store)
    : self_(self), store_(store),
      swarm_(self, {most.plan, most.donors, 0, 0}, store),
      budget_(most.serving) {
}

// ---- which version ----------------------------------------------------------

bool state_shelf::is_wanted(const state_request& x) const {
  return version_ && x.step == version_->step
         && (x.state.empty() || x.state == version_->state);
}

/// Most members at that step hold it, and they and those beyond are no few:
/// newcomers, who are at none yet, say nothing against it.
bool state_shelf::is_vouched_for(const state_request& x) const {
  std::size_t exactly = 0, there = 0, beyond = 0;
  for (auto& [id, holds] : members_) {
    exactly += holds.step == x.step && holds.state == x.state;
    there += holds.step == x.step;
    beyond += holds.step > x.step;
  }
  return !x.state.empty() && 2 * exactly > there
         && limits::newcomers_a_member * (exactly + beyond) >= members_.size();
}

/// What is here is of less use than the means that follow it cost.
bool state_shelf::may_replace(const state_request& x) const {
  if (!version_)
    return true;
  const auto behind = x.step - std::min(x.step, version_->step);
  const bool shared
      = std::any_of(joiners_.begin(), joiners_.end(),
                    [this](auto& y) { return is_wanted(y.second.wish); });
  return behind
         > (shared ? limits::means_of_a_shelf : limits::means_of_a_state);
}

/// What comes of a joiner that has not been answered.
void state_shelf::settle(const peer_id& who, time_point now) {
  const auto wish = joiners_.at(who).wish;
  if (is_wanted(wish))
    return;
  if (is_vouched_for(wish) && may_replace(wish)) {
    begin({wish.step, wish.state}, now);
  } else if (version_) {
    decline(who, wish);
    give_up(who);
  } // Else members may say so in a moment.
}

void state_shelf::begin(const holding& what, time_point now) {
  end_version();
  version_ = what;
  since_ = now;
  swarm_.begin({}, {}, now);
  note(swarm_.ask_for(what.step, what.state, false, now));
  std::map<std::uint64_t, peer_id> ranked;
  for (auto& [id, holds] : members_) {
    swarm_.claim(id, holds.step, holds.state);
    ranked[donor_panel::rank(self_, id)] = id;
  }
  for (auto& [rank, id] : ranked)
    ask(id, now);
}

void state_shelf::ask(const peer_id& member, time_point now) {
  const auto& holds = members_.at(member);
  const bool had
      = holds.step > version_->step
        || (holds.step == version_->step && holds.state == version_->state);
  if (had && !swarm_.find(member) && !swarm_.panel().distrusts(member))
    note(swarm_.add(member, now));
}

/// Members are told that nobody here needs it, joiners that it is not here.
void state_shelf::end_version() {
  if (!version_)
    return;
  note(swarm_.dismiss());
  const auto gone = *std::exchange(version_, std::nullopt);
  std::vector<peer_id> left;
  for (auto& [id, x] : joiners_)
    if (x.wish.step == gone.step)
      left.push_back(id);
  for (auto& id : left) {
    decline(id, joiners_.at(id).wish);
    give_up(id);
  }
  awaited_.clear();
  swarm_.clear();
  idle_.reset();
}

// ---- members ----------------------------------------------------------------

state_actions state_shelf::heard(const peer_id& member, std::uint64_t step,
                                 const digest& state, time_point now) {
  members_[member] = {step, state};
  if (version_) {
    swarm_.claim(member, step, state);
    ask(member, now);
  }
  return joiners_.empty() ? done(now) : look(now);
}

state_actions state_shelf::read(const peer_id& from, const state_manifest& x,
                                time_point now) {
  auto* donor = version_ ? swarm_.find(from) : nullptr;
  if (!donor || donor->wish.token != x.token)
    return {};
  if (x.available) {
    if (x.mean ? x.step <= version_->step
               : x.step != version_->step || x.state != version_->state)
      note(swarm_.ban({from}, "it offers another version than it was asked for",
                      now));
    else {
      if (!x.mean)
        donor->said = donor_panel::answer::serves;
      note(swarm_.name(from, x, now));
    }
  } else if (x.retry_ms > 0) {
    donor->said = donor_panel::answer::busy;
    donor->retry = now + std::chrono::milliseconds{x.retry_ms};
  } else {
    swarm_.declines(from, {x.step, x.offered});
  }
  return look(now);
}

state_actions state_shelf::read(const peer_id& from, const state_piece& x,
                                const shared_bytes& body, time_point now) {
  if (!version_ || !swarm_.find(from))
    return {};
  auto came = swarm_.read(from, x, body, now);
  note(std::move(came.actions));
  if (came.what == blob_download::verdict::placed) {
    const auto name = lists().chosen(came.blob)->manifest.pieces[x.piece];
    if (!store_->has(name)) {
      unwell_ = now;
      end_version();
      return done(now);
    }
    auto waiting = awaited_.extract(name);
    if (waiting)
      for (auto& [id, request] : waiting.mapped())
        queue(id, request, now);
  }
  note(swarm_.request_pieces(now));
  return done(now);
}

/// Of all that is listed.
bool state_shelf::has_room() const {
  std::uint64_t bytes = 0;
  for (auto& [key, x] : lists().chosen())
    bytes += x.what->manifest.bytes;
  return bytes <= store_->bound();
}

/// Whether the version, and what follows it, is still worth keeping.
void state_shelf::judge(time_point now) {
  const auto& panel = swarm_.panel();
  for (auto& id : panel.silent(since_, now))
    swarm_.declines(id, {});
  const auto donors = panel.count();
  const bool whole = swarm_.download().complete({true, version_->step});
  const bool lost = whole ? panel.size() == 0
                          : donors.waiting + donors.serving + donors.busy == 0;
  const bool wanted
      = std::any_of(joiners_.begin(), joiners_.end(),
                    [this](auto& x) { return is_wanted(x.second.wish); });
  if (wanted)
    idle_.reset();
  else if (!idle_)
    idle_ = now;
  if (lost || !has_room() || (idle_ && now - *idle_ > limits::shelf_patience))
    end_version();
}

// ---- joiners ----------------------------------------------------------------

state_actions state_shelf::read(const peer_id& from, const state_request& x,
                                time_point now) {
  if (unwell_ && now - *unwell_ > limits::distrust)
    unwell_.reset();
  auto known = joiners_.find(from);
  if (known != joiners_.end() && known->second.wish.token == x.token) {
    budget_.admit(from, now);
    return done(now);
  }
  budget_.begins_anew(from);
  forget_wish(from);
  if (!store_ || unwell_ || x.means_only || x.lists_only || !admit(from, now)) {
    budget_.forget(from);
    decline(from, x);
    return done(now);
  }
  joiners_[from].wish = x;
  settle(from, now);
  return look(now);
}

bool state_shelf::admit(const peer_id& from, time_point now) {
  if (budget_.admit(from, now))
    return true;
  const auto other = budget_.gives_way(from, now);
  if (!other)
    return false;
  if (const auto known = joiners_.find(*other); known != joiners_.end())
    decline(*other, known->second.wish);
  give_up(*other);
  return budget_.admit(from, now);
}

void state_shelf::decline(const peer_id& who, const state_request& x) {
  state_manifest none;
  none.token = x.token;
  if (version_)
    none.step = none.offered = version_->step;
  say(who, none);
}

/// Whoever waits hears of each list that is believed, once.
void state_shelf::tell_lists() {
  const auto believed = lists().chosen();
  for (auto& [id, x] : joiners_)
    if (is_wanted(x.wish))
      for (auto& [key, list] : believed)
        if (std::exchange(x.told[key], list.listing) != list.listing) {
          auto manifest = list.what->manifest;
          manifest.token = x.wish.token;
          say(id, std::move(manifest));
        }
}

const state_manifest* state_shelf::list_with(const piece_request& x) const {
  const auto key = lists().leading_to(x.state, x.mean);
  const auto* list = key ? lists().chosen(*key) : nullptr;
  return list && x.piece < list->manifest.pieces.size() ? &list->manifest
                                                        : nullptr;
}

const digest* state_shelf::name_of(const piece_request& x) const {
  const auto* list = list_with(x);
  return list ? &list->pieces[x.piece] : nullptr;
}

state_actions state_shelf::read(const peer_id& from, const piece_request& x,
                                time_point now) {
  if (joiners_.count(from) == 0)
    return {};
  const auto* name = name_of(x);
  if (!name)
    say(from, state_piece{x.state, x.piece, x.mean});
  else if (store_->has(*name))
    queue(from, x, now);
  else
    awaited_[*name][from] = x;
  return done(now);
}

void state_shelf::queue(const peer_id& to, const piece_request& x,
                        time_point now) {
  // Since it was asked for, whoever listed it may have left.
  const auto* list = list_with(x);
  if (!list || !budget_.ask(to, x, extent_of(*list, x.piece).size, now))
    say(to, state_piece{x.state, x.piece, x.mean});
}

state_actions state_shelf::read(const peer_id& from, const state_done&,
                                time_point now) {
  give_up(from);
  return done(now);
}

void state_shelf::give_up(const peer_id& who) {
  budget_.forget(who);
  forget_wish(who);
}

void state_shelf::forget_wish(const peer_id& who) {
  joiners_.erase(who);
  for (auto& [name, waiting] : awaited_)
    waiting.erase(who);
}

state_actions state_shelf::lost(const peer_id& who, time_point now) {
  members_.erase(who);
  swarm_.lose(who);
  give_up(who);
  return look(now);
}

// ---- looking around ---------------------------------------------------------

state_actions state_shelf::look(time_point now) {
  if (version_) {
    note(swarm_.look(now - since_, now));
    judge(now);
  }
  std::vector<peer_id> all;
  for (auto& [id, x] : joiners_)
    all.push_back(id);
  for (auto& id : all)
    if (joiners_.count(id) != 0)
      settle(id, now);
  if (version_) {
    tell_lists();
    note(swarm_.request_pieces(now));
  }
  return done(now);
}

void state_shelf::note(state_actions xs) {
  std::move(xs.begin(), xs.end(), std::back_inserter(actions_));
}

void state_shelf::say(const peer_id& to, message what, shared_bytes body) {
  actions_.push_back(state_letter{to, std::move(what), std::move(body)});
}

state_actions state_shelf::done(time_point now) {
  for (auto& id : budget_.expire(now))
    give_up(id);
  while (auto turn = budget_.next(now)) {
    const auto& x = turn->request;
    const auto* name = name_of(x);
    auto bytes = name ? store_->get(*name) : shared_bytes{};
    if (name && bytes.size == 0) // It was damaged: it has to come again.
      swarm_.recount(*lists().leading_to(x.state, x.mean));
    say(turn->joiner, state_piece{x.state, x.piece, x.mean}, std::move(bytes));
  }
  if (version_ || !joiners_.empty())
    actions_.emplace_back(look_again{now + limits::fetch_interval});
  return std::exchange(actions_, {});
}

} // namespace potluck
