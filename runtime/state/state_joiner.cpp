#include "runtime/state/state_joiner.hpp"

#include <algorithm>
#include <utility>

#include "runtime/config.hpp"
#include "runtime/random.hpp"

namespace potluck {

state_joiner::state_joiner(const peer_id& self, bounds most)
    : self_(self), most_(most), plan_(most.plan) {
}

// ---- beginning --------------------------------------------------------------

void state_joiner::begin(fetch_goal goal, time_point now) {
  if (busy())
    end(now);
  expire_distrust(now);
  goal_ = std::move(goal);
  if (goal_.alone || distrusts(goal_.relay))
    goal_.relay = {};
  relay_is_donor_
      = std::find(goal_.donors.begin(), goal_.donors.end(), goal_.relay)
        != goal_.donors.end();
  relay_alone_ = relay_late_ = false;
  began_ = now;
  bytes_ = means_applied_ = 0;
  given_.clear();
  history_lost_ = history_unknown_ = false;
  versions_tried_.clear();
  tries_ = 0;
  known_step_ = goal_.step;
  candidates_ = goal_.donors;
  candidates_.erase(
      std::remove(candidates_.begin(), candidates_.end(), goal_.relay),
      candidates_.end());
  std::sort(candidates_.begin(), candidates_.end());
  random_stream chance{mix(seed_of(self_), goal_.step)};
  chance.shuffle(candidates_);
  stage_ = stage::loading;
  means_only_ = false;
  resumed_ = put_aside_at_ && now - *put_aside_at_ < limits::parked_life
             && transfer_ && version_ > goal_.own_step && !goal_.alone;
  vouchers_ = {};
  if (!goal_.alone)
    for (auto& id : goal_.donors)
      vouchers_.claim(id, goal_.step, goal_.state);
  if (resumed_) {
    goal_.relay = {};
    reached_ = now;
    ask_everybody(now);
    return;
  }
  auto missed = goal_.step - std::min(goal_.own_step, goal_.step);
  if (!goal_.alone && !goal_.own_state.empty() && missed > 0
      && missed <= limits::means_of_a_state) {
    forget_version();
    means_only_ = true;
    version_ = at_ = goal_.own_step;
    version_state_ = goal_.own_state;
    reached_ = now;
    stage_ = stage::applying;
    relay_alone_ = !goal_.relay.empty();
    if (relay_alone_)
      ask(goal_.relay, now);
    ask_everybody(now);
    return;
  }
  start_version(goal_.step, goal_.state, now);
}

/// What nobody who is still there has named is as good as never heard of.
void state_joiner::forget_unheld_means() {
  for (auto i = blobs_.begin(); i != blobs_.end();) {
    auto& [key, b] = *i;
    bool held = std::any_of(b.offers.begin(), b.offers.end(),
                            [](auto& o) { return !o.second.donors.empty(); });
    if (key.state || held || plan_.complete(key)) {
      ++i;
      continue;
    }
    plan_.drop(key);
    for (auto& [listing, o] : b.offers)
      mean_steps_.erase(o.manifest.state);
    i = blobs_.erase(i);
  }
}

void state_joiner::ask(const peer_id& peer, time_point now) {
  auto& x = donors_[peer];
  x = donor{};
  x.token = ++token_;
  x.asked = x.reminded = now;
  state_request wish;
  wish.token = x.token;
  wish.step = version_;
  wish.state = version_state_;
  wish.means_only = means_only_;
  x.lists_only = wish.lists_only
      = means_only_ && relay_alone_ && peer != goal_.relay;
  letters_.push_back({peer, wish, {}});
}

void state_joiner::ask_everybody(time_point now) {
  for (auto& id : candidates_)
    if (!distrusts(id) && (donors_.count(id) || asks_more()))
      ask(id, now);
}

bool state_joiner::asks_more() const {
  return donors_.size()
         < (relay_alone_ ? limits::lists_wanted + 1 : most_.donors);
}

// ---- others -----------------------------------------------------------------

void state_joiner::heard(const peer_id& peer, std::uint64_t step,
                         const digest& state, time_point now) {
  if (distrusts(peer) || !busy())
    return;
  auto known = donors_.find(peer);
  if (goal_.alone) {
    // It reports how far it is, and no state that it could be held to.
    if (known != donors_.end() && !reached_ && step >= version_)
      reached_ = now;
    return;
  }
  // Those of another history have no say in ours.
  if ((known != donors_.end() && known->second.said == answer::serves)
      || std::find(goal_.donors.begin(), goal_.donors.end(), peer)
             != goal_.donors.end())
    vouchers_.claim(peer, step, state);
  if (!reached_ && step >= version_)
    reached_ = now;
  relay_is_donor_ = relay_is_donor_ || peer == goal_.relay;
  if (step < version_ + means_only_ || known != donors_.end())
    return;
  if (std::find(candidates_.begin(), candidates_.end(), peer)
      == candidates_.end())
    candidates_.push_back(peer);
  if (asks_more())
    ask(peer, now);
}

void state_joiner::lost(const peer_id& peer, time_point now) {
  vouchers_.forget(peer);
  plan_.drop_donor(peer);
  donors_.erase(peer);
  candidates_.erase(std::remove(candidates_.begin(), candidates_.end(), peer),
                    candidates_.end());
  for (auto& [key, b] : blobs_)
    for (auto& [listing, o] : b.offers)
      o.donors.erase(peer);
  if (busy())
    look(now);
}

void state_joiner::read(const peer_id& from, const state_manifest& x,
                        time_point now) {
  auto at = donors_.find(from);
  if (!busy() || at == donors_.end() || x.token != at->second.token)
    return;
  auto& d = at->second;
  if (from == goal_.relay) {
    if (x.available && x.mean)
      listed_by_relay(x);
    else
      do_without_relay();
  } else if (x.available) {
    if (!x.mean || means_only_)
      d.said = answer::serves;
    vote(from, x, now);
  } else if (x.retry_ms > 0) {
    d.said = answer::busy;
    d.retry = now + std::chrono::milliseconds{x.retry_ms};
  } else {
    d.said = answer::declines;
    d.step = x.step;
    d.offered = x.offered;
    // Who has gone on since may decline; who is where it said it was lied.
    if (version_ == goal_.step && version_state_ == goal_.state
        && !goal_.state.empty() && x.step <= goal_.step
        && std::find(goal_.donors.begin(), goal_.donors.end(), from)
               != goal_.donors.end())
      ban(from, "it does not have the state that it reports", now);
  }
  look(now);
}

// ---- looking around ---------------------------------------------------------

void state_joiner::look(time_point now) {
  if (!busy())
    return;
  expire_distrust(now);
  for (auto& [id, d] : donors_) {
    if (d.said == answer::busy && now >= d.retry) {
      ask(id, now);
    } else if (d.said != answer::busy
               && now - d.reminded >= limits::joiner_sign_of_life) {
      d.reminded = now;
      letters_.push_back({id,
                          state_request{d.token, version_, version_state_,
                                        means_only_, d.lists_only},
                          {}});
    }
  }
  for (auto& late : plan_.expire(now))
    relay_late_ = relay_late_ || late.donor == goal_.relay;
  if (relay_late_ || donors_.count(goal_.relay) == 0)
    ask_for_pieces(now);
  else if (relay_is_donor_ && donors_.size() == 1
           && now - began_ > limits::chain_patience)
    take_relay_as_donor(now);
  forget_unheld_means();
  add_holders(now);
  decide(now);
  if (busy())
    advance(now);
  if (busy())
    request_pieces(now);
}

// ---- what the trainer has ---------------------------------------------------

void state_joiner::applied(std::uint64_t step, const digest& state,
                           time_point now) {
  if (!busy() || !awaited_ || step != awaited_->first)
    return;
  if (state != awaited_->second) {
    auto key = blob_key{false, step};
    auto at = blobs_.find(key);
    if (at != blobs_.end())
      ban_all(at->second.offers[at->second.chosen].donors,
              "its mean did not lead to the state that it named", now);
    fail("a mean did not lead to the state that it should", now);
    return;
  }
  awaited_.reset();
  at_ = step;
  if (step > version_) {
    ++means_applied_;
    plan_.drop({false, step});
    blobs_.erase({false, step});
    mean_steps_.erase(state);
  }
  look(now);
}

void state_joiner::refused(const std::string& why, time_point now) {
  if (busy() && awaited_)
    fail(why, now);
}

void state_joiner::advance(time_point now) {
  std::uint64_t held = 0;
  std::size_t count = 0;
  for (auto& [key, b] : blobs_)
    if (!key.state) {
      held += goal_.values * sizeof(float);
      ++count;
    }
  if (held > most_.mean_bytes || count > most_.means) {
    fail("more steps passed than this peer can keep the means of; it starts "
         "again at a newer version",
         now);
    return;
  }
  auto next = stage_ == stage::applying ? at_ + 1 : version_ + 1;
  auto key = blob_key{false, next};
  // Everybody who could tells of later means only.
  auto last = blobs_.upper_bound({false, ~std::uint64_t{0}});
  bool later = false;
  for (auto i = blobs_.upper_bound(key); i != last; ++i)
    later = later || !i->second.chosen.empty();
  auto asked = std::any_of(donors_.begin(), donors_.end(), [this](auto& x) {
    return x.first != goal_.relay
           && (x.second.said == answer::none || x.second.said == answer::busy);
  });
  if (later && !asked && !blobs_.count(key)) {
    fail("the mean of step " + std::to_string(next)
             + " can no longer be had; a newer version is fetched",
         now);
    return;
  }
  if (stage_ != stage::applying || awaited_)
    return;
  if (plan_.complete(key)) {
    auto& b = blobs_.at(key);
    auto manifest = *chosen(key);
    mean_job_ = mean_job{next, manifest.samples, b.values};
    awaited_ = {next, manifest.state};
    return;
  }
  if (later || blobs_.count(key) || (means_only_ && at_ < goal_.step))
    return;
  fetch_result news;
  for (auto& [id, bytes] : given_)
    if (news.donor.empty() || bytes > given_.at(news.donor))
      news.donor = id;
  news.donors = given_.size();
  news.step = at_;
  news.means = means_applied_;
  news.whole_state = !means_only_;
  news.bytes = bytes_;
  news.seconds = std::chrono::duration<double>(now - began_).count();
  news.own_history_lost = history_lost_;
  news.own_history_unknown = history_unknown_;
  result_ = news;
  end(now);
  forget_version();
}

// ---- ending -----------------------------------------------------------------

void state_joiner::end(time_point) {
  for (auto& [id, d] : donors_) {
    plan_.drop_donor(id);
    letters_.push_back({id, state_done{}, {}});
  }
  donors_.clear();
  for (auto& [key, b] : blobs_)
    for (auto& [listing, o] : b.offers)
      o.donors.clear();
  stage_ = stage::idle;
  state_job_.reset();
  mean_job_.reset();
}

void state_joiner::put_aside(time_point now) {
  bool worth = stage_ == stage::loading && transfer_
               && transfer_->missing() < transfer_->pieces();
  end(now);
  if (!worth) {
    forget_version();
    return;
  }
  version_state_ = transfer_->manifest().state;
  if (!put_aside_at_)
    put_aside_at_ = now;
}

void state_joiner::cancel(time_point now) {
  if (busy())
    put_aside(now);
}

void state_joiner::fail(const std::string& reason, time_point now, bool keep) {
  if (keep) {
    put_aside(now);
  } else {
    end(now);
    forget_version();
  }
  failure_ = fetch_failure{reason, keep};
}

void state_joiner::expire_distrust(time_point now) {
  for (auto i = distrusted_.begin(); i != distrusted_.end();)
    i = i->second <= now ? distrusted_.erase(i) : std::next(i);
}

// ---- what is to be done -----------------------------------------------------

std::vector<state_letter> state_joiner::take_letters() {
  return std::exchange(letters_, {});
}
std::vector<fetch_fault> state_joiner::take_faults() {
  return std::exchange(faults_, {});
}
std::vector<coming_mean> state_joiner::take_listed() {
  return std::exchange(listed_, {});
}
std::vector<coming_piece> state_joiner::take_placed() {
  return std::exchange(placed_, {});
}
std::shared_ptr<training_state> state_joiner::take_state() {
  return std::exchange(state_job_, nullptr);
}
std::optional<state_joiner::mean_job> state_joiner::take_mean() {
  return std::exchange(mean_job_, std::nullopt);
}
std::optional<fetch_result> state_joiner::take_result() {
  return std::exchange(result_, std::nullopt);
}
std::optional<fetch_failure> state_joiner::take_failure() {
  return std::exchange(failure_, std::nullopt);
}

double state_joiner::part() const {
  if (stage_ == stage::applying)
    return 1;
  auto [placed, all] = plan_.progress({true, version_});
  return all == 0 ? 0 : static_cast<double>(placed) / all;
}

std::size_t state_joiner::means_held() const {
  std::size_t count = 0;
  for (auto& [key, b] : blobs_)
    count += !key.state && plan_.complete(key);
  return count;
}

} // namespace potluck
