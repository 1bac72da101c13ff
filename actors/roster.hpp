/// The roster: who is in the run.
///
/// Monitors every session; its down message is how a peer leaves. Dials peers
/// that it hears of (from the user, from reports in the DHT), tells the others
/// who comes and goes and what they report, and publishes this peer's own
/// report, directly to connected peers and as a DHT record.
#pragma once

#include <map>
#include <set>

#include "actors/interfaces.hpp"
#include "runtime/membership/misconduct.hpp"
#include "runtime/membership/peer_ledger.hpp"
#include "runtime/membership/reachability.hpp"

namespace potluck {

struct roster_config {
  peer_id self;
  potluck::role role = potluck::role::trainer;
  std::string run;            ///< Empty for a bootstrap peer.
  std::vector<address> seeds; ///< Named by the user.
  /// Under which address others reach us; empty host: as they see us.
  address announce;
  std::uint64_t seed = 0; ///< Of the jitter in redialling.
};

class roster_state {
public:
  void init(roster_actor::pointer self, roster_config config);

  void on(const wiring& w);
  void on(const peer_joined& x, const session_actor& session);
  void on(const gateway_ready& x);
  void on(const dial_succeeded& x);
  void on(const dial_failed& x);
  void on(const peer_refused& x);
  void on(const letter& x);
  void on(const offence_seen& x);
  void on(const own_report& x);
  void on(const contributor_pace& x) {
    pace_ = x;
  }
  void on(const links_wanted& x);
  void on(const records_looked_up& x);
  void on(const record_published&) {
  }
  void on(const tick&);
  void on_down(const caf::down_msg& x);

  /// Records that each node names to a look-up of a member: what it does not
  /// know it asks for again, once it has dialled these. The five nodes closest
  /// to a run's key answer everybody, and the records of all that do not know
  /// each other yet were more than their lines carry.
  static constexpr std::uint32_t records_of_many = 32;
  /// Who does not know all yet looks up no sooner than after so long for every
  /// peer that it is connected with, up to a bound: more come, and call at us.
  static constexpr auto meeting_pause_per_peer = std::chrono::milliseconds{50};
  static constexpr auto longest_meeting_pause = std::chrono::seconds{15};

private:
  struct guest {
    peer_joined news;
    session_actor session;
    caf::actor_clock::time_point since;
    bool contributes = false;
    bool in_own_cell = false; ///< This peer is its sponsor.
    bool routes = false;      ///< The router may ask it, and name it to others.
    bool heard = false;       ///< It has told us its report.
  };
  /// What contributors and their sponsors hear of each other at once.
  struct headline {
    std::uint64_t step = 0;
    digest state;
    bool contributes = false;
    peer_id sponsor;
    bool takes_part = false;
    bool has_samples = false;

    friend bool operator==(const headline& a, const headline& b) {
      return a.step == b.step && a.state == b.state
             && a.contributes == b.contributes && a.sponsor == b.sponsor
             && a.takes_part == b.takes_part && a.has_samples == b.has_samples;
    }
  };

  /// What they were told last, and when.
  struct cell_news {
    headline what;
    caf::actor_clock::time_point at;
  };

