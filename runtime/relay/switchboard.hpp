/// What `relaying_transport` does between the wrapped transport and its
/// listener: tells frames of circuits from others, and has the desk pass them
/// on, or the ends here take them.
///
/// Thread-safe. What has to be done is queued under the lock, and done without
/// it by one thread at a time, in order: calls may come back.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>

#include "runtime/relay/circuit_desk.hpp"
#include "runtime/relay/circuit_ends.hpp"
#include "runtime/relay/relaying_transport.hpp"
#include "runtime/strangers/letter_allowance.hpp"

namespace potluck {

class relaying_transport::switchboard : public transport_listener,
                                        circuit_ends::listener {
public:
  switchboard(transport& below, std::function<time_point()> now,
              std::function<void()> owes);

  void begin(std::shared_ptr<transport_listener> to) {
    to_ = std::move(to);
  }
  void be_hub(bool is, const limits::hub_budget& budget);
  void rest(bool rests);
  void only_for(circuit_desk::admits whom);
  void belongs(connection_id id, const peer_id& who, const std::string& run);
  void trusts(connection_id id);
  connection_id dial_through(connection_id hub, const peer_id& to);
  bool give_credit();
  void send(connection_id id, outgoing_frame frame);
  void close(connection_id id, std::uint32_t linger_ms);
  /// Ends all circuits; then the wrapped transport may be stopped,
  void stop();
  /// and the listener, which may hold whoever holds this, be let go.
  void forget_listener();

  void on_accepted(connection_id id, const address& remote,
                   const peer_id& proven) override;
  void on_connected(connection_id id, const address& remote,
                    const peer_id& proven) override;
  void on_frame(connection_id id, incoming_frame frame) override;
  void on_closed(connection_id id, const std::string& reason) override;
  void on_traffic(duration interval,
                  const std::vector<connection_traffic>& traffic) override {
    to_->on_traffic(interval, traffic);
  }

private:
  struct line {
    address remote;
    bool dialled = false;
    std::unique_ptr<letter_allowance> letters = {}; ///< Of circuits.
    bool trusted = false;
    std::optional<time_point> silenced_until = {}; ///< Not read before.
  };

  // Under the lock, as all that follows.
  void met(connection_id id, const address& remote, bool dialled,
           const peer_id& proven);
  void read(connection_id from, circuit_open x);
  void read(connection_id from, const circuit_data& x,
            const shared_bytes& body);
  void read(connection_id from, const circuit_credit& x);
  void read(connection_id from, const circuit_close& x);
  /// For what this peer does for others' circuits: who sends more than its
  /// allowance is not read for a while, as a session has it with letters.
  void pay(connection_id from, const message& what);
  /// Reads those again of which enough time has passed. @returns Whether any
  /// others wait.
  bool read_on();
  // What comes of circuits that end here.
  void to_hub(connection_id hub, const message& what,
              shared_bytes body) override {
    put(hub, what, std::move(body));
  }
  void circuit_opened(connection_id id, bool opened_here, const address& seen,
                      const peer_id& proven) override;
  void circuit_brought(connection_id id, incoming_frame frame) override;
  void circuit_ended(connection_id id, const std::string& reason) override;

  void put(circuit_desk::sendings all);
  void put(connection_id to, const message& what, shared_bytes body = {});
  void later(std::function<void()> what) {
    todo_.push_back(std::move(what));
  }
  void note_owing();
  void look_later();
  /// Does what is queued, unless another thread is at it.
  void work(std::unique_lock<std::mutex>& lock);

  transport& below_;
  const std::function<time_point()> now_;
  const std::function<void()> owes_;
  std::shared_ptr<transport_listener> to_;

  std::mutex mutex_;
  bool stopped_ = false;
  bool hub_ = false;
  bool owing_ = false;   ///< Somebody will call `give_credit`.
  bool working_ = false; ///< A thread does what is queued.
  std::deque<std::function<void()>> todo_;
  circuit_desk desk_;
  std::map<connection_id, line> lines_;
  std::shared_ptr<homes_letters> homes_ = std::make_shared<homes_letters>();
  circuit_ends ends_;
};

} // namespace potluck
