#include "actors/authority.hpp"

#include <utility>

#include "actors/behavior.hpp"
#include "actors/guest_list.hpp"
#include "runtime/strangers/home_of.hpp"

namespace potluck {

void authority_state::init(authority_actor::pointer self,
                           authority_office config) {
  self_ = self;
  config_ = std::move(config);
  thread_ = std::make_unique<worker>(config_.mode);
}

void authority_state::on(const letter& x) {
  auto request = std::get_if<admission_request>(&x.content);
  if (!request || waiting_.size() >= limits::claims_waiting)
    return;
  waiting_.push_back({x.from, *request});
  take_up();
}

void authority_state::take_up() {
  if (busy_ || waiting_.empty())
    return;
  busy_ = true;
  auto outbox = caf::actor_cast<authority_actor>(self_);
  thread_->post([desk = config_.desk, now = config_.wall_clock(), outbox,
                 claims = std::exchange(waiting_, {})]() mutable {
    caf::anon_send(outbox,
                   claims_answered{desk->look_at(std::move(claims), now)});
  });
}

void authority_state::on(const claims_answered& x) {
  busy_ = false;
  const auto& all = x.outcome;
  if (!all.trouble.empty() && all.trouble != trouble_)
    self_->send(wired_.observer, fault_news("book", all.trouble));
  trouble_ = all.trouble;
  for (const auto& [to, reply] : all.answers)
    answer(to, reply);
  for (const auto& claim : all.to_vet)
    vet(claim);
  take_up();
}

void authority_state::answer(const peer_id& to, admission_reply reply) {
  // Refusals only: grants are in the book, and renewals are many.
  if (reply.admission.empty())
    self_->send(wired_.observer,
                event{"refused",
                      {{"peer", short_name(to)}, {"detail", reply.sentence}}});
  post(self_, wired_.letters, parcel{to, std::move(reply), {}});
}

void authority_state::on(const peer_joined& x) {
  homes_[x.who.id] = home_of(x.who.where.host);
}

void authority_state::on(const peer_left& x) {
  homes_.erase(x.id);
  to_vet_.left(x.id);
}

void authority_state::vet(authority_desk::claim x) {
  const auto home = homes_.find(x.from);
  if (home == homes_.end() || programs_.count(x.from) != 0)
    return; // It has left, or has asked before.
  to_vet_.add(std::move(x), home->second);
  start_programs();
}

void authority_state::start_programs() {
  while (programs_.size() < limits::claim_programs) {
    auto x = to_vet_.next();
    if (!x)
      return;
    auto& program = programs_[x->from];
    program = std::make_unique<worker>(config_.mode);
    auto outbox = caf::actor_cast<authority_actor>(self_);
    program->post([asks = config_.asks, x = std::move(*x), outbox] {
      const auto claim = read_claim(x.what.claim);
      const auto said = claim ? asks(x.from, claim->words) : false;
      caf::anon_send(outbox, said ? claim_vetted{x, *said}
                                  : claim_vetted{x, false, said.error()});
    });
  }
}

void authority_state::on(const claim_vetted& x) {
  programs_.erase(x.claim.from);
  start_programs();
  if (!x.trouble.empty() && x.trouble != program_trouble_)
    self_->send(wired_.observer, fault_news("program", x.trouble));
  program_trouble_ = x.trouble;
  if (!x.trouble.empty())
    return; // As with the book: that peer asks again.
  if (!x.yes)
    return answer(x.claim.from,
                  {x.claim.what.token,
                   {},
                   "The authority's own check did not let this peer in; look "
                   "at the claim that it sent, or ask the organiser."});
  waiting_.push_back({x.claim.from, x.claim.what, true});
  take_up();
}

authority_actor::behavior_type
authority(authority_actor::stateful_pointer<authority_state> self,
          authority_office config) {
  return behave<authority_actor, authority_state>(self, std::move(config));
}

} // namespace potluck
