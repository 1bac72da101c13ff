#include "runtime/uv/uv_transport.hpp"

#include <atomic>
#include <future>
#include <mutex>
#include <stdexcept>

#include "runtime/uv/circuit_stream.hpp"
#include "runtime/uv/connection_desk.hpp"
#include "runtime/uv/faces.hpp"

namespace potluck {

namespace {

uv_transport_options checked(uv_transport_options x) {
  if (!x.key && !x.insecure)
    throw std::invalid_argument(
        "a transport needs a key, with which it proves who it is");
  return x;
}

/// Posts what it is asked for to the loop's thread, where the desk is.
class uv_transport final : public shared_transport {
public:
  explicit uv_transport(uv_transport_options options)
      : loop_(std::make_shared<event_loop>()),
        desk_(checked(std::move(options)), loop_) {
  }

  ~uv_transport() override {
    stop();
  }

  void start(std::shared_ptr<transport_listener> listener) override {
    desk_.main()->listener = std::move(listener);
    loop_->start(desk_);
    loop_->post([this] { desk_.begin(); });
  }

  expected<address> listen(const address& where) override {
    if (loop_->inside())
      throw std::logic_error("listen waits for the thread it was called on");
    auto promise = std::make_shared<std::promise<expected<address>>>();
    auto result = promise->get_future();
    auto done = [=](const expected<address>& x) { promise->set_value(x); };
    if (!loop_->post([=] { desk_.listen(where, done); }))
      return listening::stopped(where);
    auto bound = result.get();
    std::lock_guard<std::mutex> guard{mutex_};
    if (bound && !first_bound_)
      first_bound_ = *bound;
    return bound;
  }

  connection_id dial(const address& where, const peer_id& expected) override {
    return dial_as(desk_.main(), where, expected);
  }

  connection_id dial_as(const shared_face& who, const address& where,
                        const peer_id& expected) override {
    auto id = desk_.new_id();
    loop_->post([=] { desk_.dial(id, who, where, expected); });
    return id;
  }

  connection_id punch(const address& at, bool begins) override {
    return punch_as(desk_.main(), at, begins);
  }

  connection_id punch_as(const shared_face& who, const address& at,
                         bool begins) override {
    auto id = desk_.new_id();
    loop_->post([=] { desk_.punch(id, who, at, begins); });
    return id;
  }

  std::vector<address> local_addresses() const override {
    const auto listened = desk_.listens_at();
    return listened ? addresses_at_home(*listened) : std::vector<address>{};
  }

  void send(connection_id id, outgoing_frame frame) override {
    if (frame.head.empty() || frame.head.size() > max_head_bytes
        || frame.body.size > max_body_bytes)
      throw std::invalid_argument("a frame's head or body has no valid size");
    loop_->post(id, std::move(frame));
  }

  void close(connection_id id, std::uint32_t linger_ms) override {
    loop_->post([=] { desk_.close(id, std::chrono::milliseconds{linger_ms}); });
  }

  stream_maker streams() override {
    if (!desk_.tls())
      return {};
    return [this](bool begins, frame_stream_listener& to) {
      return make_circuit_stream(*desk_.tls(), begins, to);
    };
  }

  void plan_window(connection_id id, const planned_window& x) override {
    loop_->post([=] { desk_.plan_window(id, x); });
  }

  void hold(connection_id id, bool yes) override {
    loop_->post([=] { desk_.hold(id, yes); });
  }

  void no_stranger(connection_id id) override {
    loop_->post([=] { desk_.no_stranger(id); });
  }

  transport_traffic traffic() const override {
    return desk_.traffic();
  }

  void enter(const shared_face& who) override {
    loop_->post([=] { desk_.enter(who); });
  }

  void leave(const shared_face& who) override {
    if (loop_->inside())
      throw std::logic_error("a transport cannot be stopped by its own thread");
    auto done = std::make_shared<std::promise<void>>();
    if (loop_->post([=] {
          desk_.leave(who);
          done->set_value();
        }))
      done->get_future().wait();
  }

  expected<address> listen_as(const shared_face& who,
                              const address& where) override {
    if (desk_.is_main(who))
      return listen(where);
    auto first = bound();
    return first ? expected<address>{*first} : listening::stopped(where);
  }

  std::optional<address> bound() const override {
    std::lock_guard<std::mutex> guard{mutex_};
    return first_bound_;
  }

  void stop() override {
    loop_->stop([this] { desk_.stop(); });
  }

private:
  const std::shared_ptr<event_loop> loop_;
  connection_desk desk_;
  mutable std::mutex mutex_; ///< Of what follows.
  std::optional<address> first_bound_;
};

} // namespace

std::unique_ptr<transport> make_uv_transport(uv_transport_options options) {
  return std::make_unique<uv_transport>(std::move(options));
}

std::shared_ptr<shared_transport>
make_shared_transport(uv_transport_options options) {
  if (options.insecure)
    throw std::invalid_argument(
        "without encryption nobody can tell the faces of a transport apart");
  auto result = std::make_shared<uv_transport>(std::move(options));
  result->start(nullptr);
  return result;
}

bool is_numeric_host(const std::string& host) {
  return !host.empty() && read_numeric({host, 0}).has_value();
}

} // namespace potluck
