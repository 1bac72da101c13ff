#include "actors/registrar.hpp"

#include "actors/behavior.hpp"
#include "actors/charter_mail.hpp"
#include "actors/guest_list.hpp"
#include "runtime/fault_points.hpp"

namespace potluck {

void registrar_state::init(registrar_actor::pointer self,
                           registrar_config config) {
  self_ = self;
  config_ = std::move(config);
  founding::settings how;
  how.self = config_.self;
  how.run = config_.run;
  how.manifest = *config_.manifest;
  how.can_found = config_.propose != nullptr;
  how.names_others = config_.has_seeds;
  how.met_others = config_.has_hints;
  how.demanded = config_.demanded;
  founding_.emplace(std::move(how), config_.known, now());
}

void registrar_state::on(const registrar_handles& w) {
  if (!wired_.roster)
    self_->send(self_, tick{});
  wired_ = w;
  carry_out(founding_->begin(now()));
}

void registrar_state::on(const letter& x) {
  if (auto request = std::get_if<charter_request>(&x.content)) {
    const bool answers = !strikes(fault_point::charter_not_yet)
                         && founding_->answers(request->run);
    if (answers && !pauses_.answers(x.from, now()))
      return;
    auto answer = answers ? founding_->answer(request->run) : std::string{};
    if (!shown_ || *shown_ != answer)
      shown_ = std::make_shared<const std::string>(std::move(answer));
    post(self_, wired_.letters,
         parcel{x.from, charter_reply{request->token}, body_of(shown_)});
  } else if (std::holds_alternative<charter_reply>(x.content)) {
    carry_out(founding_->answered(x.from, text_of(x.body), now()));
  }
}

void registrar_state::on(const peer_joined& x) {
  if (x.role != role::expert)
    founding_->joined(x.who, x.role, x.charter, x.is_hub, now());
}

void registrar_state::on(const proposal_ready& x) {
  thread_.reset();
  carry_out(founding_->proposed(x.proposed, now()));
}

void registrar_state::on(const proposal_failed& x) {
  thread_.reset();
  carry_out(founding_->proposal_failed(x.sentence));
}

void registrar_state::on(const tick&) {
  carry_out(founding_->look(now()));
  if (founding_->over())
    return;
  if (config_.shows_status && !founding_->waiting().empty()) {
    run_status status;
    status.peers = static_cast<std::uint32_t>(founding_->lines()) + 1;
    status.trouble = founding_->waiting();
    self_->send(wired_.observer, std::move(status));
  }
  self_->delayed_send(self_, limits::registrar_interval, tick{});
}

void registrar_state::carry_out(founding::actions all) {
  for (auto& x : all)
    std::visit([this](const auto& y) { carry_out(y); }, x);
}

void registrar_state::carry_out(const ask_for_charter& x) {
  post(self_, wired_.letters,
       parcel{x.whom, charter_request{0, config_.run}, {}});
}

void registrar_state::carry_out(const show_phase& x) {
  own_report mine;
  mine.report.phase = x.what;
  mine.urgent = true;
  self_->send(wired_.roster, mine);
}

void registrar_state::carry_out(const begin_proposal&) {
  thread_ = std::make_unique<worker>(config_.mode);
  auto outbox = caf::actor_cast<registrar_actor>(self_);
  thread_->post([propose = config_.propose, outbox] {
    try {
      caf::anon_send(outbox, proposal_ready{propose()});
    } catch (const std::exception& e) {
      caf::anon_send(outbox, proposal_failed{e.what()});
    }
  });
}

void registrar_state::carry_out(const take_charter& x) {
  *config_.manifest = founding_->manifest();
  self_->send(wired_.gateway, charter_known{x.what.digest(), x.what.table()});
  own_report mine;
  mine.report.charter = x.what.digest();
  mine.urgent = true;
  self_->send(wired_.roster, mine);
  self_->send(wired_.supervisor, charter_agreed{x.what, x.founded});
}

void registrar_state::carry_out(const give_up_run& x) {
  self_->send(wired_.observer, peer_over{x.sentence, true});
}

void registrar_state::carry_out(const say_of_founding& x) {
  self_->send(wired_.observer, fault_news(x.what, x.sentence));
}

registrar_actor::behavior_type
registrar(registrar_actor::stateful_pointer<registrar_state> self,
          registrar_config config) {
  return behave<registrar_actor, registrar_state>(self, std::move(config));
}

} // namespace potluck
