/// Keeps replicas of this host's experts at others, and those of others here;
/// takes over the experts of hosts that vanish, hands over those of this one
/// when it leaves.
///
/// Decides little: `replication_plan` says what to offer to whom,
/// `replica_book` what to keep and when to take over. Files are read and
/// written on a thread of its own. runtime/experts/README.md has the steps.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>

#include "actors/interfaces.hpp"
#include "actors/worker.hpp"
#include "runtime/experts/expert_shelf.hpp"
#include "runtime/experts/replica_book.hpp"
#include "runtime/experts/replica_intake.hpp"
#include "runtime/experts/replication_plan.hpp"
#include "runtime/experts/tenure.hpp"

namespace potluck {

/// The files of one host, or their stand-ins in memory. Shared by all restarts.
struct expert_shelves {
  std::shared_ptr<expert_shelf> own = std::make_shared<expert_shelf>();
  /// Experts of others that this host has taken over.
  std::shared_ptr<expert_shelf> adopted = std::make_shared<expert_shelf>();
  /// What it keeps for others.
  std::shared_ptr<expert_shelf> replicas = std::make_shared<expert_shelf>();
};

/// Host to replicator: this is served here, and this version of it is saved.
struct expert_stored {
  std::string uid;
  std::uint32_t term = 1;
  std::uint64_t version = 0;
  bool adopted = false;
};
/// Host to replicator: it is not served here any more.
struct expert_dropped {
  std::string uid;
};
/// Host to replicator: what was saved last is its end; find it a new host.
struct hand_over_expert {
  std::string uid;
};
/// Replicator to host: serve what lies on the shelf of adopted experts.
struct adopt_expert {
  std::string uid;
};
/// Replicator to host: another host has it by right; withdraw.
struct give_way {
  std::string uid;
  tenure to;
};
/// Replicator to host: another host serves it; or, if not, nobody will.
struct expert_handed_over {
  std::string uid;
  bool served = false;
};

/// From the replicator's thread: what is on the shelf, to be offered.
struct replica_read {
  replication_plan::offer what;
  std::shared_ptr<const shelved_expert> kept; ///< No bytes: unreadable.
  digest sum;
};
/// What has arrived is on the shelf, or `problem` says why not.
struct replica_written {
  replica_offer what;
  peer_id from;
  std::string problem;
  bool wrong_sum = false;
};
/// A replica has become an adopted expert, likewise.
struct replica_moved {
  std::string uid;
  std::string problem;
};

/// Is told what becomes of experts.
using expert_mover
    = caf::typed_actor<caf::reacts_to<adopt_expert>, caf::reacts_to<give_way>,
                       caf::reacts_to<expert_handed_over>>;

using expert_replicator_actor = caf::typed_actor<
    caf::reacts_to<wiring>, caf::reacts_to<letter>, caf::reacts_to<peer_joined>,
    caf::reacts_to<peer_left>, caf::reacts_to<reachable_at>,
    caf::reacts_to<records_looked_up>, caf::reacts_to<expert_stored>,
    caf::reacts_to<expert_dropped>, caf::reacts_to<hand_over_expert>,
    caf::reacts_to<replica_read>, caf::reacts_to<replica_written>,
    caf::reacts_to<replica_moved>, caf::reacts_to<tick>>;

struct expert_replicator_config {
  peer_id self;
  std::string run;
  digest kind;
  std::size_t spare = 0; ///< Experts of others that it may take over.
  expert_shelves shelves;
  expert_mover host;
  worker_mode mode = worker_mode::threaded;
};

class expert_replicator_state {
public:
  void init(expert_replicator_actor::pointer self,
            expert_replicator_config config);

