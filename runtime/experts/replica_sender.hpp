/// A host's side of replicas, carried out: what is read from its shelf, offered
/// and sent, and what the guards' answers mean.
///
/// Pure: the time is passed in; whoever owns it carries out the actions.
/// `replication_plan` decides what is offered to whom.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "messages/message.hpp"
#include "runtime/experts/expert_shelf.hpp"
#include "runtime/experts/replication_plan.hpp"

namespace potluck {

class replica_sender {
public:
  /// "Read what lies on the shelf, then call `read`."
  struct read_shelf {
    replication_plan::offer what;
    bool adopted = false; ///< From which shelf.
  };
  /// To a host that may have to be dialled first.
  struct make_offer {
    contact to;
    replica_offer what;
  };
  struct send_chunk {
    peer_id to;
    replica_chunk what;
    shared_bytes body;
  };
  /// An expert of a host that leaves: another one serves it, or none will.
  struct let_go {
    std::string uid;
    bool served = false;
  };
  using action = std::variant<read_shelf, make_offer, send_chunk, let_go>;
  using actions = std::vector<action>;

  replica_sender(const peer_id& self, const digest& kind)
      : self_{self, {}}, kind_(kind), plan_(self, kind) {
  }

  /// Where others reach this host; nothing is offered before that is known.
  void reachable(const address& where) {
    self_.where = where;
  }
  /// This host serves the expert, and has saved this version of it.
  void saved(const std::string& uid, std::uint32_t term, std::uint64_t version,
             bool adopted);
  void dropped(const std::string& uid);
  /// What was saved last is its end here.
  actions hand_over(const std::string& uid, time_point now);
  /// The hosts that are there now.
  void hosts(std::vector<expert_host_notice> known) {
    plan_.hosts(std::move(known));
  }
  /// The connection with this host is gone.
  void lost(const peer_id& host, time_point now);

  /// What is to be done now.
  actions due(time_point now);
  /// @param kept What lies on the shelf; without bytes when it is unreadable.
  /// @param sum Of its bytes.
  actions read(const replication_plan::offer& what,
               std::shared_ptr<const shelved_expert> kept, const digest& sum,
               time_point now);
  actions answered(const peer_id& from, const replica_reply& x, time_point now);

private:
  struct outgoing {
    replica_offer what;
    std::shared_ptr<const shelved_expert> kept;
  };

  actions window(const peer_id& to, const replica_reply& x, const outgoing& o);
  /// Of what is not under way any more nothing is kept.
  void forget_ended();

  contact self_;
  digest kind_;
  replication_plan plan_;
  std::map<std::string, bool> adopted_; ///< Of each expert served here.
  std::map<std::pair<std::string, peer_id>, outgoing> outgoing_;
};

} // namespace potluck
