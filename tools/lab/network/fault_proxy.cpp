#include "tools/lab/network/fault_proxy.hpp"

#include <algorithm>
#include <future>
#include <list>
#include <map>

#include "runtime/uv/event_loop.hpp"
#include "runtime/uv/resolver.hpp"
#include "tools/lab/network/fault_relay.hpp"

namespace potluck {

namespace {

/// Between two looks at what is due: far below what a person calls a delay.
constexpr std::uint64_t look_ms = 2;
/// Bytes of a read, so that a slow line does not get a second's worth at once.
constexpr std::size_t piece_bytes = 16 * 1024;

} // namespace

class fault_proxy::core final : public event_loop::handler,
                                public relay_network {
public:
  explicit core(std::uint64_t seed)
      : lines_{seed, line_emulator::load::streams}, staging_(piece_bytes) {
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

  void set_line(machine x, const access_line& how) {
    do_now([&] {
      if (auto i = machines_.find(x); i != machines_.end())
        lines_.set_line(i->second.line, how);
    });
  }

  std::uint64_t part(const std::set<machine>& side) {
    std::uint64_t result = 0;
    do_now([&] {
      std::set<std::size_t> lines;
      for (auto x : side)
        if (auto i = machines_.find(x); i != machines_.end())
          lines.insert(i->second.line);
      result = lines_.part(lines);
    });
    return result;
  }
  void reunite(std::uint64_t number) {
    do_now([&] { lines_.reunite(number); });
  }

  void cut(machine x) {
    do_now([&] {
      auto concerned = machines_.find(x);
      for (auto i = relays_.begin();
           i != relays_.end() && concerned != machines_.end();)
        if ((*i)->concerns(concerned->second.line)) {
          ++cut_; // First: both sides hear of it on other threads.
          i = relays_.erase(i);
        } else {
          ++i;
        }
    });
  }

  statistics totals() {
    statistics result;
    do_now([&] {
      const auto all = lines_.totals();
      result = {connections_, all.bytes_sent, all.lost, all.corrupted, cut_};
    });
    return result;
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
    std::size_t line = 0;
    std::string host; ///< From which its peer dials.
    address back;
    tcp_socket listening;
  };

  // ---- event_loop::handler: nothing is posted as frames
  void on_posted_frame(connection_id, outgoing_frame) override {
  }
  void on_all_handled() override {
  }

  // ---- relay_network -------------------------------------------------------
  uv_loop_t* loop() override {
    return loop_.uv();
  }
  std::vector<char>& staging() override {
    return staging_;
  }
  time_point now() const override {
    return time_point{duration{static_cast<duration::rep>(uv_hrtime())}};
  }

  bool held(std::size_t from, std::size_t to) const override {
    return lines_.line_of(to).deaf || lines_.separated(from, to);
  }

  time_point send(std::size_t from, std::size_t to,
                  std::vector<std::uint8_t>& piece,
                  line_emulator::flow& in) override {
    line_emulator::parcel x;
    x.from = from;
    x.to = to;
    x.bytes = piece.size();
    x.bits = 8 * piece.size();
    const auto how = lines_.send(now(), x, in);
    if (how.flipped)
      piece[*how.flipped / 8]
          ^= static_cast<std::uint8_t>(1u << *how.flipped % 8);
    return how.arrives;
  }

  time_point come_down(time_point at, std::size_t from, std::size_t to,
                       std::size_t bytes, line_emulator::flow& in) override {
    line_emulator::parcel x;
    x.from = from;
    x.to = to;
    x.bytes = bytes;
    return *lines_.come_down(at, x, in); // Streams drop nothing.
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
    m.line = lines_.add({});
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
    if (lines_.line_of(to.line).closed
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
    ++connections_;
    relays_.push_back(std::make_unique<relay>(
        *this, std::move(socket), from->second.line, to.line,
        *read_numeric({host, 0}), *read_numeric(to.back)));
  }

  void look_again() {
    for (auto i = relays_.begin(); i != relays_.end();)
      i = (*i)->pump() ? std::next(i) : relays_.erase(i);
    look_.emplace(loop(), std::chrono::milliseconds{look_ms},
                  [this] { look_again(); });
  }

  // Of the loop's thread.
  line_emulator lines_;
  std::uint64_t connections_ = 0;
  std::uint64_t cut_ = 0;
  std::vector<char> staging_;
  std::map<machine, machine_state> machines_;
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

void fault_proxy::set_line(machine x, const access_line& how) {
  core_->set_line(x, how);
}

std::uint64_t fault_proxy::part(std::set<machine> side) {
  return core_->part(side);
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
