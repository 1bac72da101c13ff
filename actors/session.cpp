#include "actors/session.hpp"

#include <algorithm>

#include "actors/behavior.hpp"
#include "actors/letter_kinds.hpp"
#include "messages/codec.hpp"
#include "messages/limits.hpp"
#include "runtime/fault_points.hpp"
#include "runtime/relay/limits.hpp"

namespace potluck {

namespace {

const std::string no_relayed_experts
    = "calls of experts take a direct line, or relay-experts at both ends";

/// Lines of two sides that dial at once come within that time. Later, nobody
/// dials a peer that it is connected with: it has lost what we believe to hold.
constexpr auto twins_apart = std::chrono::seconds{20};

} // namespace

void session_state::init(session_actor::pointer self, session_config config) {
  self_ = self;
  config_ = std::move(config);
  lines_.add(config_.connection);
  last_line_ = self_->clock().now();
  self_->monitor(config_.gateway);
  pulse_.emplace(self_->clock().now());
  letters_.emplace(config_.peer.where.host, config_.homes);
  held_.emplace(config_.held);
  if (config_.gate)
    stands_ = config_.gate->of(config_.peer.id);
  arm();
}

// ---- admission --------------------------------------------------------------

bool session_state::look_at_admission() {
  if (!config_.gate || config_.is_bootstrap)
    return true;
  const auto now = config_.gate->of(config_.peer.id);
  if (std::exchange(stands_, now) != admission_gate::standing::inside
      || now != admission_gate::standing::outside)
    return true;
  const auto why = config_.gate->sentence_for(config_.peer.id);
  transmit(refusal{why});
  end(caf::exit_reason::remote_link_unreachable, why);
  return false;
}

bool session_state::may_pass(const message& x) const {
  return !config_.gate || is_for_everybody(x)
         || config_.gate->admits(config_.peer.id);
}

void session_state::refuse(const message& x) {
  // Its reports are no fault: it may not know yet that it is outside. The same
  // holds for line probes.
  if (is_one_of<progress_report, line_probe>(x) || config_.is_bootstrap)
    return;
  const auto why = config_.gate->sentence_for(config_.peer.id);
  if (auto call = std::get_if<expert_request>(&x))
    transmit(expert_answer{call->number, expert_outcome::failed, why});
  if (std::exchange(said_outside_, true))
    return;
  transmit(refusal{why});
  tell_fault("not admitted", why);
}

void session_state::on_admission(const admission_shown& x) {
  if (!config_.gate || config_.is_bootstrap)
    return;
  const auto problem = config_.gate->show(config_.peer.id, x.admission);
  if (problem.empty())
    self_->send(config_.gateway, admission_news{config_.peer.id});
  else if (wired_.observer)
    self_->send(wired_.observer, event{"fault",
                                       {{"peer", short_name(config_.peer.id)},
                                        {"what", std::string{"bad admission"}},
                                        {"detail", "it " + problem},
                                        {"refused", config_.gate->refused()}}});
}

void session_state::on_down(const caf::down_msg&) {
  // Only the gateway is monitored. Without it no frame can reach us.
  end(caf::exit_reason::remote_link_unreachable, "this peer's gateway ended");
}

void session_state::on(const session_handles& w) {
  wired_ = w;
}

void session_state::on(const connection_added& x) {
  const auto now = self_->clock().now();
  if (lines_.repeats(x.id) && now - last_line_ > twins_apart) {
    config_.network->close(x.id, 0); // It dials again.
    return end(caf::exit_reason::remote_link_unreachable,
               "its lines were lost at its end");
  }
  last_line_ = now;
  for (auto circuit : lines_.add(x.id))
    config_.network->send(circuit, {encode(line_switch{}), {}});
}

void session_state::on(const connection_closed& x) {
  if (lines_.remove(x.id))
    end(caf::exit_reason::remote_link_unreachable, x.reason);
  else
    release();
}

void session_state::on(const frame_arrived& x) {
  const auto now = self_->clock().now();
  pulse_->heard(now);
  if (!lines_.holds(x.id)) {
    if (relaying_transport::is_circuit(x.id))
      held_->circuit_spoke(now);
    read(x.id, x.frame);
    return;
  }
  held_->hold(x.id, x.frame, now);
  look_at_held();
}

bool session_state::look_at_held() {
  const bool stranger = !config_.trusted || !*config_.trusted;
  if (held_->in_order(stranger, self_->clock().now()))
    return true;
  end(caf::exit_reason::remote_link_unreachable,
      "too much waited, or for too long, for a circuit's last frame");
  return false;
}

void session_state::release() {
  // One of them may end all.
  while (held_->first() != 0 && !lines_.holds(held_->first()))
    for (const auto& x : held_->take())
      read(x.on, x.what);
  // What it still has to send follows.
  constexpr std::chrono::milliseconds drain{limits::circuit_drain};
  for (auto id : lines_.spent())
    config_.network->close(id, static_cast<std::uint32_t>(drain.count()));
}

void session_state::read(connection_id on, const incoming_frame& frame) {
  auto content = decode(frame.head.data(), frame.head.size(), frame.body.size);
  if (!content) {
    // Costs the connection, not the peer: it may hold another one. But its
    // checksum fits, so this is what the peer wrote.
    tell_fault("malformed frame", content.error());
    accuse(on, "a malformed frame: " + content.error());
    config_.network->close(on, 0);
    return;
  }
  if (!may_be_read(on, *content))
    return;
  if (!look_at_admission())
    return;
  if (auto shown = std::get_if<admission_shown>(&*content))
    return on_admission(*shown);
  if (!may_pass(*content))
    return refuse(*content);
  if (std::holds_alternative<line_probe>(*content)) {
    // Only the time that it takes matters, and to its sender.
    probed_ += frame.body.size;
    if (probed_ <= max_probe_total)
      return;
    accuse(on, "more line probes than any honest peer sends");
    end(caf::exit_reason::remote_link_unreachable,
        "sent more line probes than any honest peer");
    return;
  }
  if (std::holds_alternative<line_switch>(*content)) {
    lines_.switched(on);
    release();
    return;
  }
  if (relaying_transport::is_circuit(on) && is_of_an_expert(*content)
      && !config_.relays_experts) {
    if (auto call = std::get_if<expert_request>(&*content)) {
      expert_answer no{call->number, expert_outcome::failed,
                       no_relayed_experts};
      config_.network->send(on, {encode(no), {}});
    }
    return;
  }
  if (!is_one_of<heartbeat, heartbeat_reply>(*content))
    lines_.use(on);
  deliver(std::move(*content), frame.body);
}

bool session_state::may_be_read(connection_id on, const message& x) {
  const bool trusted = config_.trusted && *config_.trusted;
  const bool heard = !letters_->silenced();
  switch (letters_->take(x, trusted, self_->clock().now())) {
    case letter_intake::verdict::read:
      return true;
    case letter_intake::verdict::dropped:
      say_too_many();
      if (heard)
        for (auto id : lines_.all())
          config_.network->hold(id, true);
      arm();
      return false;
    default:
      accuse(on, "more letters than any honest peer sends");
      end(caf::exit_reason::remote_link_unreachable,
          "sent more letters than any honest peer");
      return false;
  }
}

void session_state::read_on() {
  if (!letters_->is_heard_again(self_->clock().now()))
    return;
  for (auto id : lines_.all())
    config_.network->hold(id, false);
  for (auto& x : letters_->late())
    if (may_pass(x))
      deliver(std::move(x), {});
}

void session_state::say_too_many() {
  if (!std::exchange(said_too_many_, true))
    tell_fault("too many letters", "some of them are dropped");
}

void session_state::tell_fault(const std::string& what,
                               const std::string& detail) {
  if (wired_.observer)
    self_->send(wired_.observer, fault_news(config_.peer.id, what, detail));
}

void session_state::on(const traffic_seen& x) {
  for (const auto& seen : x.traffic)
    pulse_->passed(seen.received, seen.sent, self_->clock().now());
}

void session_state::accuse(connection_id on, const std::string& what) {
  if (wired_.roster)
    self_->send(wired_.roster,
                offence_seen{config_.peer.id, misconduct::witness::alone,
                             "connection " + std::to_string(on), what});
}

void session_state::arm() {
  const auto now = self_->clock().now();
  const auto due = letters_->due_before(pulse_->due());
  if (wake_ > now && wake_ <= due)
    return;
  wake_ = std::max(due, now);
  ++ticks_;
  self_->delayed_send(self_, wake_ - now, tick{});
}

void session_state::deliver(message content, shared_bytes body) {
  if (auto report = std::get_if<progress_report>(&content);
      report && report->id == config_.peer.id
      && pulse_->report(*report, false, self_->clock().now()))
    arm();
  if (auto beat = std::get_if<heartbeat>(&content)) {
    transmit(heartbeat_reply{beat->token});
    pulse_->was_asked(self_->clock().now());
    return;
  }
  if (auto reply = std::get_if<heartbeat_reply>(&content)) {
    const std::chrono::nanoseconds now
        = self_->clock().now().time_since_epoch();
    // A peer may write what it likes, also what no time is.
    if (reply->token <= static_cast<std::uint64_t>(now.count()))
      pulse_->round_trip(
          now
          - std::chrono::nanoseconds{static_cast<std::int64_t>(reply->token)});
    return;
  }
  if (auto bye = std::get_if<goodbye>(&content)) {
    end(caf::exit_reason::normal, bye->reason);
    return;
  }
  if (auto no = std::get_if<refusal>(&content);
      no && wired_.observer && !std::exchange(heard_refusal_, true)) {
    tell_fault("refused us", no->sentence);
    if (wired_.roster)
      self_->send(wired_.roster,
                  peer_refused{config_.peer.where, no->sentence, true});
    return;
  }
  // A second hello has no reader and no effect.
  if (auto reader = reader_of(content, wired_))
    self_->send(reader,
                letter{config_.peer.id, std::move(content), std::move(body)});
}

void session_state::transmit(const message& content, shared_bytes body) {
  pulse_->said(self_->clock().now());
  const auto way = lines_.way();
  if (way == 0)
    return;
  const bool beat = is_one_of<heartbeat, heartbeat_reply>(content);
  const bool probe = std::holds_alternative<line_probe>(content);
  if (relaying_transport::is_circuit(way)
      && (probe || is_of_a_gradient(content)
          || (is_of_an_expert(content) && !config_.relays_experts))) {
    if (!probe)
      keep_off_circuits(content);
    return;
  }
  if (!beat && !probe)
    lines_.use(way);
  config_.network->send(way, {encode(content), std::move(body), beat});
}

void session_state::keep_off_circuits(const message& what) {
  if (auto call = std::get_if<expert_request>(&what);
      call && wired_.expert_caller)
    self_->send(wired_.expert_caller,
                letter{config_.peer.id,
                       expert_answer{call->number, expert_outcome::failed,
                                     no_relayed_experts},
                       {}});
  if (!std::exchange(said_no_line_, true))
    tell_fault("no direct line", is_of_an_expert(what)
                                     ? no_relayed_experts
                                     : "relays carry no byte of a gradient");
}

void session_state::on(const parcel& x) {
  // A bootstrap hears where this peer is, as records tell everybody.
  const bool report = std::holds_alternative<progress_report>(x.content);
  if (!may_pass(x.content) && !(config_.is_bootstrap && report))
    return;
  if (auto said = std::get_if<progress_report>(&x.content);
      said && pulse_->report(*said, true, self_->clock().now()))
    arm();
  transmit(x.content, x.body);
}

void session_state::on(const leave_run& x) {
  transmit(goodbye{x.reason});
  end(caf::exit_reason::normal, x.reason);
}

void session_state::end(caf::exit_reason why, const std::string& reason) {
  for (auto id : lines_.all())
    config_.network->close(id);
  lines_.clear();
  held_->take();
  self_->quit(caf::error{static_cast<std::uint8_t>(why), caf::atom("exit"),
                         caf::make_message(reason)});
}

void session_state::on(const tick&) {
  auto now = self_->clock().now();
  // Of several on their way only the one for the next look counts; the last
  // always does, whatever a clock says.
  --ticks_;
  if (now < wake_ && ticks_ > 0)
    return;
  wake_ = {};
  if (!look_at_held() || !look_at_admission())
    return;
  read_on();
  if (now >= pulse_->due()) {
    if (strikes(fault_point::line_ends))
      return end(caf::exit_reason::remote_link_unreachable, "its line broke");
    const auto todo = pulse_->look_at(now);
    if (todo == session_pulse::look::gone)
      return end(caf::exit_reason::remote_link_unreachable,
                 "silent for too long");
    auto token = now.time_since_epoch() / std::chrono::nanoseconds{1};
    if (todo == session_pulse::look::ask)
      transmit(heartbeat{static_cast<std::uint64_t>(token)});
  }
  arm();
}

session_actor::behavior_type
session(session_actor::stateful_pointer<session_state> self,
        session_config config) {
  return behave<session_actor, session_state>(self, std::move(config));
}

} // namespace potluck
