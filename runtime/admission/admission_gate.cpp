#include "runtime/admission/admission_gate.hpp"

#include <algorithm>
#include <utility>

namespace potluck {

namespace {

using lock = std::lock_guard<std::mutex>;

} // namespace

admission_gate::admission_gate(const peer_id& self, const std::string& run,
                               shared_signatures how, clock wall_clock)
    : self_(self), run_key_(run), run_(id_in(run)), how_(std::move(how)),
      wall_clock_(std::move(wall_clock)) {
}

std::uint64_t admission_gate::now_ms() const {
  return wall_clock_() + static_cast<std::uint64_t>(behind_ms_.load());
}

admission_scene admission_gate::scene() const {
  return {run_, rules_, now_ms(), organisers_};
}

admission_gate::shown admission_gate::judge(const peer_id& who,
                                            const std::string& bytes) const {
  if (bytes.empty())
    return {bytes, 0, "has none"};
  auto x = read_admission(bytes);
  if (!x)
    return {bytes, 0, x.error()};
  auto problem = how_ ? problem_with(*x, who, scene(), *how_)
                      : "cannot be checked without keys";
  if (how_ && x->is_voucher() && banned_.count(how_->owner_of(x->issuer)) != 0)
    problem = "is a voucher of a banned peer";
  const auto until = x->expiry_ms + clock_tolerance_ms(*x);
  return {bytes, problem.empty() ? until : 0, std::move(problem)};
}

void admission_gate::lay_down(const admission_rules& rules) {
  lock guard{mutex_};
  if (run_.empty() || known_)
    return;
  known_ = true;
  rules_ = rules;
  look_again();
}

void admission_gate::look_again() {
  for (auto& [who, x] : guests_)
    x = judge(who, x.bytes);
  if (rules_.closed() && !own_.empty() && judge(self_, own_).until_ms == 0)
    own_.clear();
  closed_ = rules_.closed();
}

void admission_gate::organisers_are(std::vector<public_key> keys) {
  lock guard{mutex_};
  if (organisers_ == keys)
    return;
  organisers_ = std::move(keys);
  if (known_)
    look_again();
}

void admission_gate::amend(admission_rules::mode how) {
  lock guard{mutex_};
  if (!known_ || rules_.authority.id.empty() || rules_.how == how)
    return;
  rules_.how = how;
  look_again();
}

admission_rules admission_gate::rules() const {
  lock guard{mutex_};
  return rules_;
}

void admission_gate::passes_for(const std::map<std::string, passed_run>& runs) {
  for (const auto& [run, x] : runs) {
    auto& gate = passed_[run];
    gate = std::make_unique<admission_gate>(self_, run, how_,
                                            [this] { return now_ms(); });
    gate->organisers_are(x.organisers);
    gate->lay_down(x.rules);
  }
}

bool admission_gate::passes(const peer_id& who, const std::string& run) const {
  if (passed_.empty())
    return admits(who);
  if (const auto at = passed_.find(run); at != passed_.end())
    return at->second->admits(who);
  return std::any_of(passed_.begin(), passed_.end(),
                     [](auto& x) { return !x.second->closed(); });
}

std::string admission_gate::take(const std::string& bytes) {
  lock guard{mutex_};
  if (known_) {
    if (auto x = judge(self_, bytes); x.until_ms == 0)
      return x.problem;
  } else {
    const auto x = read_admission(bytes);
    if (!x)
      return x.error();
    if (x->holder != self_ || x->run != run_)
      return "is for another peer or run";
    if (now_ms() > x->expiry_ms)
      return "has expired";
  }
  own_ = bytes;
  return "";
}

std::string admission_gate::own() const {
  lock guard{mutex_};
  return own_;
}

std::chrono::milliseconds admission_gate::own_left() const {
  const auto x = read_admission(own());
  const auto now = now_ms();
  return std::chrono::milliseconds{x && x->expiry_ms > now ? x->expiry_ms - now
                                                           : 0};
}

std::chrono::milliseconds admission_gate::own_life() const {
  const auto x = read_admission(own());
  return std::chrono::milliseconds{x ? x->life_ms() : 0};
}

bool admission_gate::is_inside() const {
  if (!closed_)
    return true;
  lock guard{mutex_};
  return counts(judge(self_, own_));
}

admission_gate::standing admission_gate::of(const peer_id& who) const {
  if (!closed_)
    return standing::open;
  lock guard{mutex_};
  const auto at = guests_.find(who);
  return at != guests_.end() && counts(at->second) && banned_.count(who) == 0
             ? standing::inside
             : standing::outside;
}

std::string admission_gate::show(const peer_id& who, const std::string& bytes) {
  for (auto& [run, gate] : passed_)
    static_cast<void>(gate->show(who, bytes)); // It may be of another one.
  lock guard{mutex_};
  if (!known_ || !rules_.closed()) {
    if (bytes.empty()) // As of most that are at a bootstrap.
      guests_.erase(who);
    else
      guests_[who].bytes = bytes;
    return "";
  }
  auto& x = guests_[who];
  auto fresh = judge(who, bytes);
  const auto problem = fresh.problem;
  if (!problem.empty() && !bytes.empty())
    ++refused_;
  if (problem.empty() || !counts(x))
    x = std::move(fresh);
  return problem;
}

std::string admission_gate::sentence_for(const peer_id& who) const {
  lock guard{mutex_};
  const auto at = guests_.find(who);
  const std::string why = banned_.count(who) != 0      ? "is banned"
                          : at == guests_.end()        ? "has none"
                          : at->second.problem.empty() ? "has expired"
                                                       : at->second.problem;
  return "Run '" + shown_run(run_key_)
         + "' takes an admission of its authority "
         + short_name(rules_.authority.id) + ", and "
         + (why == "is banned"  ? "peer " + short_name(who) + " is banned"
            : why == "has none" ? "peer " + short_name(who) + " has shown none"
                                : "that of peer " + short_name(who)
                                      + " does not count: it " + why)
         + "; join with an invitation of the authority.";
}

void admission_gate::left(const peer_id& who) {
  for (auto& [run, gate] : passed_)
    gate->left(who);
  lock guard{mutex_};
  guests_.erase(who);
}

void admission_gate::ban(const peer_id& who) {
  lock guard{mutex_};
  banned_.insert(who);
  if (known_)
    look_again();
}

} // namespace potluck
