/// The caller of experts: finds hosts in the DHT, sends calls, judges answers.
///
/// Every call ends: with a good answer, a host's refusal, the loss of its host
/// (at once), or the end of its patience. Hosts that fail are left alone for a
/// while, so that nobody waits for them again and again. It never calls a
/// second host for the same call: whoever mixes experts leaves out who failed.
#pragma once

#include <map>
#include <memory>

#include "actors/experts/promised.hpp"
#include "actors/handles.hpp"
#include "runtime/experts/expert_findings.hpp"
#include "runtime/experts/failing_hosts.hpp"
#include "runtime/experts/open_calls.hpp"
#include "runtime/ports/expert_network.hpp"

namespace potluck {

/// A call, and to whom the answer is promised.
struct call_errand {
  call_errand(expert_call what, promised<expert_reply> answer)
      : what(std::move(what)), answer(std::move(answer)) {
  }
  expert_call what;
  promised<expert_reply> answer;
};
struct prefix_errand {
  prefix_errand(std::string prefix, promised<std::vector<std::uint32_t>> answer)
      : prefix(std::move(prefix)), answer(std::move(answer)) {
  }
  std::string prefix;
  promised<std::vector<std::uint32_t>> answer;
};

/// From the client; shared, and read by the caller alone.
struct place_call {
  std::shared_ptr<call_errand> errand;
};
struct ask_prefix {
  std::shared_ptr<prefix_errand> errand;
};

using expert_caller_actor = expert_caller_door::extend<
    caf::reacts_to<place_call>, caf::reacts_to<ask_prefix>,
    caf::reacts_to<deadline_passed>, caf::reacts_to<tick>>;

/// Which actor takes a client's calls now: none while the peer does not run.
class expert_line {
public:
  expert_caller_actor current() const {
    std::lock_guard<std::mutex> guard{mutex_};
    return current_;
  }
  void connect(expert_caller_actor x) {
    std::lock_guard<std::mutex> guard{mutex_};
    current_ = std::move(x);
  }
  /// If it is still this one.
  void disconnect(const caf::actor_addr& x) {
    std::lock_guard<std::mutex> guard{mutex_};
    if (current_ && current_.address() == x)
      current_ = nullptr;
  }

private:
  mutable std::mutex mutex_;
  expert_caller_actor current_;
};

struct expert_caller_config {
  peer_id self;
  std::string run;
  std::shared_ptr<expert_line> line;
};

class expert_caller_state {
public:
  ~expert_caller_state();
  void init(expert_caller_actor::pointer self, expert_caller_config config);

  void on(const expert_caller_handles& w);
  void on(const letter& x);
  void on(const peer_joined&) {
  }
  void on(const peer_left& x);
  void on(const records_looked_up& x);
  void on(const place_call& x);
  void on(const ask_prefix& x);
  void on(const deadline_passed& x);
  void on(const tick&);

private:
  struct pending {
    std::shared_ptr<call_errand> errand;
    time_point deadline;
  };
  struct search {
    std::string uid; ///< Empty for a prefix.
    std::vector<std::shared_ptr<prefix_errand>> asked;
  };

  void look_up(const record_key& key);
  void resolve(std::uint64_t number);
  void dispatch(std::uint64_t number,
                const std::vector<expert_announcement>& hosts);
  void fail(std::uint64_t number, const std::string& sentence);

  expert_caller_actor::pointer self_ = nullptr;
  caf::actor_addr address_;
  expert_caller_config config_;
  expert_caller_handles wired_;
  open_calls calls_;
  std::map<std::uint64_t, pending> pending_;
  expert_findings findings_;
  std::map<record_key, search> searches_; ///< Under way.
  failing_hosts failing_;
};

expert_caller_actor::behavior_type
expert_caller(expert_caller_actor::stateful_pointer<expert_caller_state> self,
              expert_caller_config config);

} // namespace potluck

POTLUCK_LOCAL_MESSAGE(place_call)
POTLUCK_LOCAL_MESSAGE(ask_prefix)
