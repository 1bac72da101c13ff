#include "actors/charter_shelf.hpp"

#include "actors/behavior.hpp"
#include "actors/charter_mail.hpp"
#include "actors/guest_list.hpp"

namespace potluck {

void charter_shelf_state::on(const charter_shelf_handles& w) {
  wired_ = w;
  if (w.amendment_keeper)
    for (auto& [run, manifest] : manifests_)
      self_->send(w.amendment_keeper, manifest_known{run, manifest});
}

void charter_shelf_state::on(const letter& x) {
  const auto now = self_->clock().now();
  if (auto request = std::get_if<charter_request>(&x.content)) {
    auto answer = kept_.requested(x.from, request->run, now);
    if (!answer.again)
      post(self_, wired_.letters,
           parcel{x.from, charter_reply{request->token}, body_of(answer.what)});
    ask(answer.ask);
  } else if (std::holds_alternative<charter_reply>(x.content)) {
    auto problem = kept_.answered(x.from, text_of(x.body), now);
    if (!problem.empty())
      self_->send(wired_.observer,
                  fault_news(x.from, "wrong charter", "it " + problem));
  }
}

void charter_shelf_state::on(const peer_joined& x) {
  if (x.role == role::trainer || x.role == role::auxiliary)
    ask(kept_.joined(x.who.id, x.run, x.charter, self_->clock().now()));
}

void charter_shelf_state::ask(const kept_charters::peers& whom) {
  for (auto& id : whom)
    post(self_, wired_.letters, parcel{id, charter_request{}, {}});
}

charter_shelf_actor::behavior_type
charter_shelf(charter_shelf_actor::stateful_pointer<charter_shelf_state> self,
              charter_shelf_config config) {
  return behave<charter_shelf_actor, charter_shelf_state>(self, config);
}

} // namespace potluck
