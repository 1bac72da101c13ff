#include "runtime/uv/uv_transport.hpp"

#include <atomic>
#include <future>
#include <list>
#include <stdexcept>
#include <unordered_map>

#include "runtime/config.hpp"
#include "runtime/lines/upload_turns.hpp"
#include "runtime/uv/connection.hpp"
#include "runtime/uv/event_loop.hpp"
#include "runtime/uv/kernel_view.hpp"

namespace potluck {

namespace {

/// Between two looks at what is under way, while connections wait for their
/// turns: a part of the queue that `upload_turns` leaves in the line.
constexpr std::chrono::milliseconds turn_check{5};

using listen_result = expected<address>;

std::string cannot_listen(const address& where, const std::string& why,
                          const char* mend) {
  return "cannot listen on " + to_string(where) + ": " + why + "; " + mend;
}

uv_transport_options checked(uv_transport_options x) {
  if (!x.key && !x.insecure)
    throw std::invalid_argument(
        "a transport needs a key, with which it proves who it is");
  return x;
}

failure cannot_listen(const address& where, int error) {
  auto* mend = "give another address with --listen";
  if (error == UV_EADDRINUSE)
    mend = "stop the other program or choose another port with --listen";
  else if (error == UV_EACCES)
    mend = "choose a port above 1023 with --listen";
  else if (error == UV_EADDRNOTAVAIL)
    mend = "choose an address of this machine with --listen";
  return {cannot_listen(where, uv_strerror(error), mend)};
}

class uv_transport final : public transport,
                           public connection_hub,
                           public event_loop::handler {
public:
  explicit uv_transport(uv_transport_options options)
      : options_(checked(std::move(options))),
        loop_(std::make_shared<event_loop>()),
        staging_(new std::uint8_t[encrypted_staging_bytes]),
        decrypted_(new std::uint8_t[record_bytes]),
        uploads_(options_.max_upload,
                 [this](connection_id id) {
                   if (auto* x = find(id))
                     x->flush();
                 }),
        downloads_(options_.max_download, [this](connection_id id) {
          if (auto* x = find(id))
            x->take_turn();
        }) {
    if (!options_.insecure)
      tls_.emplace(*options_.key);
  }

  ~uv_transport() override {
    stop();
  }

  void start(std::shared_ptr<transport_listener> listener) override {
    listener_ = std::move(listener);
    loop_->start(*this);
    loop_->post([this] {
      last_look_ = std::chrono::steady_clock::now();
      look_later();
    });
  }

  expected<address> listen(const address& where) override {
    if (loop_->inside())
      throw std::logic_error("listen waits for the thread it was called on");
    auto promise = std::make_shared<std::promise<listen_result>>();
    auto result = promise->get_future();
    if (!loop_->post([=] { resolve_and_listen(where, promise); }))
      return stopped(where);
    return result.get();
  }

  connection_id dial(const address& where) override {
    auto id = next_id_++;
    loop_->post([=] {
      if (connections_.size() >= options_.max_connections)
        listener_->on_closed(id, "cannot connect to " + to_string(where)
                                     + ": there are too many connections");
      else
        add(id).dial(where);
    });
    return id;
  }

  void send(connection_id id, outgoing_frame frame) override {
    if (frame.head.empty() || frame.head.size() > max_head_bytes
        || frame.body.size > max_body_bytes)
      throw std::invalid_argument("a frame's head or body has no valid size");
    loop_->post(id, std::move(frame));
  }

  void close(connection_id id, std::uint32_t linger_ms) override {
    loop_->post([=] {
      if (auto* x = find(id))
        x->close(std::chrono::milliseconds{linger_ms});
    });
  }

  void plan_window(connection_id id, const planned_window& x) override {
    loop_->post([=] {
      auto* which = find(id);
      if (which == nullptr)
        return;
      turns_.plan(id, x);
      if (x.queue > 0 && !turns_.left_alone())
        which->mind_our_windows();
    });
  }

  transport_traffic traffic() const override {
    return {sent_, received_};
  }

  void stop() override {
    loop_->stop([this] {
      while (!connections_.empty())
        ended(connections_.begin()->first, "the transport was stopped");
      listening_.clear();
      look_.reset();
      turns_timer_.reset();
      uploads_.stop();
      downloads_.stop();
      for (auto& x : pending_)
        x.promise->set_value(stopped(x.where));
      pending_.clear();
    });
  }

private:
  // ---- connection_hub and event_loop::handler, on the loop's thread ---------

  uv_loop_t* loop() override {
    return loop_->uv();
  }
  const uv_transport_options& options() const override {
    return options_;
  }
  std::uint8_t* staging() override {
    return staging_.get();
  }
  std::uint8_t* decrypted() override {
    return decrypted_.get();
  }
  const tls_context* tls() override {
    return tls_ ? &*tls_ : nullptr;
  }
  rate_gate& uploads() override {
    return uploads_;
  }
  rate_gate& downloads() override {
    return downloads_;
  }
  std::size_t take_turn(connection_id id, std::size_t wanted) override {
    auto result = turns_.take(id, wanted);
    if (result == 0)
      serve_turns_later();
    return result;
  }
  void count_sent(std::size_t bytes) override {
    sent_.fetch_add(bytes, std::memory_order_relaxed);
  }
  void count_received(std::size_t bytes) override {
    received_.fetch_add(bytes, std::memory_order_relaxed);
  }
  std::function<void()> resumer(connection_id id) override {
    // A body may outlive the transport: the loop's queue then refuses.
    return [this, loop = loop_, id] {
      loop->post([this, id] {
        if (auto* x = find(id))
          x->resume();
      });
    };
  }
  void opened(connection_id id, const address& remote, const peer_id& proven,
              bool dialled) override {
    if (dialled)
      return listener_->on_connected(id, remote, proven);
    --unproven_;
    listener_->on_accepted(id, remote, proven);
  }
  void received(connection_id id, incoming_frame frame) override {
    listener_->on_frame(id, std::move(frame));
  }
  void ended(connection_id id, std::string reason) override {
    auto i = connections_.find(id);
    if (i->second->unproven())
      --unproven_;
    connections_.erase(i);
    turns_.forget(id);
    listener_->on_closed(id, reason);
  }
  void on_posted_frame(connection_id id, outgoing_frame frame) override {
    auto* x = find(id);
    if (x == nullptr)
      return;
    if (unflushed_.empty() || unflushed_.back() != id)
      unflushed_.push_back(id);
    x->enqueue(std::move(frame));
  }
  void on_all_handled() override {
    // Twice the same is harmless: the second flush finds nothing.
    for (auto id : unflushed_)
      if (auto* x = find(id))
        x->flush();
    unflushed_.clear();
  }

  // ---- measuring
  // -------------------------------------------------------------

  void look_later() {
    look_.emplace(loop(),
                  std::chrono::duration_cast<std::chrono::milliseconds>(
                      limits::line_interval),
                  [this] { look(); });
  }

  void look() {
    const auto now = std::chrono::steady_clock::now();
    const auto interval = now - last_look_;
    last_look_ = now;
    std::vector<connection_traffic> seen;
    std::vector<upload_turns::flow> flows;
    for (auto& [id, x] : connections_)
      if (auto traffic = x->look(interval)) {
        seen.push_back(*traffic);
        flows.push_back({id,
                         static_cast<double>(traffic->sent)
                             / std::chrono::duration<double>(interval).count(),
                         traffic->backlogged, x->least_round_trip(),
                         traffic->round_trip});
      }
    turns_.observe(flows);
    if (!seen.empty() || !quiet_)
      listener_->on_traffic(interval, seen);
    quiet_ = seen.empty();
    look_later();
  }

  // ---- turns
  // -----------------------------------------------------------------

  void serve_turns_later() {
    if (!turns_timer_)
      turns_timer_.emplace(loop(), turn_check, [this] { serve_turns(); });
  }

  void serve_turns() {
    turns_timer_.reset();
    std::map<connection_id, std::size_t> under_way;
    for (auto& [id, x] : connections_)
      if (auto bytes = x->under_way())
        under_way[id] = bytes;
    turns_.serve(std::move(under_way));
    if (turns_.anybody_waits())
      serve_turns_later();
  }

  // ---- connections
  // -----------------------------------------------------------

  connection* find(connection_id id) {
    auto i = connections_.find(id);
    return i == connections_.end() ? nullptr : i->second.get();
  }

  connection& add(connection_id id) {
    auto& x = connections_[id];
    x = std::make_unique<connection>(id, *this);
    return *x;
  }

  void accept(uv_stream_t* from) {
    auto socket = make_tcp_socket(loop(), nullptr);
    if (uv_accept(from, socket->stream()) != 0
        || connections_.size() >= options_.max_connections
        || unproven_ >= options_.max_unproven)
      return;
    auto remote = remote_of(*socket);
    if (!remote) // Gone already.
      return;
    auto id = next_id_++;
    ++unproven_;
    add(id).accept(std::move(socket), *remote);
  }

  // ---- listening
  // --------------------------------------------------------------

  struct pending_listen {
    address where;
    std::shared_ptr<std::promise<listen_result>> promise;
    std::unique_ptr<resolution> look_up;
  };

  static failure stopped(const address& where) {
    return {cannot_listen(where, "the transport is stopped", "start it first")};
  }

  void resolve_and_listen(
      const address& where,
      const std::shared_ptr<std::promise<listen_result>>& promise) {
    if (auto numeric = read_numeric(where)) {
      promise->set_value(bind(where, *numeric));
      return;
    }
    auto i = pending_.insert(pending_.end(), {where, promise, nullptr});
    auto answer = [this, i](const std::vector<sockaddr_storage>& found,
                            const std::string& why) {
      if (found.empty())
        i->promise->set_value(failure{cannot_listen(
            i->where, why, "give an address of this machine with --listen")});
      else
        i->promise->set_value(bind(i->where, found.front()));
      pending_.erase(i);
    };
    i->look_up = std::make_unique<resolution>(loop(), where, answer);
    if (!i->look_up->error().empty())
      answer({}, std::string{i->look_up->error()});
  }

  listen_result bind(const address& where, const sockaddr_storage& to) {
    if (options_.insecure && !is_loopback(to))
      return failure{
          cannot_listen(where, "with --insecure only this machine may connect",
                        "leave --insecure out, or add --listen 127.0.0.1:0")};
    auto socket = make_tcp_socket(loop(), this);
    auto error
        = uv_tcp_bind(&socket->tcp, reinterpret_cast<const sockaddr*>(&to), 0);
    if (error == 0 && is_loopback(to))
      avoid_bbr(descriptor_of(*socket));
    if (error == 0)
      error = uv_listen(socket->stream(), 512, [](uv_stream_t* x, int status) {
        auto* owner = static_cast<tcp_handle*>(x->data)->owner;
        if (status == 0 && owner != nullptr)
          static_cast<uv_transport*>(owner)->accept(x);
      });
    sockaddr_storage bound{};
    int size = sizeof(bound);
    if (error == 0)
      error = uv_tcp_getsockname(&socket->tcp,
                                 reinterpret_cast<sockaddr*>(&bound), &size);
    if (error != 0)
      return cannot_listen(where, error);
    listening_.push_back(std::move(socket));
    return to_address(bound);
  }

  const uv_transport_options options_;
  const std::shared_ptr<event_loop> loop_;
  std::shared_ptr<transport_listener> listener_;
  std::atomic<connection_id> next_id_{1};
  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> received_{0};

  // Of the loop's thread.
  const std::unique_ptr<std::uint8_t[]> staging_;
  const std::unique_ptr<std::uint8_t[]> decrypted_;
  std::optional<tls_context> tls_; ///< None: insecure.
  std::size_t unproven_ = 0;       ///< Connections that are `unproven()`.
  rate_gate uploads_;
  rate_gate downloads_;
  upload_turns turns_{[this](connection_id id) {
    if (auto* x = find(id))
      x->flush();
  }};
  std::optional<timer> turns_timer_;
  std::optional<timer> look_;
  time_point last_look_{};
  bool quiet_ = true; ///< At the last look.
  std::unordered_map<connection_id, std::unique_ptr<connection>> connections_;
  std::vector<connection_id> unflushed_;
  std::vector<tcp_socket> listening_;
  std::list<pending_listen> pending_;
};

} // namespace

std::unique_ptr<transport> make_uv_transport(uv_transport_options options) {
  return std::make_unique<uv_transport>(std::move(options));
}

bool is_numeric_host(const std::string& host) {
  return !host.empty() && read_numeric({host, 0}).has_value();
}

} // namespace potluck