  void on(const wiring& w);
  void on(const letter& x);
  void on(const peer_joined& x);
  void on(const peer_left& x);
  void on(const reachable_at& x);
  void on(const records_looked_up& x);
  void on(const expert_stored& x);
  void on(const expert_dropped& x);
  void on(const hand_over_expert& x);
  void on(const replica_read& x);
  void on(const replica_written& x);
  void on(const replica_moved& x);
  void on(const tick&);

private:
  /// Why records were asked for.
  struct purpose {
    enum class kind { hosts, lease, rivals, rival_lease, heirs, guards };
    kind what = kind::hosts;
    std::string uid;
    peer_id who;
    tenure rival;
  };
  struct served {
    std::uint32_t term = 1;
    bool adopted = false;
    time_point next_look; ///< For rivals.
  };
  struct outgoing {
    replica_offer what;
    std::shared_ptr<const shelved_expert> kept;
  };
  struct incoming {
    replica_intake bytes;
    time_point deadline;
  };
  /// About an orphan, until both answers are in.
  struct inquiry {
    replica_book::question what;
    std::optional<std::vector<expert_announcement>> hosts;
    std::optional<std::vector<expert_announcement>> guards;
  };
  /// A replica on its way to the shelf of adopted experts.
  struct adoption {
    std::optional<peer_id> from; ///< Who hands it over and waits.
    replica_offer what;          ///< Its uid, term and version.
  };
  struct kept_record {
    expert_announcement what;
    time_point next;
  };

  void look_up(const record_key& key, purpose why);
  void ask_around(time_point now);
  void publish(time_point now);
  void publish_replica(const std::string& uid, kept_record& r);
  void send_offers(time_point now);
  void take_over(time_point now);
  void look_at_rivals(const purpose& why,
                      const std::vector<expert_announcement>& hosts);
  void on_answer(const purpose& why, const records_looked_up& x);

  void read_offer(const letter& x, const replica_offer& offer);
  void read_reply(const peer_id& from, const replica_reply& x);
  void read_chunk(const letter& x, const replica_chunk& chunk);
  void reply(const peer_id& to, const replica_offer& about,
             replica_standing standing);
  void keep_record(const std::string& uid, std::uint32_t term,
                   std::uint64_t version);
  void adopt(const std::string& uid, const replica_book::replica& what,
             std::optional<peer_id> from);
  void kept(const replica_offer& x, const peer_id& from);
  /// It is served here, or is not going to be.
  void adopted(const std::string& uid, replica_standing standing);
  void count_adopted();
  void tell(const std::string& what, const std::string& uid, std::uint32_t term,
            std::uint64_t version);

  expert_replicator_actor::pointer self_ = nullptr;
  expert_replicator_config config_;
  wiring wired_;
  address where_;
  std::optional<replication_plan> plan_;
  std::optional<replica_book> book_;
  std::shared_ptr<worker> disk_;
  std::set<peer_id> connected_;
  std::map<std::string, served> served_;
  std::map<std::pair<std::string, peer_id>, outgoing> outgoing_;
  std::map<std::string, incoming> incoming_;
  std::map<std::string, adoption> adopting_;
  std::map<std::string, inquiry> inquiries_;
  std::multimap<record_key, purpose> asked_;
  /// Of replicas kept here; under the next term of one that is taken over.
  std::map<std::string, kept_record> records_;
  std::size_t hosts_known_ = 0;
  time_point next_lease_;
  time_point next_notice_;
  time_point next_hosts_look_;
  bool leaving_ = false;
};

expert_replicator_actor::behavior_type expert_replicator(
    expert_replicator_actor::stateful_pointer<expert_replicator_state> self,
    expert_replicator_config config);

} // namespace potluck

POTLUCK_LOCAL_MESSAGE(expert_stored)
POTLUCK_LOCAL_MESSAGE(expert_dropped)
POTLUCK_LOCAL_MESSAGE(hand_over_expert)
POTLUCK_LOCAL_MESSAGE(adopt_expert)
POTLUCK_LOCAL_MESSAGE(give_way)
POTLUCK_LOCAL_MESSAGE(expert_handed_over)
POTLUCK_LOCAL_MESSAGE(replica_read)
POTLUCK_LOCAL_MESSAGE(replica_written)
POTLUCK_LOCAL_MESSAGE(replica_moved)
