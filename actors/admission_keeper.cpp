#include "actors/admission_keeper.hpp"

#include <utility>

#include "actors/behavior.hpp"
#include "actors/guest_list.hpp"
#include "messages/codec.hpp"
#include "runtime/membership/bootstrap_record.hpp"

namespace potluck {

void admission_keeper_state::init(admission_keeper_actor::pointer self,
                                  admission_keeper_config config) {
  self_ = self;
  config_ = std::move(config);
  course_.emplace(config_.papers.authority);
  if (!config_.papers.path.empty())
    thread_ = std::make_unique<worker>(config_.mode, 0, worker_end::runs_them);
  known_ = config_.known;
  if (config_.gate->closed())
    course_->authority_is(config_.gate->rules().authority);
  for (const auto* x :
       {&config_.papers.kept.token, &config_.papers.kept.voucher})
    take_if_longer(*x);
  self_->send(self_, tick{});
}

void admission_keeper_state::take_if_longer(const std::string& kept) {
  auto& gate = *config_.gate;
  const auto before = gate.own();
  const auto left = gate.own_left();
  // What is of no use any more is asked for anew.
  if (!kept.empty() && gate.take(kept).empty() && gate.own_left() < left)
    static_cast<void>(gate.take(before));
}

void admission_keeper_state::on(const admission_handles& w) {
  wired_ = w;
}

void admission_keeper_state::on(const peer_joined& x) {
  if (x.clock_ahead_ms) {
    swarm_.says(x.who, *x.clock_ahead_ms, x.was_dialled);
    config_.gate->clock_is_behind(swarm_.ahead_ms());
  }
  if (x.was_dialled && !x.seen_host.empty())
    seen_host_ = x.seen_host;
  using guest = admission_course::guest;
  // The gate has others take an outsider for a bootstrap.
  const bool member = x.role == role::trainer || x.role == role::auxiliary;
  course_->joined(x.who.id, member                 ? guest::member
                            : x.run == config_.run ? guest::outsider
                                                   : guest::other);
  look();
}

void admission_keeper_state::on(const records_looked_up& x) {
  for (auto& record : x.records)
    if (auto who = bootstrap_record::read(record);
        who && may_knock(seen_host_, who->where.host))
      course_->found(*who);
  look();
}

void admission_keeper_state::on(const peer_left& x) {
  course_->left(x.id);
  swarm_.left(x.id);
}

void admission_keeper_state::on(const charter_agreed&) {
  known_ = true;
  const auto rules = config_.gate->rules();
  if (rules.closed())
    course_->authority_is(rules.authority);
  // Whom the others are to be depends on the rules.
  self_->send(wired_.gateway, admission_news{config_.self});
  look();
}

void admission_keeper_state::on(const tick&) {
  if (wired_.gateway)
    look();
  self_->delayed_send(self_, limits::admission_interval, tick{});
}

admission_course::standing admission_keeper_state::standing() const {
  const auto& gate = *config_.gate;
  admission_course::standing result;
  result.needed = known_ ? gate.closed() : !course_->authority().id.empty();
  result.left = gate.own_left();
  result.life = gate.own_life();
  result.may_be_vouched_for = gate.closed() && gate.rules().vouchers
                              && !config_.papers.kept.token.empty();
  return result;
}

void admission_keeper_state::look() {
  for (auto& x : course_->look(standing(), now()))
    std::visit([this](const auto& y) { carry_out(y); }, x);
  heed_refusal();
}

void admission_keeper_state::carry_out(const admission_course::dial& x) {
  self_->send(wired_.gateway, dial_contact{x.who});
}

void admission_keeper_state::carry_out(const admission_course::look_up& x) {
  if (wired_.router)
    self_->send(wired_.router,
                look_up_records{bootstrap_record::key_of_authority(x.whom),
                                caf::actor_cast<admission_keeper_actor>(self_),
                                {},
                                0,
                                true});
}

void admission_keeper_state::carry_out(const admission_course::ask& x) {
  auto claim = config_.papers.claim;
  if (x.to_vouch)
    claim = {{}, {}, {}, config_.papers.kept.token};
  post(self_, wired_.letters,
       parcel{x.whom, admission_request{1, config_.run, to_bytes(claim)}, {}});
}

void admission_keeper_state::carry_out(const admission_course::say& x) {
  fault(course_->authority().id, "no admission", x.sentence);
}

void admission_keeper_state::fault(const peer_id& who, const char* what,
                                   const std::string& detail) {
  self_->send(wired_.observer, fault_news(who, what, detail));
}

// ---- letters ----------------------------------------------------------------

void admission_keeper_state::on(const letter& x) {
  if (auto request = std::get_if<admission_request>(&x.content))
    read(x.from, *request);
  else if (auto reply = std::get_if<admission_reply>(&x.content))
    read(x.from, *reply);
}

void admission_keeper_state::read(const peer_id& from,
                                  const admission_reply& x) {
  if (!course_->awaited(from))
    return; // Nobody has asked.
  if (!x.admission.empty())
    return accept(from, x.admission);
  if (from != course_->authority().id)
    return; // The next member is asked.
  if (std::exchange(refusal_, x.sentence) != x.sentence)
    fault(from, "no admission", x.sentence);
  if (config_.gate->own_left().count() > 0)
    return; // It is asked again until the end.
  if (refused_at_ == time_point{})
    refused_at_ = now();
  heed_refusal();
}

void admission_keeper_state::heed_refusal() {
  if (refused_at_ == time_point{} || config_.gate->own_left().count() > 0)
    return;
  // The organiser may have opened the run since it was created.
  if (known_ ? !config_.gate->closed()
             : now() - refused_at_ < limits::before_complaint)
    return;
  self_->send(wired_.observer,
              peer_over{"The authority of run '" + shown_run(config_.run)
                            + "' does not admit this peer: " + refusal_,
                        true});
  refused_at_ = {};
}

void admission_keeper_state::accept(const peer_id& from,
                                    const std::string& bytes) {
  if (auto problem = config_.gate->take(bytes); !problem.empty()) {
    if (faulty_.insert(from).second)
      fault(from, "bad admission",
            "what peer " + short_name(from) + " gave as an admission " + problem
                + "; it is asked again later");
    return;
  }
  course_->granted();
  refusal_.clear();
  refused_at_ = {};
  auto& kept = config_.papers.kept;
  if (from == course_->authority().id)
    kept = {bytes, {}};
  else
    kept.voucher = bytes;
  keep();
  self_->send(wired_.gateway, admission_news{config_.self});
  self_->send(wired_.supervisor, run_entered{});
  if (std::exchange(admitted_by_, from) == from)
    return;
  self_->send(wired_.observer,
              event{"admission",
                    {{"by", short_name(from)},
                     {"seconds", std::uint64_t(config_.gate->own_left().count()
                                               / 1000)}}});
}

void admission_keeper_state::read(const peer_id& from,
                                  const admission_request& x) {
  admission_reply reply{x.token, {}, {}};
  if (x.run == config_.run) {
    reply.sentence = vouch(from, x.claim, reply.admission);
  } else {
    reply.sentence = "This peer is of another run.";
  }
  post(self_, wired_.letters, parcel{from, std::move(reply), {}});
}

std::string admission_keeper_state::vouch(const peer_id& whom,
                                          const std::string& claim,
                                          std::string& out) {
  const auto& gate = *config_.gate;
  const auto rules = gate.rules();
  if (!gate.closed() || !rules.vouchers || !config_.signs)
    return "This run takes no vouchers.";
  if (course_->authority_is_here())
    return "The run's authority " + short_name(rules.authority.id)
           + " answers; ask it for an admission.";
  const admission_scene at{gate.run(), rules, gate.now_ms()};
  const auto own = read_admission(config_.papers.kept.token);
  if (!own
      || !problem_with_backing(*own, config_.self, at, *config_.signs).empty())
    return "This peer has no token of the authority itself.";
  const auto theirs = read_claim(claim);
  if (!theirs)
    return "The claim " + theirs.error() + ".";
  const auto last = read_admission(theirs->last);
  const auto problem
      = last ? problem_with_backing(*last, whom, at, *config_.signs)
             : last.error();
  if (!problem.empty())
    return "The last token that was shown does not do for a voucher: it "
           + problem + ".";
  const auto moment = now();
  for (auto i = vouched_.begin(); i != vouched_.end();)
    i = moment - i->second >= limits::voucher_pause ? vouched_.erase(i)
                                                    : std::next(i);
  if (!vouched_.emplace(whom, moment).second)
    return "This peer has just been vouched for.";
  const auto life = static_cast<std::uint64_t>(
      std::chrono::milliseconds{limits::voucher_life}.count());
  out = to_bytes(issue({gate.run(),
                        whom,
                        at.now_ms,
                        at.now_ms + life,
                        {},
                        config_.papers.kept.token,
                        theirs->last},
                       *config_.signs));
  self_->send(wired_.observer, event{"voucher", {{"for", short_name(whom)}}});
  return "";
}

void admission_keeper_state::keep() {
  if (!thread_)
    return;
  auto* where = config_.papers.where ? config_.papers.where : &local_disk();
  thread_->post([where, path = config_.papers.path,
                 bytes = to_bytes(config_.papers.kept)] {
    // Without it the next start asks the authority.
    static_cast<void>(where->replace(path, {{bytes.data(), bytes.size()}}));
  });
}

admission_keeper_actor::behavior_type admission_keeper(
    admission_keeper_actor::stateful_pointer<admission_keeper_state> self,
    admission_keeper_config config) {
  return behave<admission_keeper_actor, admission_keeper_state>(
      self, std::move(config));
}

} // namespace potluck
