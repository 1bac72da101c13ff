/// Keeps replicas of this host's experts at others, and those of others here;
/// takes over the experts of hosts that vanish, hands over those of this one
/// when it leaves.
///
/// Decides nothing: `replica_sender` is the owner's side, `replica_guard` the
/// guard's, `expert_rivals` sees who else has an expert, `replica_questions`
/// what is asked of the DHT. Files are read and written on a thread of its own.
/// runtime/experts/README.md has the steps.
#pragma once

#include <memory>
#include <optional>
#include <set>

#include "actors/handles.hpp"
#include "actors/worker.hpp"
#include "runtime/experts/expert_rivals.hpp"
#include "runtime/experts/host_notices.hpp"
#include "runtime/experts/replica_guard.hpp"
#include "runtime/experts/replica_questions.hpp"
#include "runtime/experts/replica_sender.hpp"

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
    caf::reacts_to<expert_replicator_handles>, caf::reacts_to<letter>,
    caf::reacts_to<peer_joined>, caf::reacts_to<peer_left>,
    caf::reacts_to<reachable_at>, caf::reacts_to<records_looked_up>,
    caf::reacts_to<expert_stored>, caf::reacts_to<expert_dropped>,
    caf::reacts_to<hand_over_expert>, caf::reacts_to<replica_read>,
    caf::reacts_to<replica_written>, caf::reacts_to<replica_moved>,
    caf::reacts_to<tick>>;

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

  void on(const expert_replicator_handles& w);
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
  /// Each action is carried out by a `carry_out` of its own.
  template <class Actions>
  void perform(const Actions& actions);
  void carry_out(const replica_sender::read_shelf& x);
  void carry_out(const replica_sender::make_offer& x);
  void carry_out(const replica_sender::send_chunk& x);
  void carry_out(const replica_sender::let_go& x);
  void carry_out(const replica_guard::answer& x);
  void carry_out(const replica_guard::store& x);
  void carry_out(const replica_guard::move_replica& x);
  void carry_out(const replica_guard::forget_replica& x);
  void carry_out(const replica_guard::publish& x);
  void carry_out(const replica_guard::serve& x);
  void carry_out(const replica_guard::taken_over& x);

  void ask(replica_questions::question x);
  void ask_around(time_point now);
  /// What an answer says.
  void heard(replica_questions::hosts& x);
  void heard(const replica_questions::lease& x);
  void heard(const replica_questions::rivals& x);
  void heard(const replica_questions::rival_lease& x);
  void heard(const replica_questions::orphan& x);

  time_point now() const;
  void fault(const std::string& what, const std::string& detail);
  void tell(const std::string& what, const std::string& uid, std::uint32_t term,
            std::uint64_t version);

  expert_replicator_actor::pointer self_ = nullptr;
  expert_replicator_config config_;
  expert_replicator_handles wired_;
  std::shared_ptr<worker> disk_;
  std::set<peer_id> connected_;
  std::optional<replica_sender> sender_;
  std::optional<replica_guard> guard_;
  std::optional<expert_rivals> rivals_;
  std::optional<replica_questions> questions_;
  std::optional<host_notices> notices_;
  bool knows_bytes_ = false; ///< Of its own experts.
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
