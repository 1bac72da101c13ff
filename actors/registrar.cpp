#include "actors/registrar.hpp"

#include <algorithm>

#include "actors/behavior.hpp"
#include "actors/guest_list.hpp"
#include "runtime/membership/limits.hpp"

namespace potluck {

namespace {

using namespace std::chrono_literals;

/// Between publishing that we are there and founding a run: another look-up
/// that starts after our record is stored must have ended as well.
constexpr auto founding_settle = 700ms;
/// For an answer to a charter request before it is sent once more, doubled
/// each time up to the cap. Nobody is suspected for it: each peer is asked once
/// in a life, so there is nothing to observe, and all are asked at once.
constexpr auto charter_patience = 5s;
constexpr auto charter_cap = 60s;

/// Whether the charter's value meets the wish. A vocabulary is a wish for that
/// many tokens at most: a short text yields fewer, the founder's own included.
bool meets(const setting& offer, const setting& wish) {
  return wish.name == "vocabulary"
         && (offer.value.size() < wish.value.size()
             || (offer.value.size() == wish.value.size()
                 && offer.value <= wish.value));
}

/// What the user demanded and the charter does not give, for a person.
std::string unmet(const std::vector<setting>& demanded, const charter& c) {
  std::vector<setting> offered;
  for (auto& line : c.table())
    for (auto& wish : demanded)
      if (wish.name == line.name)
        offered.push_back(meets(line, wish) ? wish : line);
  return differences(demanded, offered);
}

} // namespace

void registrar_state::init(registrar_actor::pointer self,
                           registrar_config config) {
  self_ = self;
  config_ = std::move(config);
  agreed_ = config_.known;
}

void registrar_state::on(const registrar_handles& w) {
  if (!wired_.roster)
    self_->send(self_, tick{});
  wired_ = w;
  if (announced_)
    return;
  if (agreed_)
    agree(*agreed_, false);
  else
    report(phase::joining);
}

void registrar_state::on(const letter& x) {
  if (auto request = std::get_if<charter_request>(&x.content)) {
    shared_bytes body;
    if (agreed_) {
      auto bytes = std::make_shared<std::string>(agreed_->to_bytes());
      body.data = reinterpret_cast<const std::uint8_t*>(bytes->data());
      body.size = bytes->size();
      body.owner = bytes;
    }
    post(self_, wired_.letters,
         parcel{x.from, charter_reply{request->token}, std::move(body)});
    return;
  }
  if (!std::holds_alternative<charter_reply>(x.content) || agreed_ || gave_up_)
    return;
  auto i = others_.find(x.from);
  if (i == others_.end() || !i->second.asked)
    return;
  i->second.asked = false;
  if (x.body.size == 0)
    return;
  auto c = charter::from_bytes(
      std::string{reinterpret_cast<const char*>(x.body.data), x.body.size});
  if (!c || c->settings().run != config_.run
      || !problem_with(c->settings()).empty()) {
    // Not asked again: what it holds is not a charter of this run.
    others_.erase(i);
    return;
  }
  agree(std::move(*c), false);
}

void registrar_state::on(const peer_joined& x) {
  if (!connected_once_) {
    connected_once_ = true;
    published_at_ = self_->clock().now();
    lookups_ = 0;
  }
  if (x.role == role::bootstrap || x.role == role::expert)
    return;
  auto& o = others_[x.who.id];
  o.connected = true;
  o.role = x.role;
  if (!x.charter.empty())
    o.charter = x.charter;
}

void registrar_state::on(const peer_left& x) {
  others_.erase(x.id);
}

void registrar_state::on(const report_heard& x) {
  auto& o = others_[x.report.id];
  o.heard_at = self_->clock().now();
  o.role = x.report.role;
  o.charter = x.report.charter;
  o.phase = x.report.phase;
  finished_
      = finished_
        || (x.report.phase == phase::finished && !x.report.charter.empty());
}

void registrar_state::on(const records_looked_up&) {
  if (connected_once_)
    ++lookups_;
}

void registrar_state::forget_silent() {
  auto now = self_->clock().now();
  for (auto i = others_.begin(); i != others_.end();)
    if (!i->second.connected && now - i->second.heard_at > limits::report_life)
      i = others_.erase(i);
    else
      ++i;
}

void registrar_state::ask(const peer_id& peer, other& o) {
  o.patience = o.asked ? std::min<duration>(2 * o.patience, charter_cap)
                       : duration{charter_patience};
  o.asked = true;
  o.asked_at = self_->clock().now();
  post(self_, wired_.letters, parcel{peer, charter_request{}, {}});
}

bool registrar_state::nobody_before_us() const {
  for (auto& [id, o] : others_) {
    if (o.role != role::trainer)
      continue;
    if (!o.charter.empty())
      return false;
    if (o.phase == phase::founding ? !founding_ || id < config_.self
                                   : !founding_ && id < config_.self)
      return false;
  }
  return true;
}

void registrar_state::report(phase p) {
  own_report mine;
  mine.report.phase = p;
  if (agreed_)
    mine.report.charter = agreed_->digest();
  mine.urgent = true;
  self_->send(wired_.roster, mine);
  published_at_ = self_->clock().now();
  lookups_ = 0;
}

void registrar_state::found_when_sure() {
  if (!config_.propose)
    return;
  auto settled
      = !config_.has_seeds
        || (connected_once_ && lookups_ >= (founding_ ? 2 : 3)
            && self_->clock().now() - published_at_ >= founding_settle);
  if (!settled || !nobody_before_us())
    return;
  if (finished_) {
    give_up("Run '" + config_.run
            + "' has been finished, and those who trained it have left; start "
              "another one with --run NAME, or go on from a checkpoint with "
              "--resume FILE.");
    return;
  }
  if (!founding_) {
    founding_ = true;
    report(phase::founding);
    thread_ = std::make_unique<worker>(config_.mode);
    auto outbox = caf::actor_cast<registrar_actor>(self_);
    thread_->post([propose = config_.propose, outbox] {
      try {
        caf::anon_send(outbox, proposal_ready{propose()});
      } catch (const std::exception& e) {
        caf::anon_send(outbox, proposal_failed{e.what()});
      }
    });
  } else if (proposal_) {
    agree(*proposal_, true);
  }
}

void registrar_state::on(const tick&) {
  if (!agreed_ && !gave_up_) {
    auto now = self_->clock().now();
    for (auto& [id, o] : others_)
      if (o.connected && !o.charter.empty()
          && (!o.asked || now - o.asked_at > o.patience))
        ask(id, o);
    forget_silent();
    found_when_sure();
  }
  if (!agreed_ && !gave_up_)
    self_->delayed_send(self_, limits::registrar_interval, tick{});
}

void registrar_state::on(const proposal_ready& x) {
  thread_.reset();
  proposal_ = x.proposed;
  if (!agreed_ && !gave_up_)
    found_when_sure();
}

void registrar_state::on(const proposal_failed& x) {
  thread_.reset();
  if (agreed_)
    return;
  give_up(x.sentence);
}

void registrar_state::give_up(const std::string& sentence) {
  gave_up_ = true;
  self_->send(wired_.observer, peer_over{sentence, true});
}

void registrar_state::agree(charter c, bool founded) {
  auto missing = unmet(config_.demanded, c);
  if (!missing.empty()) {
    agreed_.reset();
    give_up("The settings of run '" + config_.run
            + "' differ (here: your flags, there: the run): " + missing
            + "; leave the flags out to take the run's "
              "settings, or start another run with --run NAME.");
    return;
  }
  agreed_ = std::move(c);
  announced_ = true;
  self_->send(wired_.gateway,
              charter_known{agreed_->digest(), agreed_->table()});
  report(phase::joining);
  self_->send(wired_.supervisor, charter_agreed{*agreed_, founded});
}

registrar_actor::behavior_type
registrar(registrar_actor::stateful_pointer<registrar_state> self,
          registrar_config config) {
  return behave<registrar_actor, registrar_state>(self, std::move(config));
}

} // namespace potluck
