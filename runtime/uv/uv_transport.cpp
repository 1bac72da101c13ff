#include "runtime/uv/uv_transport.hpp"

#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <stdexcept>
#include <unordered_map>

#include "runtime/lines/upload_turns.hpp"
#include "runtime/strangers/stranger_desk.hpp"
#include "runtime/uv/circuit_stream.hpp"
#include "runtime/uv/connection.hpp"
#include "runtime/uv/event_loop.hpp"
#include "runtime/uv/faces.hpp"
#include "runtime/uv/listening.hpp"

namespace potluck {

namespace {

uv_transport_options checked(uv_transport_options x) {
  if (!x.key && !x.insecure)
    throw std::invalid_argument(
        "a transport needs a key, with which it proves who it is");
  return x;
}

class uv_transport final : public shared_transport,
                           public connection_hub,
                           public event_loop::handler {
public:
  explicit uv_transport(uv_transport_options options)
      : options_(checked(std::move(options))),
        loop_(std::make_shared<event_loop>()),
        shared_(
            loop(), options_.insecure ? nullptr : &*options_.key,
            options_.max_upload, options_.max_download,
            [this](connection_id id) {
              if (auto* x = find(id))
                x->flush();
            },
            [this](connection_id id) {
              if (auto* x = socket_of(id))
                x->read_on();
            },
            [this] { return under_way(); }),
        listening_(loop(), options_.insecure,
                   [this](tcp_socket x) { accept(std::move(x)); }),
        strangers_(
            std::min(limits::strangers_connected, options_.max_connections),
            options_.max_unproven),
        faces_(std::make_shared<transport_face>(
            transport_face{options_.key ? options_.key->id() : peer_id{},
                           shared_.tls, nullptr})) {
  }

  ~uv_transport() override {
    stop();
  }

  void start(std::shared_ptr<transport_listener> listener) override {
    faces_.main()->listener = std::move(listener);
    loop_->start(*this);
    loop_->post([this] {
      if (faces_.main()->listener)
        faces_.add(faces_.main());
      last_look_ = std::chrono::steady_clock::now();
      look_later();
    });
  }

  expected<address> listen(const address& where) override {
    if (loop_->inside())
      throw std::logic_error("listen waits for the thread it was called on");
    auto promise = std::make_shared<std::promise<expected<address>>>();
    auto result = promise->get_future();
    auto done = [=](const expected<address>& x) { promise->set_value(x); };
    if (!loop_->post([=] { listening_.listen(where, done); }))
      return listening::stopped(where);
    auto bound = result.get();
    std::lock_guard<std::mutex> guard{mutex_};
    if (bound && !first_bound_)
      first_bound_ = *bound;
    return bound;
  }

  connection_id dial(const address& where, const peer_id& expected) override {
    return dial_as(faces_.main(), where, expected);
  }

  connection_id dial_as(const shared_face& who, const address& where,
                        const peer_id& expected) override {
    auto id = next_id_++;
    loop_->post([=] {
      if (!faces_.has(who))
        return;
      if (connections_.size() >= options_.max_connections)
        who->listener->on_closed(id, "cannot connect to " + to_string(where)
                                         + ": there are too many connections");
      else
        add(id).dial(where, expected, who);
    });
    return id;
  }

  connection_id punch(const address& at, bool begins) override {
    return punch_as(faces_.main(), at, begins);
  }

  connection_id punch_as(const shared_face& who, const address& at,
                         bool begins) override {
    auto id = next_id_++;
    loop_->post([=] { punch_now(id, who, at, begins); });
    return id;
  }

  std::vector<address> local_addresses() const override {
    const auto listened = listening_.first();
    return listened ? addresses_at_home(*listened) : std::vector<address>{};
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

  stream_maker streams() override {
    if (!shared_.tls)
      return {};
    auto large = std::make_shared<std::atomic<std::size_t>>(0);
    return [this, large](bool begins, frame_stream_listener& to) {
      return make_circuit_stream(*shared_.tls, begins, to, large);
    };
  }

  void plan_window(connection_id id, const planned_window& x) override {
    loop_->post([=] {
      auto* which = find(id);
      if (which == nullptr)
        return;
      auto& turns = shared_.uploads.turns();
      turns.plan(id, x);
      if (x.queue > 0 && !turns.left_alone() && which->socket() != nullptr)
        which->socket()->mind_our_windows();
    });
  }

  void hold(connection_id id, bool yes) override {
    loop_->post([=] {
      if (auto* x = socket_of(id))
        x->hold(yes);
    });
  }

  void no_stranger(connection_id id) override {
    loop_->post([=] {
      auto* x = socket_of(id);
      if (x == nullptr)
        return;
      x->trust();
      strangers_.trusts(id);
      read_large();
    });
  }

  transport_traffic traffic() const override {
    return {shared_.sent, shared_.received};
  }

  void enter(const shared_face& who) override {
    loop_->post([=] { faces_.add(who); });
  }

  void leave(const shared_face& who) override {
    if (loop_->inside())
      throw std::logic_error("a transport cannot be stopped by its own thread");
    auto done = std::make_shared<std::promise<void>>();
    if (loop_->post([=] {
          forget(who);
          done->set_value();
        }))
      done->get_future().wait();
  }

  expected<address> listen_as(const shared_face& who,
                              const address& where) override {
    if (faces_.is_main(who))
      return listen(where);
    auto first = bound();
    return first ? expected<address>{*first} : listening::stopped(where);
  }

  std::optional<address> bound() const override {
    std::lock_guard<std::mutex> guard{mutex_};
    return first_bound_;
  }

  void stop() override {
    loop_->stop([this] {
      while (!connections_.empty())
        ended(connections_.begin()->first, "the transport was stopped");
      look_.reset();
      shared_.uploads.stop();
      shared_.downloads.stop();
      listening_.stop();
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
  socket_context& shared() override {
    return shared_;
  }
  std::function<void()> resumer(connection_id id) override {
    // A body may outlive the transport: the loop's queue then refuses.
    return [this, loop = loop_, id] {
      loop->post([this, id] {
        if (auto* x = socket_of(id))
          x->resume();
      });
    };
  }
  void opened(connection_id id, const address& remote, const peer_id& proven,
              bool dialled) override {
    forget_punch(id);
    auto& x = *find(id);
    if (dialled)
      return x.face()->listener->on_connected(id, remote, proven);
    strangers_.proved(id, remote.host, std::chrono::steady_clock::now());
    x.belongs_to(faces_.that_shows(x.socket()->shows()));
    if (x.face())
      x.face()->listener->on_accepted(id, remote, proven);
    else
      close(id, 0); // Its face has left.
    part_with_too_many();
  }
  void ended(connection_id id, std::string reason) override {
    auto face = find(id)->face();
    if (!face)
      face = faces_.named(faces_.main()->id);
    forget(id);
    if (face)
      face->listener->on_closed(id, reason);
  }
  bool large_frame(connection_id id, std::size_t bytes) override {
    return strangers_.begins_large(id, find(id)->remote().host, bytes,
                                   std::chrono::steady_clock::now());
  }
  void large_frame_over(connection_id id) override {
    strangers_.large_is_over(id);
    read_large();
  }
  void on_posted_frame(connection_id id, outgoing_frame frame) override {
    auto* x = find(id);
    if (x == nullptr)
      return;
    if (unflushed_.empty() || unflushed_.back() != id)
      unflushed_.push_back(id);
    x->enqueue(std::move(frame));
    count_unread(id);
  }
  void on_all_handled() override {
    // Twice the same is harmless: the second flush finds nothing.
    for (auto id : unflushed_)
      if (auto* x = find(id)) {
        x->flush();
        count_unread(id);
      }
    unflushed_.clear();
  }

  // ---- strangers (runtime/strangers) ---------------------------------------

  void note_unread(const connection& x, connection_id id) {
    const auto [letters, all] = x.unread();
    strangers_.unread(id, x.remote().host, letters, all);
  }
  void count_unread(connection_id id) {
    const auto* x = find(id);
    if (x == nullptr || !x->is_stranger())
      return;
    note_unread(*x, id);
    while (auto gone = strangers_.reads_too_little())
      ended(gone->id, gone->reason);
  }
  void read_large() {
    for (auto id : strangers_.next_large(std::chrono::steady_clock::now()))
      if (auto* x = socket_of(id))
        x->has_room();
  }
  void part_with_too_many() {
    while (auto x = strangers_.one_too_many())
      ended(x->id, x->reason);
  }

  // ---- measuring -----------------------------------------------------------

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
    std::map<transport_face*, std::vector<connection_traffic>> seen;
    std::vector<upload_turns::flow> flows;
    while (auto x = strangers_.too_slow(now))
      ended(x->id, x->reason);
    for (auto& [id, x] : connections_) {
      if (x->is_stranger())
        note_unread(*x, id);
      auto* socket = x->socket();
      const auto traffic = socket ? socket->look(interval) : std::nullopt;
      if (!traffic)
        continue;
      seen[x->face().get()].push_back(*traffic);
      flows.push_back({id,
                       static_cast<double>(traffic->sent)
                           / std::chrono::duration<double>(interval).count(),
                       traffic->backlogged, socket->least_round_trip(),
                       traffic->round_trip});
    }
    shared_.uploads.turns().observe(flows);
    for (auto& [id, face] : faces_.all()) {
      const auto& news = seen[face.get()];
      if (!news.empty() || !face->quiet)
        face->listener->on_traffic(interval, news);
      face->quiet = news.empty();
    }
    look_later();
  }

  upload_gate::bytes_of_each under_way() {
    upload_gate::bytes_of_each result;
    for (auto& [id, x] : connections_)
      if (const auto bytes = x->socket() ? x->socket()->under_way() : 0)
        result[id] = bytes;
    return result;
  }

  // ---- connections ---------------------------------------------------------

  void forget(const shared_face& who) {
    std::vector<connection_id> gone;
    for (auto& [id, x] : connections_)
      if (x->face() == who)
        gone.push_back(id);
    for (auto id : gone)
      ended(id, "the transport was stopped");
    if (!faces_.has(who)) // Another one with its key has come already.
      return;
    faces_.remove(who);
    if (faces_.is_main(who))
      listening_.stop();
  }

  connection* find(connection_id id) {
    auto i = connections_.find(id);
    return i == connections_.end() ? nullptr : i->second.get();
  }

  framed_socket* socket_of(connection_id id) {
    auto* x = find(id);
    return x == nullptr ? nullptr : x->socket();
  }

  connection& add(connection_id id) {
    auto& x = connections_[id];
    x = std::make_unique<connection>(id, *this);
    return *x;
  }

  void forget(connection_id id) {
    connections_.erase(id);
    strangers_.ended(id, std::chrono::steady_clock::now());
    read_large();
    forget_punch(id);
    shared_.uploads.turns().forget(id);
  }

  void accept(tcp_socket socket) {
    auto remote = remote_of(*socket);
    if (!remote) // Gone already.
      return;
    if (auto i = punches_.find(*remote); i != punches_.end())
      return find(i->second)->met(std::move(socket));
    if (!strangers_.may_knock(remote->host, std::chrono::steady_clock::now()))
      return;
    if (connections_.size() >= room_for_knocks()) {
      const auto other = strangers_.gives_way();
      if (other)
        ended(other->id, other->reason);
      else if (connections_.size() >= options_.max_connections)
        return;
    }
    auto id = next_id_++;
    strangers_.came(id, remote->host);
    part_with_too_many();
    add(id).accept(std::move(socket), *remote);
  }
  /// Connections of which more are only there for dials and members.
  std::size_t room_for_knocks() const {
    const auto most = options_.max_connections;
    return most - std::min(limits::connections_kept, most / 8);
  }

  // ---- holes ---------------------------------------------------------------

  void punch_now(connection_id id, const shared_face& who, const address& where,
                 bool begins) {
    if (!faces_.has(who))
      return;
    auto fail = [&](const std::string& why) {
      who->listener->on_closed(id, "cannot punch to " + to_string(where) + ": "
                                       + why);
    };
    const auto numeric = read_numeric(where);
    const auto listened = listening_.first();
    if (!numeric || where.host.empty() || where.port == 0
        || (options_.insecure && !is_loopback(*numeric)))
      return fail("that is no numeric address to connect to");
    if (!listened)
      return fail("this peer listens nowhere");
    if (connections_.size() >= options_.max_connections)
      return fail("there are too many connections");
    const auto at = to_address(*numeric); // As `accept` sees it.
    if (punches_.count(at) > 0)
      return fail("that is being tried already");
    tcp_socket came;
    for (auto& [other, x] : connections_)
      if (x->came_from(at)) {
        came = x->take_back();
        if (!came)
          return fail("it has connected to this peer by itself");
        forget(other); // The listener has not been told of it.
        break;
      }
    punches_[at] = id;
    auto from = *listened;
    if (!options_.dial_from.empty())
      from.host = options_.dial_from;
    add(id).punch(*numeric, from, begins, std::move(came), who);
  }

  void forget_punch(connection_id id) {
    for (auto i = punches_.begin(); i != punches_.end();)
      i = i->second == id ? punches_.erase(i) : std::next(i);
  }

  const uv_transport_options options_;
  const std::shared_ptr<event_loop> loop_;
  std::atomic<connection_id> next_id_{1};
  mutable std::mutex mutex_; ///< Of what follows.
  std::optional<address> first_bound_;

  // Of the loop's thread.
  socket_context shared_;
  listening listening_;
  stranger_desk strangers_;
  std::optional<timer> look_;
  time_point last_look_{};
  face_list faces_;
  std::unordered_map<connection_id, std::unique_ptr<connection>> connections_;
  std::map<address, connection_id> punches_; ///< Without a proven peer yet.
  std::vector<connection_id> unflushed_;
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
