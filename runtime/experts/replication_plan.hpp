/// A host's side of replicas: which version of which of its experts is to be
/// offered to whom next.
///
/// Pure: the time is passed in; whoever owns it sends. Every expert is to lie
/// at `limits::expert_guards` other hosts, in its newest saved version; one
/// that is being handed over goes to one host only, a guard of its newest
/// version rather than another.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "messages/experts.hpp"
#include "runtime/clock.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Hosts that keep a replica of each expert: the loss of one host and one
/// guard at a time costs nothing that was replicated.
constexpr std::size_t expert_guards = 2;
/// Replicas sent at once by one host.
constexpr std::size_t replicas_sent_at_once = 4;
/// For the answer to an offer, which a guard gives at once.
constexpr auto replica_answer_patience = 8s;
/// A host that refused, or did not answer, is not offered the same expert again
/// so soon.
constexpr auto replica_refusal_pause = 30s;
/// One that is to take an expert over is asked again soon, a few times: it may
/// have been busy with others.
constexpr auto hand_over_pause = 1s;
constexpr int hand_over_attempts = 3;
/// For all experts of a host that leaves to be handed over. A person waits, and
/// may end it at once by a second Ctrl-C.
constexpr auto hand_over_patience = 20s;

} // namespace potluck::limits

namespace potluck {

class replication_plan {
public:
  struct offer {
    std::string uid;
    contact guard;
    std::uint32_t term = 1;
    std::uint64_t version = 0;
    bool hand_over = false;
  };

  replication_plan(const peer_id& self, const digest& kind)
      : self_(self), kind_(kind) {
  }

  /// This host has saved this version of its expert.
  void saved(const std::string& uid, std::uint32_t term, std::uint64_t version);

  /// It does not serve the expert any more.
  void drop(const std::string& uid);

  /// Its last version is saved, and another host is to serve it.
  void hand_over(const std::string& uid);

  /// The hosts that are there now, this one included or not. Guards that are
  /// not among them any more are replaced.
  void hosts(std::vector<expert_host_notice> known);

  /// What to offer next, which is under way from now on; nothing when nothing
  /// is due, or enough is under way.
  std::optional<offer> next(time_point now);

  /// Experts that were to be handed over and that nobody takes; once each.
  std::vector<std::string> unwanted(time_point now);

  /// The version that is under way to this guard; nothing when none is.
  std::optional<offer> under_way(const std::string& uid,
                                 const peer_id& guard) const;

  /// It asks for more: it is alive.
  void progress(const std::string& uid, const peer_id& guard, time_point now);
  /// The guard keeps what was under way.
  void held(const std::string& uid, const peer_id& guard, time_point now);
  /// It does not want it, or not now: who refuses to take an expert over is
  /// asked up to `limits::hand_over_attempts` times.
  void refused(const std::string& uid, const peer_id& guard, time_point now);
  /// The connection with it is gone: all that was under way to it is over.
  void lost(const peer_id& guard, time_point now);
  /// What is under way and has not been heard of for too long is over.
  void expire(time_point now);

private:
  struct guard {
    contact where;
    std::uint64_t version = 0;
    time_point renewed;
  };
  struct transfer {
    offer what;
    time_point deadline;
  };
  struct entry {
    std::uint32_t term = 1;
    std::uint64_t version = 0;
    bool leaving = false;
    bool told = false; ///< That nobody takes it.
    std::map<peer_id, guard> guards;
    std::map<peer_id, time_point> pauses; ///< Who refused, until when.
    std::map<peer_id, int> refusals;      ///< To take it over, how often.
    std::optional<transfer> flight;
  };

  std::optional<contact> choose(const std::string& uid, const entry& x,
                                time_point now) const;
  std::optional<contact> successor(const std::string& uid, const entry& x,
                                   time_point now) const;
  bool ready(const entry& x, const peer_id& host, time_point now) const;
  /// Somebody refused to take it over, and will be asked again.
  bool may_be_taken(const entry& x) const;

  peer_id self_;
  digest kind_;
  std::vector<expert_host_notice> hosts_;
  std::map<std::string, entry> entries_;
  std::string last_; ///< Offered; the next in order comes next.
  std::size_t flights_ = 0;
};

} // namespace potluck
