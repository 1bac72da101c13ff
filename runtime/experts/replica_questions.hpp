/// What a replicator asks the DHT: which keys, and what the answers say.
///
/// Pure: the time is passed in; whoever owns it looks up the keys. A key that
/// is being looked up for one question is not looked up again for another.
/// Records are claims of strangers: what is malformed is ignored.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/experts/expert_records.hpp"
#include "runtime/experts/replica_book.hpp"
#include "runtime/experts/tenure.hpp"

namespace potluck {

class replica_questions {
public:
  /// Which hosts are there? (A question, and its answer.)
  struct hosts {
    std::vector<expert_host_notice> known = {};
  };
  /// Does this host live?
  struct lease {
    peer_id owner;
    bool there = false;
  };
  /// Who announces an expert that is served here?
  struct rivals {
    std::string uid;
    std::vector<expert_announcement> hosts = {};
  };
  /// Does the rival live that would have it by right?
  struct rival_lease {
    std::string uid;
    tenure rival;
    bool there = false;
  };
  /// Who announces an expert that has lost its host, and who keeps it?
  struct orphan {
    replica_book::question what;
    std::optional<std::vector<expert_announcement>> hosts = {};
    std::optional<std::vector<expert_announcement>> guards = {};
  };
  using question = std::variant<hosts, lease, rivals, rival_lease, orphan>;

  replica_questions(std::string run, const peer_id& self)
      : run_(std::move(run)), self_(self) {
  }

  /// Whether to ask for all hosts now; sooner while no other is known. Counts
  /// as done when it is true.
  bool hosts_due(time_point now);

  /// The keys to look up for it.
  std::vector<record_key> ask(question x);

  /// The questions that are answered now. A lease that nobody was asked about
  /// successfully stays unanswered.
  /// @param answers Nodes that answered.
  std::vector<question> answered(const record_key& key,
                                 const std::vector<dht_record>& records,
                                 std::uint32_t answers);

  /// What was asked is not answered any more.
  void forget() {
    asked_.clear();
  }

private:
  std::string run_;
  peer_id self_;
  std::multimap<record_key, question> asked_;
  std::map<std::string, orphan> orphans_; ///< Until both answers are in.
  time_point next_hosts_look_;
  bool alone_ = true; ///< No other host is known.
};

} // namespace potluck
