/// The address keeper: which addresses this peer keeps for its next start, and
/// where bootstraps are.
///
/// Hears from the roster who answered where, writes that to disk now and then
/// (`kept_addresses` says what), publishes a bootstrap's record and looks up
/// those of others (`bootstrap_record`).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "actors/handles.hpp"
#include "actors/worker.hpp"
#include "runtime/membership/kept_addresses.hpp"
#include "runtime/ports/disk.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Between two looks at what is to be written or published.
constexpr auto address_keeper_interval = 1s;
/// Before the first writing, and between two.
constexpr auto first_address_writing = 5s;
constexpr auto address_writing_pause = 60s;

} // namespace potluck::limits

namespace potluck {

/// Where a peer's addresses are kept, and what was found there.
struct address_keeping {
  std::string path; ///< Empty: none are kept.
  kept_addresses known;
  /// Seconds since 1970.
  std::function<std::uint64_t()> unix_seconds;
  potluck::disk* where = nullptr; ///< Null: this machine's.
};

struct address_keeper_config {
  peer_id self;
  potluck::role role = potluck::role::trainer;
  address_keeping keeping;
  bool is_authority = false; ///< Members look for it by its id.
  worker_mode mode = worker_mode::threaded;
};

class address_keeper_state {
public:
  void init(address_keeper_actor::pointer self, address_keeper_config config);
  /// Writes what is known.
  ~address_keeper_state();

  void on(const address_keeper_handles& w);
  void on(const gateway_ready& x);
  void on(const reachable_at& x);
  void on(const answered_at& x);
  void on(const peer_joined& x) {
    connected_.insert(x.who.id);
  }
  void on(const peer_left& x);
  void on(const records_looked_up& x);
  void on(const addresses_written& x);
  void on(const tick&);

private:
  time_point now() const {
    return self_->clock().now();
  }
  std::uint64_t seconds() const {
    return config_.keeping.unix_seconds ? config_.keeping.unix_seconds() : 0;
  }
  bool keeps() const {
    return !config_.keeping.path.empty();
  }
  kept_addresses& kept() {
    return config_.keeping.known;
  }
  std::string text();
  void publish_or_look();

  address_keeper_actor::pointer self_ = nullptr;
  address_keeper_config config_;
  address_keeper_handles wired_;
  std::set<peer_id> connected_;
  address own_; ///< As others reach this peer.
  bool changed_ = false;
  time_point write_at_{};   ///< Not before.
  time_point network_at_{}; ///< Publishes or looks up then.
  bool complained_ = false;
  std::unique_ptr<worker> thread_;
};

address_keeper_actor::behavior_type address_keeper(
    address_keeper_actor::stateful_pointer<address_keeper_state> self,
    address_keeper_config config);

} // namespace potluck
