/// Connections at rest, for measuring what they cost whoever is called.
///
///     idle_callers HOST:PORT COUNT
///
/// Dials COUNT times, each time as another peer, says hello, and answers signs
/// of life from then on, nothing else. HOST is 127.0.0.1: the peers come from
/// several homes, 127.1.0.1, 127.2.0.1 and so on, since there is a limit to the
/// strangers of one. Prints "connected N" whenever a hundred more are there and
/// when all are, and "lost: REASON" for each that ends. Ends when its standard
/// input does.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "messages/codec.hpp"
#include "runtime/uv/faces.hpp"

using namespace potluck;

namespace {

/// Dials are made so far apart: a hub has 256 strangers at a time at most.
constexpr std::chrono::milliseconds pause{10};

/// A hub has 256 connections of one home's strangers at most.
constexpr int homes = 16;

/// Those that were greeted and are there.
std::atomic<std::size_t> greeted{0};

class caller : public transport_listener {
public:
  caller(const std::shared_ptr<shared_transport>& house, const key_pair& key)
      : id_(key.id()), face_(make_face(house, key)) {
  }
  ~caller() override {
    face_->stop();
  }
  static std::shared_ptr<caller>
  make(const std::shared_ptr<shared_transport>& house, const address& where) {
    auto x = std::make_shared<caller>(house, key_pair::generate());
    // What it holds of the listener must not keep it alive.
    x->face_->start({x.get(), [](transport_listener*) {}});
    x->face_->dial(where);
    return x;
  }

  void on_accepted(connection_id id, const address&, const peer_id&) override {
    face_->close(id, 0);
  }
  void on_connected(connection_id id, const address& remote,
                    const peer_id&) override {
    hello ours;
    ours.id = id_;
    ours.role = role::expert;
    ours.run = "idle callers";
    ours.seen_host = remote.host;
    ours.seen_port = remote.port;
    face_->send(id, {encode(ours), {}});
  }
  void on_frame(connection_id id, incoming_frame frame) override {
    auto x = decode(frame.head.data(), frame.head.size(), frame.body.size);
    if (!x)
      return;
    if (auto* beat = std::get_if<heartbeat>(&*x))
      face_->send(id, {encode(heartbeat_reply{beat->token}), {}});
    else if (std::holds_alternative<hello>(*x) && !greeted_.exchange(true))
      ++greeted;
  }
  void on_closed(connection_id, const std::string& reason) override {
    if (greeted_.exchange(false))
      --greeted;
    std::printf("lost: %s\n", reason.c_str());
    std::fflush(stdout);
  }

private:
  const peer_id id_;
  std::atomic<bool> greeted_{false};
  std::unique_ptr<transport> face_;
};

} // namespace

int main(int argc, char** argv) {
  const std::string where = argc == 3 ? argv[1] : "";
  const auto colon = where.rfind(':');
  if (colon == std::string::npos) {
    std::fprintf(stderr, "usage: idle_callers HOST:PORT COUNT\n");
    return 2;
  }
  const address to{
      where.substr(0, colon),
      static_cast<std::uint16_t>(std::atoi(where.substr(colon + 1).c_str()))};
  const auto count = static_cast<std::size_t>(std::atoi(argv[2]));
  std::vector<std::shared_ptr<shared_transport>> houses;
  for (int i = 1; i <= homes; ++i) {
    uv_transport_options how;
    how.key = key_pair::generate();
    how.dial_from = "127." + std::to_string(i) + ".0.1";
    houses.push_back(make_shared_transport(how));
  }
  std::vector<std::shared_ptr<caller>> all;
  std::size_t said = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes{2};
  while (greeted < count && std::chrono::steady_clock::now() < end) {
    if (all.size() < count)
      all.push_back(caller::make(houses[all.size() % homes], to));
    std::this_thread::sleep_for(pause);
    if (const auto is = greeted.load(); is >= said + 100 || is == count) {
      std::printf("connected %zu\n", is);
      std::fflush(stdout);
      said = is;
    }
  }
  while (std::getchar() != EOF)
    ;
  std::fflush(stdout);
  std::_Exit(greeted == count ? 0 : 1); // Goodbyes of a thousand take a while.
}
