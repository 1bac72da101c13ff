/// A guard's side of replicas, carried out: what it keeps for other hosts, and
/// how a replica becomes an expert that is served here.
///
/// Pure: the time is passed in; whoever owns it carries out the actions.
/// `replica_book` decides what is kept and when an expert is taken over; one
/// that is taken over is claimed by its record under the next term, its file
/// moves, and then the host loads it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "messages/message.hpp"
#include "runtime/experts/replica_book.hpp"
#include "runtime/experts/replica_intake.hpp"

namespace potluck::limits {

/// A replica may be so many times as long as an own expert that was saved, of
/// the same kind; before one was, so long at most.
constexpr std::uint64_t replica_slack = 4;
constexpr std::uint64_t first_replica_bytes = std::uint64_t{16} << 20;
/// Replicas of that length that may be on their way at a time.
constexpr std::uint64_t replicas_on_their_way = 2;
/// Of those that come at a time, from one home: others have room left.
constexpr std::size_t replicas_of_a_home_at_once
    = replicas_received_at_once / 2;

} // namespace potluck::limits

namespace potluck {

class replica_guard {
public:
  struct answer {
    peer_id to;
    replica_reply what;
  };
  /// "Put it on the shelf of replicas, then call `written`."
  struct store {
    replica_offer what;
    peer_id from;
    std::shared_ptr<std::vector<std::uint8_t>> bytes;
  };
  /// "Move it to the shelf of adopted experts, then call `moved`."
  struct move_replica {
    std::string uid;
    std::uint32_t term = 1; ///< Under which it will be served.
  };
  /// "Nothing of it needs to lie on the shelf of replicas."
  struct forget_replica {
    std::string uid;
  };
  /// The record of what is kept here, or of a claim.
  struct publish {
    std::string uid;
    expert_announcement what;
  };
  /// "It lies on the shelf of adopted experts: serve it."
  struct serve {
    std::string uid;
  };
  /// For people: an expert of another host is served here from now on.
  struct taken_over {
    std::string uid;
    std::uint32_t term = 1;
    std::uint64_t version = 0;
  };
  using action = std::variant<answer, store, move_replica, forget_replica,
                              publish, serve, taken_over>;
  using actions = std::vector<action>;

  /// @param spare Experts of others that this host may take over.
  replica_guard(const peer_id& self, const digest& kind, std::size_t spare)
      : self_{self, {}}, book_(self, kind, spare), spare_(spare) {
  }

  /// Where others reach this host; nothing is published before that is known.
  void reachable(const address& where) {
    self_.where = where;
  }
  /// So much is what an expert of this host takes when it is saved: others of
  /// the kind take as much, and a little more or less.
  void own_bytes(std::uint64_t bytes) {
    most_bytes_ = std::max(most_bytes_, limits::replica_slack * bytes);
  }
  /// This host serves an expert, and has saved this version of it.
  actions serves(const std::string& uid, std::uint32_t term,
                 std::uint64_t version, bool adopted, time_point now);
  /// It does not, or no more.
  actions dropped(const std::string& uid, time_point now);
  /// This host leaves, and takes nothing over any more.
  void leave() {
    leaving_ = true;
  }
  /// This host is connected. @param home As `home_of` has it.
  void joined(const peer_id& host, std::string home) {
    homes_[host] = std::move(home);
  }
  /// The connection with this host is gone.
  void lost(const peer_id& host);

  actions offered(const peer_id& from, const replica_offer& x, time_point now);
  /// What is not a part of a replica that arrives from there is passed over.
  actions chunk(const peer_id& from, const replica_chunk& x,
                const shared_bytes& body, time_point now);
  /// @param good It is on the shelf.
  actions written(const replica_offer& x, const peer_id& from, bool good,
                  time_point now);
  /// @param good It is on the shelf of adopted experts.
  actions moved(const std::string& uid, bool good, time_point now);

  /// What is to be done now.
  actions due(time_point now);

  /// Experts of others that it may still take over.
  std::size_t room() const {
    return leaving_ ? 0 : book_.room();
  }
  /// What is to be asked now, and what came of it: as `replica_book` has it.
  std::vector<peer_id> owners_due(time_point now, std::size_t at_most) {
    return book_.owners_due(now, at_most);
  }
  void lease(const peer_id& owner, bool there, bool connected, time_point now) {
    book_.lease(owner, there, connected, now);
  }
  std::vector<replica_book::question> questions(time_point now,
                                                std::size_t at_most) {
    return book_.questions(now, at_most);
  }
  actions found(const replica_book::question& x,
                const std::vector<expert_announcement>& hosts,
                const std::vector<expert_announcement>& guards, time_point now);

private:
  struct served {
    std::uint32_t term = 1;
    bool adopted = false;
  };
  struct incoming {
    replica_intake bytes;
    std::string home; ///< Whence.
    time_point deadline;
  };
  /// A replica on its way to the shelf of adopted experts.
  struct adoption {
    std::optional<peer_id> from; ///< Who hands it over and waits.
    std::string home;            ///< Of whoever kept it here.
    replica_offer what;          ///< Its uid, term and version.
    bool on_shelf = false;
  };
  struct record {
    expert_announcement what;
    time_point next;
  };

  /// Whether a home may hand one more over: not while what it has handed over
  /// and does not load, or not yet, has half of the places.
  bool may_hand_over(const std::string& home) const;
  static answer reply(const peer_id& to, const replica_offer& about,
                      replica_standing standing);
  /// Each host is at a home of its own while nothing is known of it.
  std::string home(const peer_id& host) const;
  actions kept(const replica_offer& x, const peer_id& from, time_point now);
  void keep_record(const std::string& uid, std::uint32_t term,
                   std::uint64_t version, time_point now);
  /// Unless nobody can reach this host: then it stays due.
  void publish_record(const std::string& uid, record& x, time_point now,
                      actions& out);
  void adopt(const std::string& uid, const replica_book::replica& what,
             std::optional<peer_id> from, time_point now, actions& out);
  void take_over(time_point now, actions& out);
  /// It is served here, or is not going to be.
  void adopted(const std::string& uid, replica_standing standing,
               time_point now, actions& out);
  void count_adopted();

  contact self_;
  replica_book book_;
  std::size_t spare_;
  std::map<peer_id, std::string> homes_; ///< Of connected hosts.
  std::map<std::string, served> served_;
  std::map<std::string, incoming> incoming_;
  /// Whole, and being written; with who sent them, and from where.
  std::map<std::pair<std::string, peer_id>, std::string> writing_;
  std::map<std::string, adoption> adopting_;
  /// They lie on the shelf of adopted experts and do not load: the fault may be
  /// this machine's, so they stay, and each takes the place of an expert. With
  /// the homes that they came from.
  std::map<std::string, std::string> unloaded_;
  /// Of replicas kept here; under the next term of one that is taken over.
  std::map<std::string, record> records_;
  bool leaving_ = false;
  std::uint64_t most_bytes_ = limits::first_replica_bytes; ///< Of a replica.
};

} // namespace potluck
