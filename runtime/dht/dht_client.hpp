/// What this peer asks the DHT: look-ups and publications under way, and the
/// requests that they wait for.
///
/// Every request has a deadline, so every look-up ends. Pure: each call answers
/// with what is to be sent, and what has come to an end. Where to begin it asks
/// `dht_node`, and tells it who answers and who does not.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "messages/message.hpp"
#include "runtime/dht/dht_actions.hpp"
#include "runtime/dht/dht_node.hpp"
#include "runtime/dht/disjoint_lookup.hpp"
#include "runtime/dht/limits.hpp"
#include "runtime/dht/neighbourhoods.hpp"
#include "runtime/dht/timed_requests.hpp"
#include "runtime/lines/token_bucket.hpp"

namespace potluck {

class dht_client {
public:
  /// A look-up for some of a key's records ends after so long with those that
  /// it has found: strangers that connect and answer nothing are among those
  /// that others name, and each is waited for.
  static constexpr std::chrono::milliseconds patience_with_finds{1500};

  /// @param node Outlives the client.
  /// @param first_token At random: answers to an earlier life do not match.
  dht_client(const peer_id& self, dht_node& node, std::uint64_t first_token)
      : self_(self), node_(node), requests_(first_token) {
  }

  /// Seals a record and stores it at the closest nodes. Nothing is done with
  /// one that cannot be sealed.
  /// @param copies At how many; 0: at all that a look-up finds.
  dht_actions publish(dht_record record, std::size_t copies, time_point now);
  struct question {
    record_key key;
    std::vector<std::string> known; ///< Owners whose records are not wanted.
    std::uint32_t most = 0;         ///< Records of each node; 0: all.
    /// Nobody on its way may hide a record: see `disjoint_lookup`.
    bool matters = false;
  };
  /// @param number Of the `lookup_over` that will answer it.
  dht_actions look_up(std::uint64_t number, question x, time_point now);
  /// Looks up what keeps the node's table complete.
  dht_actions refresh(time_point now);
  /// A node has connected. What it knows near this peer that is unknown here is
  /// looked at: it may belong to another swarm, whose nodes do not know these.
  /// @param asks Whether this peer keeps its table fresh.
  dht_actions joined(const contact& who, bool asks, time_point now);

  // What the nodes say. An answer that was not asked for changes nothing.
  dht_actions read(const peer_id& from, const routing_pong& x, time_point now);
  dht_actions read(const peer_id& from, const records_stored& x,
                   time_point now);
  dht_actions read(const peer_id& from, const nodes_found& x, time_point now);
  dht_actions read(const peer_id& from, const records_found& x, time_point now);

  /// It left, or cannot be dialled: what was asked of it fails.
  dht_actions lost(const peer_id& who, time_point now);
  /// It is no node any more.
  void routes_no_more(const peer_id& who) {
    published_.forget_with(who);
  }
  /// Looks at deadlines.
  dht_actions look(time_point now);
  /// Whether anything is awaited.
  bool waits() const {
    return requests_.size() > 0;
  }

private:
  /// A look-up under way, and what its end is for.
  struct search {
    disjoint_lookup state;
    std::optional<std::uint64_t> number; ///< When for records.
    question wish;
    std::optional<dht_record> to_store; ///< When for a publication.
    std::size_t copies = bucket_size;   ///< Of these.
    std::set<peer_id> stored_at;        ///< Those that it was sent to.
    /// Of one for unknown neighbours: the known ones, the closest first.
    std::vector<peer_id> known_here;
    std::vector<std::uint32_t> stored; ///< As each node that answered says.
    time_point began{};
  };
  using request = timed_requests::request;

  search search_for(const record_key& target, time_point now,
                    const std::vector<contact>& seeds, std::size_t quorum,
                    std::size_t paths, std::size_t doubted) const;
  /// Of the nodes that an answer names, those that a search for unknown
  /// neighbours is for; of any other, all.
  static std::vector<contact> unknown_neighbours(const search& s,
                                                 std::vector<contact> named);
  void begin(search s, time_point now);
  void advance(std::uint64_t id, time_point now);
  void finish(search& s, time_point now);
  /// Whether it has found what will do, and waits for more for too long.
  static bool has_enough(const search& s, time_point now);
  /// Sends what is published to those closest that have answered meanwhile.
  void store_at_answered(search& s, time_point now);
  void store_at(const std::vector<contact>& nodes, const dht_record& record,
                time_point now);
  /// What `from` was asked, if it answers in time; a late answer is noted.
  std::optional<request> answered(const peer_id& from, std::uint64_t token,
                                  time_point now);
  /// The search that an answer serves, if any, goes on after `use(search)`.
  template <class Use>
  dht_actions use_answer(const peer_id& from, std::uint64_t token,
                         time_point now, Use use);
  void unanswered(const request& x, time_point now);
  dht_actions done();

  peer_id self_;
  dht_node& node_;
  timed_requests requests_;
  std::map<std::uint64_t, search> searches_;
  std::uint64_t next_search_ = 1;
  std::uint64_t own_lookups_ = 0; ///< Refreshes of the own id.
  neighbourhoods published_;
  token_bucket introductions_{limits::introductions_a_second,
                              limits::introductions_at_once};
  dht_actions actions_;
};

} // namespace potluck
