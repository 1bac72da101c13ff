#include "tools/lab/network/fault_proxy.hpp"

#include <algorithm>
#include <future>
#include <list>
#include <map>
#include <mutex>

#include "runtime/random.hpp"
#include "runtime/uv/event_loop.hpp"
#include "runtime/uv/resolver.hpp"
#include "tools/lab/network/fault_relay.hpp"

namespace potluck {

namespace {

/// Between two looks at what is due: far below what a person calls a delay.
constexpr std::uint64_t look_ms = 2;
/// Bytes of a read, so that a slow line does not get a second's worth at once.
constexpr std::size_t piece_bytes = 16 * 1024;
constexpr std::size_t packet_bytes = 1400;
/// Linux's least retransmission time-out.
constexpr duration least_retransmission = std::chrono::milliseconds{200};

} // namespace

class fault_proxy::core final : public event_loop::handler,
                                public relay_network {
public:
  explicit core(std::uint64_t seed) : chance_(seed), staging_(piece_bytes) {
    loop_.start(*this);
    loop_.post([this] { look_again(); });
  }

  void stop() {
    loop_.stop([this] {
      look_.reset();
      relays_.clear();
      machines_.clear();
    });
  }

  expected<address> add(machine x, const std::string& front,
                        const std::string& back, std::uint16_t port) {
    expected<address> result = failure{"The proxy has stopped."};
    do_now([&] { result = open(x, front, back, port); });
    return result;
  }

  void set_line(machine x, const line& how) {
    do_now([&] {
      if (auto i = machines_.find(x); i != machines_.end())
        i->second.how = how;
    });
  }

  void part(std::uint64_t number, const std::set<machine>& side) {
    do_now([&] { partitions_[number] = side; });
  }
  void reunite(std::uint64_t number) {
    do_now([&] { partitions_.erase(number); });
  }

  void cut(machine x) {
    do_now([&] {
      for (auto i = relays_.begin(); i != relays_.end();)
        if ((*i)->concerns(x)) {
          // Counted first: both sides hear of it on other threads.
          count(&statistics::cut, 1);
          i = relays_.erase(i);
        } else {
          ++i;
        }
    });
  }

  statistics totals() const {
    std::lock_guard<std::mutex> lock{mutex_};
    return totals_;
  }

private:
  /// In the loop's thread, and waits for it: what is sent from then on has the
  /// fault. Nothing when the proxy has stopped.
  void do_now(const std::function<void()>& what) {
    auto promise = std::make_shared<std::promise<void>>();
    auto done = promise->get_future();
    if (loop_.post([promise, &what] {
          what();
          promise->set_value();
        }))
      done.wait();
  }

  struct machine_state {
    core* owner = nullptr;
    machine number = 0;
    std::string host; ///< From which its peer dials.
    address back;
    line how;
    duration sent{0};     ///< When its uplink is free again.
    duration received{0}; ///< Its downlink.
    tcp_socket listening;
  };

  // ---- event_loop::handler: nothing is posted as frames
  void on_posted_frame(connection_id, outgoing_frame) override {
  }
  void on_all_handled() override {
  }

  // ---- relay_network
  // ---------------------------------------------------------
  uv_loop_t* loop() override {
    return loop_.uv();
  }
  std::vector<char>& staging() override {
    return staging_;
  }
  duration now() const override {
    return duration{static_cast<duration::rep>(uv_hrtime())};
  }

  bool held(machine from, machine to) const override {
    if (machines_.at(to).how.deaf)
      return true;
    return std::any_of(partitions_.begin(), partitions_.end(),
                       [&](const auto& x) {
                         return x.second.count(from) != x.second.count(to);
                       });
  }

  duration arrival(machine from, machine to, std::size_t bytes) override {
    auto& sender = machines_.at(from);
    auto& receiver = machines_.at(to);
    count(&statistics::bytes, bytes);
    auto at = through(now(), sender.sent, sender.how.upload, bytes);
    auto delay = sender.how.delay + receiver.how.delay;
    at += delay;
    for (auto jitter : {sender.how.jitter, receiver.how.jitter})
      at += std::chrono::duration_cast<duration>(jitter * chance_.uniform01());
    at = through(at, receiver.received, receiver.how.download, bytes);
    // Packets of one piece are lost and sent again side by side.
    const auto arrives = (1 - sender.how.loss) * (1 - receiver.how.loss);
    std::uint64_t most = 0;
    for (auto left = (bytes + packet_bytes - 1) / packet_bytes; left > 0;
         --left) {
      std::uint64_t tries = 0;
      while (chance_.uniform01() >= arrives)
        ++tries;
      most = std::max(most, tries);
      count(&statistics::lost_packets, tries);
    }
    return at + most * std::max(least_retransmission, 4 * delay);
  }

  void spoil(machine from, machine to,
             std::vector<std::uint8_t>& piece) override {
    for (auto x : {from, to})
      if (chance_.uniform01() < machines_.at(x).how.corrupt) {
        auto bit = chance_.below(8 * piece.size());
        piece[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
        count(&statistics::corrupted, 1);
      }
  }

  /// When `bytes` that come at `at` have passed a line that is busy until
  /// `free`.
  static duration through(duration at, duration& free, double rate,
                          std::size_t bytes) {
    if (rate <= 0)
      return at;
    free = std::max(at, free)
           + duration{static_cast<duration::rep>(static_cast<double>(bytes)
                                                 / rate * 1e9)};
    return free;
  }

  // ---- machines
  expected<address> open(machine x, const std::string& front,
                         const std::string& back, std::uint16_t port) {
    auto where = read_numeric({front, port});
    if (!where || !read_numeric({back, 0}))
      return failure{"A proxy needs numeric hosts, not `" + front + "` and `"
                     + back + "`."};
    auto& m = machines_[x];
    m.owner = this;
    m.number = x;
    m.host = front;
    m.listening = make_tcp_socket(loop(), &m);
    auto error = uv_tcp_bind(&m.listening->tcp,
                             reinterpret_cast<const sockaddr*>(&*where), 0);
    if (error == 0)
      error = uv_listen(
          m.listening->stream(), 512, [](uv_stream_t* stream, int status) {
            auto* owner = static_cast<tcp_handle*>(stream->data)->owner;
            if (status == 0 && owner != nullptr) {
              auto& to = *static_cast<machine_state*>(owner);
              to.owner->accept(stream, to);
            }
          });
    sockaddr_storage bound{};
    int size = sizeof(bound);
    if (error == 0)
      error = uv_tcp_getsockname(&m.listening->tcp,
                                 reinterpret_cast<sockaddr*>(&bound), &size);
    if (error != 0) {
      machines_.erase(x);
      return failure{"The proxy cannot listen on " + front + ": "
                     + uv_strerror(error) + "."};
    }
    auto result = to_address(bound);
    m.back = {back, result.port};
    return result;
  }

  void accept(uv_stream_t* stream, machine_state& to) {
    auto socket = make_tcp_socket(loop(), nullptr);
    if (uv_accept(stream, socket->stream()) != 0)
      return;
    sockaddr_storage remote{};
    int size = sizeof(remote);
    if (to.how.closed
        || uv_tcp_getpeername(&socket->tcp,
                              reinterpret_cast<sockaddr*>(&remote), &size)
               != 0)
      return;
    auto host = to_address(remote).host;
    auto from
        = std::find_if(machines_.begin(), machines_.end(),
                       [&](const auto& x) { return x.second.host == host; });
    if (from == machines_.end())
      return; // A stranger: nobody else has business here.
    count(&statistics::connections, 1);
    relays_.push_back(std::make_unique<relay>(
        *this, std::move(socket), from->first, to.number,
        *read_numeric({host, 0}), *read_numeric(to.back)));
  }

  void look_again() {
    for (auto i = relays_.begin(); i != relays_.end();)
      i = (*i)->pump() ? std::next(i) : relays_.erase(i);
    look_.emplace(loop(), std::chrono::milliseconds{look_ms},
                  [this] { look_again(); });
  }

  void count(std::uint64_t statistics::*what, std::uint64_t more) {
    std::lock_guard<std::mutex> lock{mutex_};
    totals_.*what += more;
  }

  mutable std::mutex mutex_; ///< For the totals.
  statistics totals_;

  // Of the loop's thread.
  random_stream chance_;
  std::vector<char> staging_;
  std::map<machine, machine_state> machines_;
  std::map<std::uint64_t, std::set<machine>> partitions_;
  std::list<std::unique_ptr<relay>> relays_;
  std::optional<timer> look_;
  event_loop loop_; ///< Last: its thread uses all the others.
};

fault_proxy::fault_proxy(std::uint64_t seed)
    : core_(std::make_shared<core>(seed)) {
}

fault_proxy::~fault_proxy() {
  core_->stop();
}

expected<address> fault_proxy::add(machine x, const std::string& front,
                                   const std::string& back,
                                   std::uint16_t port) {
  return core_->add(x, front, back, port);
}

void fault_proxy::set_line(machine x, const line& how) {
  core_->set_line(x, how);
}

std::uint64_t fault_proxy::part(std::set<machine> side) {
  core_->part(++partitions_, side);
  return partitions_;
}

void fault_proxy::reunite(std::uint64_t partition) {
  core_->reunite(partition);
}

void fault_proxy::cut(machine x) {
  core_->cut(x);
}

fault_proxy::statistics fault_proxy::totals() const {
  return core_->totals();
}

} // namespace potluck
