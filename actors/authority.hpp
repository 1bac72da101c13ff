/// The authority: admits peers to runs (runtime/admission).
///
/// Thin: gathers claims while its thread is busy with the ones before, and
/// sends what the `authority_desk` answers. The organiser's program runs on
/// threads of its own, a few at a time, in the order of the `vetting_queue`,
/// and nobody else waits for it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/handles.hpp"
#include "actors/worker.hpp"
#include "messages/expected.hpp"
#include "runtime/admission/authority_desk.hpp"
#include "runtime/admission/vetting_queue.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Claims that wait; who comes beyond them asks again.
constexpr std::size_t claims_waiting = 4096;
/// Programs that run at once, claims that wait for them, of one home (a school
/// of 40) and in all, and how long one may take.
constexpr std::size_t claim_programs = 4;
constexpr vetting_queue::bounds claims_vetted{64, 256};
constexpr std::chrono::milliseconds claim_program_life = 10s;

} // namespace potluck::limits

namespace potluck {

struct claims_answered {
  authority_desk::outcome outcome;
};
struct claim_vetted {
  authority_desk::claim claim;
  bool yes = false;
  std::string trouble = {}; ///< Why the program has not judged; empty: it has.
};

/// What makes a peer the authority of runs.
struct authority_office {
  std::shared_ptr<authority_desk> desk;
  /// Milliseconds since 1970.
  std::function<std::uint64_t()> wall_clock;
  /// Asks the organiser's program; blocks; null: there is none. Fails with a
  /// sentence where it could not be asked.
  std::function<expected<bool>(const peer_id&, const std::string& words)> asks
      = {};
  /// The desk's, to be told what the organiser says.
  std::shared_ptr<list_runs> by_list = {};
  worker_mode mode = worker_mode::threaded;
};

class authority_state {
public:
  void init(authority_actor::pointer self, authority_office config);

  void on(const authority_handles& w) {
    wired_ = w;
  }
  void on(const letter& x);
  void on(const peer_joined& x);
  void on(const peer_left& x);
  void on(const claims_answered& x);
  void on(const claim_vetted& x);

private:
  void take_up();
  void vet(authority_desk::claim x);
  void start_programs();
  void answer(const peer_id& to, admission_reply reply);

  authority_actor::pointer self_ = nullptr;
  authority_office config_;
  authority_handles wired_;
  std::vector<authority_desk::claim> waiting_;
  bool busy_ = false;                    ///< The thread is.
  std::string trouble_;                  ///< With the book, as was last said.
  std::string program_trouble_;          ///< With the program, likewise.
  std::map<peer_id, std::string> homes_; ///< Of connected peers.
  vetting_queue to_vet_{limits::claims_vetted};
  std::map<peer_id, std::unique_ptr<worker>> programs_; ///< That run for them.
  std::unique_ptr<worker> thread_;
};

authority_actor::behavior_type
authority(authority_actor::stateful_pointer<authority_state> self,
          authority_office config);

} // namespace potluck

POTLUCK_LOCAL_MESSAGE(claims_answered)
POTLUCK_LOCAL_MESSAGE(claim_vetted)