  template <class News>
  void tell_everybody(const News& news);
  /// Of a guest; these are counted.
  void note(const peer_id& id, guest& g, bool contributes, bool routes);
  bool routes(const peer_joined& x) const;
  static bool routes(const peer_left&) {
    return true;
  }
  void tell_conductors(const report_heard& x);
  bool heard_anybody() const;
  /// Of the run's records, how many each node is to name; 0: all.
  std::uint32_t records_wanted() const;
  void write_report();
  void tell_mine(const guest& g);
  /// The own report as it is to be told: a contributor's conductor says it now
  /// and then, so its samples are those that it has by now.
  progress_report mine_by_now() const;
  void tell_everybody_mine();
  /// To all, or when that was a moment ago, to those who lead.
  void spread_report();
  /// Between contributors and members: when the headline changes, or rarely.
  void tell_cells();
  /// Whether it is time for these; then they count as told.
  bool due(cell_news& told, const headline& now_true, duration pause) const;
  bool in_a_cell(const guest& g) const {
    return mine_.report.contributes || g.contributes;
  }
  /// Whether a peer that is known should be dialled; an empty id stands for an
  /// address that the user named.
  bool wants(const peer_id& id) const;
  /// Whether the cell wants it by name; there is such a list.
  bool named(const peer_id& id) const;
  /// Contributes, and has heard from the cell whom to be connected with.
  bool wants_few() const;
  void close_surplus();
  void note_charter(const progress_report& x);
  /// Whether a trainer that has just come is somebody to look records up at:
  /// only while fewer are here than a record has replicas. It may go again, and
  /// in a crowd most of those who come will.
  bool newcomers_route() const;
  /// Whether others should find this peer in the DHT: not who contributes, and
  /// not who only joins a run that is there, unless it may have to found it.
  bool publishes() const;
  /// Contributes, and knows whom it wants to be connected with.
  bool has_names() const;
  /// Contributes, and has all the connections that it wants.
  bool settled_contributor() const;
  void check_first_contact();
  void dial_who_is_due();
  /// There is news of this peer: looks whom to dial at the next tick, if that
  /// may be one to dial. To look goes through all that are known.
  void dial_sooner(const peer_id& id);
  /// Tells everybody, and the DHT; asks the DHT for others.
  void publish();
  duration look_up_pause() const;
  /// Takes part in steps: others want its reports, and it wants theirs.
  bool in_a_run() const {
    return !config_.run.empty() && config_.role != role::expert;
  }
  address own_address() const;
  /// Reports, and what others ask of the roster itself.
  void read(const peer_id& from, const progress_report& said);
  void read(const peer_id& from, const reach_request& x);
  void read(const peer_id& from, const reach_answer& x);
  /// Finds out whether others can connect to this peer, where it matters and
  /// the user has not said so.
  void ask_for_reach();
  void note_reach();
  void tell_reach();

  roster_actor::pointer self_ = nullptr;
  roster_config config_;
  wiring wired_;
  std::optional<peer_ledger> ledger_;
  misconduct misconduct_;
  reachability reach_;
  bool told_reachable_ = true;
  bool reach_found_out_ = false; ///< At this address, or nobody knows.
  address tried_address_;        ///< Where the votes of `reach_` were taken.
  /// Hosts that we saw lately whether we can dial, and when.
  std::map<std::string, caf::actor_clock::time_point> tried_;
  std::map<peer_id, guest> guests_;
  std::set<peer_id> near_;  ///< Guests that do not contribute.
  std::size_t routing_ = 0; ///< Guests that do.
  std::map<caf::actor_addr, peer_id> sessions_; ///< Of the guests.
  address listening_;
  address told_address_; ///< To the expert host.
  std::string seen_host_;
  own_report mine_;
  caf::actor_clock::time_point mine_since_; ///< The conductor said it then.
  bool report_due_ = false;                 ///< Not everybody knows it yet.
  bool leaders_due_ = false;                ///< Nor those who lead.
  /// When everybody was told last; none: that is due.
  std::optional<caf::actor_clock::time_point> last_round_of_news_;
  std::optional<links_wanted> links_; ///< None yet: as many as it takes.
  contributor_pace pace_;
  cell_news told_own_cell_; ///< To the sponsor, or to whom this peer is that.
  cell_news told_other_cells_;
  bool reached_anybody_ = false;
  bool gave_up_ = false;
  std::string last_dial_problem_;
  bool warned_ = false; ///< The user, that nobody has answered so far.
  /// What the seeds that refused us, or that we refused, said.
  std::map<address, std::string> refusals_;
  /// When a report named a charter: the run is there.
  std::optional<caf::actor_clock::time_point> charter_heard_at_;
  bool looked_up_ = false;      ///< Once at least.
  bool looking_up_ = false;     ///< The last look-up has not been answered.
  std::uint32_t asked_for_ = 0; ///< Records of each node; 0: all.
  std::uint32_t published_ = 0; ///< The run's records, if not all were told.
  bool acquainted_ = false;     ///< With all whom the last look-up found.
  caf::actor_clock::time_point began_;
  caf::actor_clock::time_point next_publication_;
  caf::actor_clock::time_point last_look_up_;
  caf::actor_clock::time_point next_tidying_;
  caf::actor_clock::time_point next_forgetting_;
  caf::actor_clock::time_point next_dialling_; ///< Now, when news may matter.
  caf::actor_clock::time_point last_dialling_;
};

roster_actor::behavior_type
roster(roster_actor::stateful_pointer<roster_state> self, roster_config config);

} // namespace potluck
