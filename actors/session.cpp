#include "actors/session.hpp"

#include <algorithm>

#include "actors/behavior.hpp"
#include "messages/codec.hpp"
#include "messages/limits.hpp"
#include "runtime/config.hpp"

namespace potluck {

namespace {

template <class... Ts>
bool is_one_of(const message& x) {
  return (std::holds_alternative<Ts>(x) || ...);
}

/// Whose conversation a message belongs to: the one place that knows. Null for
/// what the session handles itself, and for an actor that this role lacks.
letter_reader reader_of(const message& x, const wiring& w) {
  if (is_one_of<chunk_part, chunk_mean, mean_request, round_prepared,
                round_settle, round_standing, round_verdict, round_heal,
                round_findings, part_request, part_digests, mean_challenge>(x))
    return w.averager;
  if (is_one_of<group_invite, group_answer, group_start, group_cancel>(x))
    return w.matchmaking;
  if (is_one_of<progress_report, reach_request, reach_answer>(x))
    return w.roster;
  if (is_one_of<routing_ping, routing_pong, find_nodes, nodes_found,
                store_records, records_stored, find_records, records_found>(x))
    return w.router;
  if (is_one_of<contribution_request, contribution_part, contribution_answer>(
          x))
    return w.cell;
  if (is_one_of<charter_request, charter_reply>(x))
    return w.registrar;
  if (is_one_of<state_request, state_manifest, piece_request, state_piece,
                state_done>(x))
    return w.state_keeper;
  if (is_one_of<expert_request, replica_offer, replica_reply, replica_chunk>(x))
    return w.expert_host;
  if (is_one_of<expert_answer>(x))
    return w.expert_caller;
  return {};
}

/// Whether the allowance counts it: not what a round or a budget bounds.
bool is_small(const message& x) {
  return is_one_of<progress_report, group_invite, group_answer, group_start,
                   group_cancel, routing_ping, routing_pong, find_nodes,
                   nodes_found, store_records, records_stored, find_records,
                   records_found, charter_request, reach_request, reach_answer>(
      x);
}

silence_detector::settings detection(duration interval) {
  silence_detector::settings how;
  how.heartbeat = interval;
  how.floor = std::max(how.floor, 2 * interval);
  how.cap = std::max(how.cap, 4 * interval);
  return how;
}

} // namespace

void session_state::init(session_actor::pointer self, session_config config) {
  self_ = self;
  config_ = std::move(config);
  connections_.push_back(config_.connection);
  self_->monitor(config_.gateway);
  const auto now = self_->clock().now();
  silence_.emplace(now, detection(heartbeat_interval()));
  allowance_.emplace(letter_allowance::usual, now);
  look_at(now + heartbeat_interval());
}

void session_state::on_down(const caf::down_msg&) {
  // Only the gateway is monitored. Without it no frame can reach us.
  end(caf::exit_reason::remote_link_unreachable, "this peer's gateway ended");
}

void session_state::on(const wiring& w) {
  wired_ = w;
}

void session_state::on(const connection_added& x) {
  connections_.push_back(x.id);
}

void session_state::on(const connection_closed& x) {
  connections_.erase(
      std::remove(connections_.begin(), connections_.end(), x.id),
      connections_.end());
  if (connections_.empty() || used_.count(x.id) > 0)
    end(caf::exit_reason::remote_link_unreachable, x.reason);
}

void session_state::on(const frame_arrived& x) {
  silence_->heard(self_->clock().now());
  const auto& frame = x.frame;
  auto content = decode(frame.head.data(), frame.head.size(), frame.body.size);
  if (!content) {
    // Costs the connection, not the peer: it may hold another one. But its
    // checksum fits, so this is what the peer wrote.
    if (wired_.observer)
      self_->send(wired_.observer,
                  event{"fault",
                        {{"peer", short_name(config_.peer.id)},
                         {"what", std::string{"malformed frame"}},
                         {"detail", content.error()}}});
    accuse(x.id, "a malformed frame: " + content.error());
    config_.network->close(x.id, 0);
    return;
  }
  if (is_small(*content) && !allowance_->spend(self_->clock().now())) {
    accuse(x.id, "more letters than any honest peer sends");
    end(caf::exit_reason::remote_link_unreachable,
        "sent more letters than any honest peer");
    return;
  }
  if (std::holds_alternative<line_probe>(*content)) {
    // Only the time that it takes matters, and to its sender.
    probed_ += frame.body.size;
    if (probed_ <= max_probe_total)
      return;
    accuse(x.id, "more line probes than any honest peer sends");
    end(caf::exit_reason::remote_link_unreachable,
        "sent more line probes than any honest peer");
    return;
  }
  if (!is_one_of<heartbeat, heartbeat_reply>(*content))
    used_.insert(x.id);
  deliver(std::move(*content), frame.body);
}

void session_state::on(const traffic_seen& x) {
  // On a slow line a frame takes seconds.
  auto now = self_->clock().now();
  for (const auto& seen : x.traffic) {
    if (seen.received > 0)
      silence_->stirred(now);
    if (seen.sent > 0)
      silence_->acknowledged(now);
    if (seen.received >= limits::telling_bytes)
      last_filled_in_ = now;
    if (seen.sent >= limits::telling_bytes)
      last_filled_out_ = now;
  }
}

void session_state::accuse(connection_id on, const std::string& what) {
  if (wired_.roster)
    self_->send(wired_.roster,
                offence_seen{config_.peer.id, misconduct::witness::alone,
                             "connection " + std::to_string(on), what});
}

duration session_state::heartbeat_interval() const {
  if (us_ == standing::contributor || them_ == standing::contributor)
    return limits::cell_heartbeat_interval;
  return us_ == standing::member && them_ == standing::member
             ? duration{limits::heartbeat_interval}
             : duration{limits::acquaintance_heartbeat_interval};
}

void session_state::pace(const progress_report& x, bool ours) {
  auto before = heartbeat_interval();
  // Who has been a member stays one while it fetches what it missed.
  if (x.contributes || x.phase != phase::joining)
    (ours ? us_ : them_)
        = x.contributes ? standing::contributor : standing::member;
  auto interval = heartbeat_interval();
  if (interval == before)
    return;
  silence_.emplace(self_->clock().now(), detection(interval));
  if (interval < before) {
    quick_heartbeats_ = limits::first_heartbeats;
    look_at(self_->clock().now());
  }
}

void session_state::look_at(caf::actor_clock::time_point when) {
  due_ = when;
  const auto now = self_->clock().now();
  if (wake_ > now && wake_ <= due_)
    return;
  wake_ = std::max(due_, now);
  ++ticks_;
  self_->delayed_send(self_, wake_ - now, tick{});
}

void session_state::deliver(message content, shared_bytes body) {
  if (auto report = std::get_if<progress_report>(&content);
      report && report->id == config_.peer.id)
    pace(*report, false);
  if (auto beat = std::get_if<heartbeat>(&content)) {
    transmit(heartbeat_reply{beat->token});
    // Who is asked all the time asks only to know how long an answer takes.
    if (quick_heartbeats_ == 0) {
      const auto interval = heartbeat_interval();
      const auto now = self_->clock().now();
      due_ = std::max(
          due_, std::min(now + interval + interval / 2,
                         last_asked_ + limits::spared_heartbeats * interval));
    }
    return;
  }
  if (auto reply = std::get_if<heartbeat_reply>(&content)) {
    auto now = self_->clock().now().time_since_epoch();
    auto sent = std::chrono::nanoseconds{reply->token};
    if (sent <= now)
      silence_->round_trip(now - sent);
    return;
  }
  if (auto bye = std::get_if<goodbye>(&content)) {
    end(caf::exit_reason::normal, bye->reason);
    return;
  }
  // A second hello or a late refusal has no reader and no effect.
  if (auto reader = reader_of(content, wired_))
    self_->send(reader,
                letter{config_.peer.id, std::move(content), std::move(body)});
}

void session_state::transmit(const message& content, shared_bytes body) {
  last_said_ = self_->clock().now();
  if (connections_.empty())
    return;
  const bool beat = is_one_of<heartbeat, heartbeat_reply>(content);
  if (!beat && !std::holds_alternative<line_probe>(content))
    used_.insert(connections_.front());
  config_.network->send(connections_.front(),
                        {encode(content), std::move(body), beat});
}

void session_state::on(const parcel& x) {
  if (auto report = std::get_if<progress_report>(&x.content))
    pace(*report, true);
  transmit(x.content, x.body);
}

void session_state::on(const leave_run& x) {
  transmit(goodbye{x.reason});
  end(caf::exit_reason::normal, x.reason);
}

void session_state::end(caf::exit_reason why, const std::string& reason) {
  for (auto id : connections_)
    config_.network->close(id);
  connections_.clear();
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
  if (now < due_) {
    look_at(due_);
    return;
  }
  // When we are late ourselves (a loaded or suspended machine), what the other
  // side said meanwhile still waits to be read: start counting anew.
  auto interval = heartbeat_interval();
  if (now - due_ > interval)
    silence_->heard(now);
  if (silence_->suspicious(now)) {
    end(caf::exit_reason::remote_link_unreachable, "silent for too long");
    return;
  }
  // Whoever has just been heard needs no question, unless it has heard nothing
  // of us. Of two sides that have nothing else to say, one asks and the other
  // answers; on a line that gradients fill, nearly none do.
  auto heard = std::max(silence_->last_heard(), last_filled_in_);
  auto said = std::max(last_said_, last_filled_out_);
  auto lately = interval * 3 / 4;
  if (quick_heartbeats_ > 0 || now - heard >= lately || now - said >= lately
      || now - last_asked_ >= limits::spared_heartbeats * interval) {
    last_asked_ = now;
    auto token = now.time_since_epoch() / std::chrono::nanoseconds{1};
    transmit(heartbeat{static_cast<std::uint64_t>(token)});
  }
  if (quick_heartbeats_ > 0) {
    --quick_heartbeats_;
    interval = limits::first_heartbeat_interval;
  }
  look_at(now + interval);
}

session_actor::behavior_type
session(session_actor::stateful_pointer<session_state> self,
        session_config config) {
  return behave<session_actor, session_state>(self, std::move(config));
}

} // namespace potluck
