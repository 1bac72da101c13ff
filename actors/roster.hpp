/// The roster: who is in the run.
///
/// Monitors every session; its down message is how a peer leaves. Dials peers
/// that it hears of (from the user, from reports in the DHT), tells the others
/// who comes and goes and what they report, and publishes this peer's own
/// report, directly to connected peers and as a DHT record. What to do is
/// decided in runtime/membership.
#pragma once

#include <map>

#include "actors/crier.hpp"
#include "actors/handles.hpp"
#include "actors/reach_finder.hpp"
#include "actors/seats.hpp"
#include "runtime/membership/first_contact.hpp"
#include "runtime/membership/known_peers.hpp"
#include "runtime/membership/misconduct.hpp"
#include "runtime/membership/report_news.hpp"
#include "runtime/membership/run_lookup.hpp"
#include "runtime/ports/port_mapper.hpp"
#include "runtime/ways/cells/contributor_pace.hpp"

namespace potluck {

struct roster_config {
  peer_id self;
  potluck::role role = potluck::role::trainer;
  std::string run;                      ///< Empty for a bootstrap peer.
  std::vector<address> seeds;           ///< Named by the user.
  std::map<address, peer_id> pins = {}; ///< Of seeds: who answers there.
  /// Dialled as well while nobody is connected.
  std::vector<address> hints;
  /// Under which address others reach us; empty host: as they see us.
  address announce;
  std::uint64_t seed = 0; ///< Of the jitter in redialling.
  /// Has a router open ports, once nobody can dial this peer; null: nobody
  /// does. Its thread may outlive the roster.
  std::shared_ptr<port_mapper> mapper = {};
};

class roster_state {
public:
  void init(roster_actor::pointer self, roster_config config);

  void on(const roster_handles& w);
  void on(const peer_joined& x, const session_actor& session);
  void on(const gateway_ready& x) {
    reach_.listens(x.bound, x.local);
  }
  void on(const dial_succeeded& x) {
    people_->answered(x.where, x.who, now());
    tell(wired_.address_keeper, answered_at{{x.who, x.where}, true});
  }
  void on(const dial_failed& x);
  void on(const peer_refused& x);
  void on(const letter& x) {
    std::visit([&](const auto& y) { read(x.from, y, x.body); }, x.content);
  }
  void on(const offence_seen& x);
  void on(const reach_proven& x) {
    reach_.on(x);
  }
  void on(const port_seen& x) {
    reach_.on(x);
  }
  void on(const port_mapped& x) {
    reach_.on(x);
  }
  void on(const own_report& x);
  void on(const contributor_pace& x) {
    look_pause_ = x.look;
    news_.pace(x.report);
  }
  void on(const links_wanted& x);
  void on(const records_looked_up& x);
  void on(const record_published&) {
  }
  void on(const more_seeds& x);
  void on(const no_strangers& x) {
    for (auto& id : x.ids)
      people_->works_with(id);
  }
  void on(const tick&);
  void on_down(const caf::down_msg& x);

private:
  time_point now() const {
    return self_->clock().now();
  }
  known_peers::oneself oneself() const {
    return {news_.mine(), reach_.where().host, reach_.reachable(),
            reach_.sure()};
  }
  run_lookup::situation situation() const {
    return {news_.mine(), people_->choice().decided(),
            people_->choice().wants_few(news_.mine()), people_->guests()};
  }
  /// Takes part in steps: others want its reports, and it wants theirs.
  bool in_a_run() const {
    return !config_.run.empty() && config_.role != role::expert;
  }
  report_news::keeps kept() const {
    return [this](const guest_book::guest& g) {
      return people_->choice().keeps(g.who.id, news_.mine());
    };
  }

  void tell_of(const peer_joined& x);
  void tell_address() {
    const auto where = reach_.where();
    people_->is_seen_at(where.host);
    crier_.tell_address(where);
  }
  void tell_report(const report_heard& x) {
    crier_.tell_report(x, !news_.mine().charter.empty());
  }
  /// An actor that may not be there yet.
  template <class Actor, class News>
  void tell(const Actor& whom, const News& news) {
    if (whom)
      self_->send(whom, news);
  }
  void say(event x) {
    self_->send(wired_.observer, std::move(x));
  }

  // Letters.
  void read(const peer_id& from, const progress_report& said,
            const shared_bytes&);
  void read(const peer_id& from, const reach_request& x,
            const shared_bytes& body) {
    reach_.read(from, x, body, people_->guests());
  }
  void read(const peer_id& from, const reach_errand& x, const shared_bytes&) {
    reach_.read(from, x, people_->guests());
  }
  void read(const peer_id& from, const reach_answer& x, const shared_bytes&) {
    reach_.read(from, x);
  }
  template <class Other>
  void read(const peer_id&, const Other&, const shared_bytes&) {
    // Sessions deliver nothing else here.
  }
  /// The own report, to these guests.
  void report_to(const std::vector<peer_id>& whom);
  void publish();
  /// At its address, or through the hubs that it names.
  void dial(const contact& who);
  /// Of a guest that is connected in another way than before.
  void note_line(const peer_joined& x);

  roster_actor::pointer self_ = nullptr;
  roster_config config_;
  roster_handles wired_;
  crier crier_;
  seats seats_;
  std::optional<known_peers> people_;
  std::optional<first_contact> contact_;
  reach_finder reach_;
  report_news news_;
  peer_id sponsor_; ///< This peer's; empty: none.
  std::optional<run_lookup> lookup_;
  misconduct misconduct_;
  std::optional<links_wanted> links_; ///< For a new router.
  duration look_pause_ = limits::shortest_look;
};

roster_actor::behavior_type
roster(roster_actor::stateful_pointer<roster_state> self, roster_config config);

} // namespace potluck
