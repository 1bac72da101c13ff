#include "actors/amendment_keeper.hpp"

#include <fstream>
#include <iterator>
#include <utility>

#include "actors/behavior.hpp"
#include "actors/guest_list.hpp"
#include "runtime/membership/handshake.hpp"
#include "runtime/organiser/kept_amendments.hpp"
#include "runtime/organiser/run_terms.hpp"
#include "runtime/state/atomic_file.hpp"
#include "runtime/state/run_manifest.hpp"

namespace potluck {

void amendment_keeper_state::init(amendment_keeper_actor::pointer self,
                                  amendment_keeper_config config) {
  self_ = self;
  config_ = std::move(config);
}

void amendment_keeper_state::on(const amendment_keeper_handles& w) {
  const bool first = !wired_.observer;
  wired_ = w;
  if (!first) { // Whoever hears it may be new.
    for (auto& [run, x] : shelves_)
      tell(run, x);
    return;
  }
  if (!config_.manifest.empty())
    on(manifest_known{config_.run, std::make_shared<const std::string>(
                                       std::exchange(config_.manifest, {}))});
}

void amendment_keeper_state::on(const manifest_known& x) {
  if (shelves_.count(x.run) != 0)
    return;
  // Whoever gave it has looked at it; a bootstrap's user has not.
  const auto signed_by_organiser = manifest::read(*x.bytes, id_in(x.run));
  if (!signed_by_organiser)
    return;
  const auto agreed = charter_of(*signed_by_organiser);
  if (!agreed)
    return;
  const auto& settings = agreed->settings();
  amendment_book book{signed_by_organiser->id(),
                      signers_of(*signed_by_organiser, settings)};
  std::string path;
  if (!config_.folder.empty()) {
    keep_manifest(x);
    path = amendments_path(config_.folder, x.run);
    if (auto problem = read_amendments(path, book); !problem.empty())
      say("damaged amendments", x.run, problem);
  }
  auto& fresh = shelves_
                    .emplace(x.run, shelf{settings,
                                          {x.run, std::move(book), now()},
                                          std::move(path)})
                    .first->second;
  for (const auto& [id, who] : guests_)
    if (may_hold(who, x.run))
      carry_out(x.run, id, fresh.exchange.joined(id, now()));
  tell(x.run, fresh);
  if (!std::exchange(ticking_, true))
    self_->delayed_send(self_, limits::amendments_first_interval, tick{});
}

void amendment_keeper_state::keep_manifest(const manifest_known& x) {
  const auto path = kept_manifest_path(config_.folder, x.run);
  std::ifstream file{path, std::ios::binary};
  if (*x.bytes == std::string{std::istreambuf_iterator<char>{file}, {}})
    return;
  if (auto done = replace_file(path, {{x.bytes->data(), x.bytes->size()}});
      !done)
    say("manifest not kept", x.run, done.error());
}

bool amendment_keeper_state::may_hold(const guest& who,
                                      const std::string& run) {
  // Experts' hosts and visitors keep none.
  return who.role == role::bootstrap
         || (who.run == run && who.role != role::expert);
}

void amendment_keeper_state::on(const peer_joined& x) {
  guests_[x.who.id] = {x.run, x.role};
  for (auto& [run, shelf] : shelves_)
    if (may_hold(guests_[x.who.id], run))
      carry_out(run, x.who.id, shelf.exchange.joined(x.who.id, now()));
}

void amendment_keeper_state::on(const peer_left& x) {
  guests_.erase(x.id);
  for (auto& [run, shelf] : shelves_)
    shelf.exchange.left(x.id);
}

void amendment_keeper_state::on(const letter& x) {
  const auto shelf_of = [&](const std::string& run) {
    return shelves_.find(run.empty() ? config_.run : run);
  };
  if (auto request = std::get_if<amendments_request>(&x.content)) {
    auto at = shelf_of(request->run);
    if (at != shelves_.end())
      carry_out(at->first, x.from,
                at->second.exchange.asked(x.from, *request, now()));
    else
      post(self_, wired_.letters,
           parcel{
               x.from, amendments_reply{request->token, request->run, {}}, {}});
  } else if (auto reply = std::get_if<amendments_reply>(&x.content)) {
    auto at = shelf_of(reply->run);
    if (at != shelves_.end())
      carry_out(at->first, x.from,
                at->second.exchange.told(x.from, *reply, now()));
  }
}

void amendment_keeper_state::carry_out(const std::string& run,
                                       const peer_id& from,
                                       amendment_exchange::outcome x) {
  auto& here = shelves_.at(run);
  // First of all those hear it whom it bans.
  for (auto& letter : x.letters)
    std::visit(
        [&](auto& what) {
          post(self_, wired_.letters, parcel{letter.to, std::move(what), {}});
        },
        letter.what);
  for (const auto& news : x.news)
    self_->send(wired_.observer,
                event{"amendment",
                      {{"run", run},
                       {"number", news.number},
                       {"from", news.from},
                       {"what", to_sentence(news.change, news.from)},
                       {"reason", news.reason}}});
  for (const auto& sentence : x.complaints)
    say("organiser's amendment", run,
        "what peer " + short_name(from) + " passed on " + sentence);
  if (x.offence) {
    say("wrong amendment", run, *x.offence);
    self_->send(wired_.roster,
                offence_seen{from, misconduct::witness::alone,
                             "an amendment of run " + shown_run(run),
                             *x.offence});
  }
  if (x.news.empty())
    return;
  if (!here.path.empty())
    if (auto done = keep_amendments(here.path, here.exchange.book()); !done)
      say("amendments not kept", run, done.error());
  tell(run, here);
}

void amendment_keeper_state::tell(const std::string& run, shelf& x) {
  const auto& book = x.exchange.book();
  const auto terms = std::make_shared<const run_terms>(x.settings, book.all());
  self_->send(wired_.gateway, bans_known{run, terms->banned()});
  if (config_.by_list && terms->admission())
    config_.by_list->set(run, *terms->admission() == admission_mode::list);
  if (run != config_.run)
    return;
  if (terms->banned().count(config_.self) != 0) {
    self_->send(wired_.observer, peer_over{ban_from(run), false});
    return;
  }
  x.settled = x.settled || x.exchange.settled(now());
  if (x.settled)
    self_->send(wired_.supervisor,
                terms_known{book.latest() > 0 ? terms : nullptr});
}

void amendment_keeper_state::say(const std::string& what,
                                 const std::string& run,
                                 const std::string& sentence) {
  self_->send(
      wired_.observer,
      event{"fault", {{"run", run}, {"what", what}, {"detail", sentence}}});
}

void amendment_keeper_state::on(const tick&) {
  bool waits = false;
  for (auto& [run, x] : shelves_) {
    carry_out(run, {}, x.exchange.look(now()));
    if (run == config_.run && !x.settled)
      tell(run, x);
    waits = waits || (run == config_.run && !x.settled);
  }
  self_->delayed_send(self_,
                      waits ? limits::amendments_first_interval
                            : limits::amendments_interval,
                      tick{});
}

amendment_keeper_actor::behavior_type amendment_keeper(
    amendment_keeper_actor::stateful_pointer<amendment_keeper_state> self,
    amendment_keeper_config config) {
  return behave<amendment_keeper_actor, amendment_keeper_state>(
      self, std::move(config));
}

} // namespace potluck
