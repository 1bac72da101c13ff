/// How fast frames travel between two transports on the loopback, plain and
/// encrypted in turns, and how many handshakes a second one thread takes.
///
///     transport_speed [GIB [REPEATS]]
///
/// Prints one line a measurement, and at the end the encrypted rate as a part
/// of the plain one: the medians of `REPEATS` pairs. So too by the processor
/// time of both ends together, which other programs disturb less.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <vector>

#include "runtime/uv/uv_transport.hpp"

using namespace potluck;
using clock_type = std::chrono::steady_clock;

namespace {

constexpr std::size_t body_bytes = std::size_t{1} << 20;
/// Under way at a time: what fills a pipe, and no more.
constexpr std::size_t window_frames = 16;
constexpr int handshakes = 500;

/// Counts what comes, and lets whoever sends wait for it.
class counter : public transport_listener {
public:
  void on_accepted(connection_id, const address&, const peer_id&) override {
  }
  void on_connected(connection_id, const address&, const peer_id&) override {
    add(opened_);
  }
  void on_frame(connection_id, incoming_frame) override {
    add(frames_);
  }
  void on_closed(connection_id, const std::string&) override {
  }
  void wait_for_frames(std::size_t count) {
    wait([=] { return frames_ >= count; });
  }
  void wait_for_opened(std::size_t count) {
    wait([=] { return opened_ >= count; });
  }

private:
  void add(std::size_t& x) {
    std::lock_guard<std::mutex> lock{mutex_};
    ++x;
    changed_.notify_all();
  }
  template <class Condition>
  void wait(Condition condition) {
    std::unique_lock<std::mutex> lock{mutex_};
    changed_.wait(lock, condition);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t frames_ = 0;
  std::size_t opened_ = 0;
};

struct end_point {
  explicit end_point(bool insecure) : heard(std::make_shared<counter>()) {
    uv_transport_options how;
    how.insecure = insecure;
    if (!insecure)
      how.key = key_pair::generate();
    network = make_uv_transport(how);
    network->start(heard);
  }
  ~end_point() {
    network->stop();
  }
  std::shared_ptr<counter> heard;
  std::unique_ptr<transport> network;
};

double seconds_since(clock_type::time_point x) {
  return std::chrono::duration<double>(clock_type::now() - x).count();
}

struct measured {
  double rate;      ///< GiB a second.
  double processor; ///< Seconds a GiB.
};

/// From one transport to another.
measured speed(bool insecure, std::size_t frames) {
  end_point from{insecure}, to{insecure};
  auto id = from.network->dial(*to.network->listen({"127.0.0.1", 0}));
  from.heard->wait_for_opened(1);
  auto bytes = std::make_shared<std::vector<std::uint8_t>>(body_bytes, 7);
  shared_bytes body{bytes, bytes->data(), bytes->size()};
  auto begin = clock_type::now();
  auto processor = std::clock();
  for (std::size_t i = 0; i < frames; ++i) {
    if (i >= window_frames)
      to.heard->wait_for_frames(i - window_frames + 1);
    from.network->send(id, {{1}, body});
  }
  to.heard->wait_for_frames(frames);
  const auto gib = static_cast<double>(frames * body_bytes) / (1 << 30);
  const auto busy = static_cast<double>(std::clock() - processor);
  return {gib / seconds_since(begin), busy / CLOCKS_PER_SEC / gib};
}

/// A second, both ends' work together.
double handshake_rate() {
  end_point from{false}, to{false};
  auto where = *to.network->listen({"127.0.0.1", 0});
  auto begin = clock_type::now();
  for (int i = 1; i <= handshakes; ++i) {
    auto id = from.network->dial(where);
    from.heard->wait_for_opened(static_cast<std::size_t>(i));
    from.network->close(id, 0);
  }
  return handshakes / seconds_since(begin);
}

double median(const std::vector<measured>& all, double measured::*what) {
  std::vector<double> x;
  for (const auto& y : all)
    x.push_back(y.*what);
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

} // namespace

int main(int argc, char** argv) {
  auto gib = argc > 1 ? std::atof(argv[1]) : 2.0;
  auto repeats = argc > 2 ? std::atoi(argv[2]) : 5;
  if (!(gib > 0 && gib <= 1024) || repeats < 1) {
    std::fprintf(stderr, "usage: transport_speed [GIB [REPEATS]]\n");
    return 2;
  }
  auto frames = static_cast<std::size_t>(gib * (1 << 30) / body_bytes) + 1;
  std::vector<measured> plain, encrypted;
  for (int i = 0; i < repeats; ++i) {
    plain.push_back(speed(true, frames));
    encrypted.push_back(speed(false, frames));
    std::printf(
        "plain %.2f GiB/s, %.2f s/GiB; encrypted %.2f GiB/s, %.2f s/GiB\n",
        plain.back().rate, plain.back().processor, encrypted.back().rate,
        encrypted.back().processor);
  }
  std::printf(
      "encrypted is %.2f of plain, by processor time %.2f (medians of %d)\n",
      median(encrypted, &measured::rate) / median(plain, &measured::rate),
      median(plain, &measured::processor)
          / median(encrypted, &measured::processor),
      repeats);
  std::printf("%.0f connections a second, one after the other\n",
              handshake_rate());
}
