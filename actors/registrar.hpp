/// The registrar: gets the run's charter from those who have it, or founds the
/// run; afterwards gives it to those who ask.
///
/// Founding, so that peers that start at once agree on one charter (Lamport's
/// bakery over the DHT): everybody publishes that it is there, and only then
/// looks who else is. After a settling time the smallest peer id among those
/// without a charter publishes that it is `founding`, looks again, and goes on
/// unless it sees a charter or a smaller id that is founding too; the others
/// wait for it as long as it lives. Two that cannot see each other at all found
/// two charters; when they meet, the handshake refuses with a sentence.
#pragma once

#include <functional>
#include <map>

#include "actors/interfaces.hpp"
#include "actors/worker.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Between two looks at whether the run is known or may be founded.
constexpr auto registrar_interval = 100ms;

} // namespace potluck::limits

namespace potluck {

struct registrar_config {
  peer_id self;
  potluck::role role = potluck::role::trainer;
  std::string run;
  /// Known from the start, when resuming from a checkpoint.
  std::optional<charter> known;
  /// Learns a tokenizer and fixes the settings: blocking, may throw. Null when
  /// this peer cannot found a run (an auxiliary peer).
  std::function<charter()> propose;
  /// What the user insists on; a charter that differs ends the peer.
  std::vector<setting> demanded;
  /// Whether other peers were named; who names none founds at once.
  bool has_seeds = false;
  worker_mode mode = worker_mode::threaded;
};

class registrar_state {
public:
  void init(registrar_actor::pointer self, registrar_config config);

  void on(const registrar_handles& w);
  void on(const letter& x);
  void on(const peer_joined& x);
  void on(const peer_left& x);
  void on(const report_heard& x);
  void on(const records_looked_up& x);
  void on(const proposal_ready& x);
  void on(const proposal_failed& x);
  void on(const tick&);

private:
  struct other {
    bool connected = false;
    potluck::role role = potluck::role::trainer;
    digest charter;
    potluck::phase phase = potluck::phase::joining;
    caf::actor_clock::time_point heard_at;
    bool asked = false;
    caf::actor_clock::time_point asked_at;
    duration patience{}; ///< For the answer; grows with every repetition.
  };

  void ask(const peer_id& peer, other& o);
  /// Drops peers that only old records still speak of.
  void forget_silent();
  void agree(charter c, bool founded);
  /// Nobody else has, or is about to have, a charter.
  bool nobody_before_us() const;
  void report(potluck::phase p);
  void found_when_sure();
  void give_up(const std::string& sentence);

  registrar_actor::pointer self_ = nullptr;
  registrar_config config_;
  registrar_handles wired_;
  std::optional<charter> agreed_;
  bool announced_ = false;
  std::map<peer_id, other> others_;
  bool connected_once_ = false;
  bool founding_ = false;
  bool finished_ = false; ///< Somebody had the run's last step.
  bool gave_up_ = false;
  std::optional<charter> proposal_;
  /// Look-ups of the run's record that ended since our last publication: two
  /// of them, since the first may have begun before our record was stored.
  std::uint32_t lookups_ = 0;
  caf::actor_clock::time_point published_at_;
  std::unique_ptr<worker> thread_;
};

registrar_actor::behavior_type
registrar(registrar_actor::stateful_pointer<registrar_state> self,
          registrar_config config);

} // namespace potluck
