/// The hole maker: gets direct lines to peers that only circuits lead to.
///
/// Thin: one that can be dialled is dialled at once (connection reversal, as in
/// libp2p's DCUtR); for others a `hole_puncher` for each session decides
/// (runtime/lines/hole_puncher.hpp). What it needs to know of the other side it
/// has from hubs, by `peer_joined`, and from reports; of this one from the
/// roster. It writes over the circuit, and the gateway punches.
#pragma once

#include <map>
#include <set>

#include "actors/handles.hpp"
#include "runtime/lines/hole_puncher.hpp"
#include "runtime/lines/token_bucket.hpp"

namespace potluck::limits {

/// Addresses that are punched or dialled, whoever asks for it: some of a hub's
/// guests, and the hub itself, may want to have that done to somebody else. A
/// punch takes some thirty packets in five seconds. Enough for a newcomer among
/// 64.
constexpr double punches_per_second = 4;
constexpr double punches_at_once = 256;

} // namespace potluck::limits

namespace potluck {

struct hole_maker_config {
  peer_id self;
  std::uint64_t seed = 0; ///< Of tokens that others cannot guess.
};

class hole_maker_state {
public:
  void init(hole_maker_actor::pointer self, hole_maker_config config) {
    self_ = self;
    config_ = std::move(config);
  }

  void on(const hole_maker_handles& w) {
    wired_ = w;
  }
  void on(const letter& x);
  void on(const peer_joined& x);
  void on(const peer_left& x) {
    guests_.erase(x.id);
  }
  void on(const report_heard& x);
  void on(const reach_known& x);
  void on(const punches_failed& x);
  void on(const deadline_passed& x);

private:
  /// One that a circuit led to at least once.
  struct guest {
    hole_puncher puncher;
    std::set<std::string> hosts; ///< Where hubs see it.
    reach its_reach = reach::unknown;
    address listens = {};      ///< Where others can dial it, by its report,
    address listens_also = {}; ///< and where else.
    address dialled = {};      ///< By us, since only circuits lead to it.
    bool relayed = true;
    bool told = false; ///< That no hole leads to it.
  };

  time_point now() const {
    return self_->clock().now();
  }
  void inform(guest& x);
  /// One that others can dial asks for us through a hub: we can do it.
  void dial(const peer_id& who, guest& x);
  void carry_out(const peer_id& who, const hole_puncher::actions& all);
  void punch(const peer_id& who, const hole_puncher::punch_now& x);
  /// Wakes up when a puncher is due.
  void arm();

  hole_maker_actor::pointer self_ = nullptr;
  hole_maker_config config_;
  hole_maker_handles wired_;
  std::map<peer_id, guest> guests_;
  reach_known own_;
  token_bucket allowance_{limits::punches_per_second, limits::punches_at_once};
  std::uint64_t sessions_ = 0; ///< Each has its own tokens.
  time_point wake_ = time_point::max();
  std::uint64_t alarm_ = 0; ///< The one that is set; older ones are nothing.
};

hole_maker_actor::behavior_type
hole_maker(hole_maker_actor::stateful_pointer<hole_maker_state> self,
           hole_maker_config config);

} // namespace potluck
