#include "tools/lab/bench/expert_load.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <ostream>
#include <thread>

#include "runtime/event_log.hpp"
#include "tools/lab/bench/blocking_call.hpp"
#include "tools/lab/bench/workload.hpp"
#include "tools/potluck/calling_peer.hpp"

namespace potluck::bench {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto first_answer_patience = 60s;
constexpr auto call_patience = 60s;
constexpr auto between_looks = 5ms;
/// The time is prolonged, at most by so much, until every client had these.
constexpr std::uint64_t least_turns = 3;
constexpr auto longest_extra = 60s;

/// The same small numbers in every batch: what they are does not matter.
std::shared_ptr<const float_array> numbers(std::size_t count) {
  auto x = std::make_shared<float_array>(count);
  for (std::size_t i = 0; i < count; ++i)
    (*x)[i] = 0.01f * static_cast<float>(static_cast<int>(i % 201) - 100);
  return x;
}

/// All clients of the process. A call's answer, on the client's thread, begins
/// the next one.
class load {
public:
  load(const expert_load& what, expert_network& network)
      : what_(what), network_(network), turns_(what.clients),
        inputs_(numbers(std::size_t{what.batch} * what.values)),
        both_(numbers(std::size_t{2} * what.batch * what.values)) {
  }

  expert_call forward(std::uint32_t client) const {
    expert_call x;
    x.uid = what_.uids[client % what_.uids.size()];
    x.samples = what_.batch;
    x.values = inputs_;
    x.patience = call_patience;
    x.packing = what_.packing;
    return x;
  }

  void begin(std::uint32_t client) {
    ++under_way_;
    network_.call(forward(client), [this, client](auto x) {
      if (!x || !what_.backward) {
        done(client, bool(x));
        return;
      }
      auto y = forward(client);
      y.pass = expert_pass::backward;
      y.values = both_;
      network_.call(y, [this, client](auto z) { done(client, bool(z)); });
    });
  }

  void stop() {
    stopping_ = true;
    while (under_way_ > 0)
      std::this_thread::sleep_for(between_looks);
  }

  void count_from_now() {
    std::lock_guard<std::mutex> guard{mutex_};
    counting_ = true;
  }

  bool enough() const {
    std::lock_guard<std::mutex> guard{mutex_};
    return std::all_of(turns_.begin(), turns_.end(),
                       [](auto& x) { return x.count >= least_turns; });
  }

  /// Samples a second of all clients: each one's from the end of one turn to
  /// the end of another. So a turn that takes a second is not cut in two.
  double rate() const {
    std::lock_guard<std::mutex> guard{mutex_};
    double result = 0;
    for (auto& x : turns_)
      if (x.count > 0)
        result += static_cast<double>(x.count * what_.batch)
                  / std::chrono::duration<double>(x.last - x.first).count();
    return result;
  }

  std::uint64_t failed() const {
    return failed_;
  }

private:
  /// What a client was given, pass after pass, since its first turn ended.
  struct turns {
    bool begun = false;
    std::uint64_t count = 0;
    clock::time_point first;
    clock::time_point last;
  };

  void note(turns& x) {
    std::lock_guard<std::mutex> guard{mutex_};
    if (!counting_)
      return;
    x.last = clock::now();
    if (x.begun)
      ++x.count;
    else
      x.first = x.last;
    x.begun = true;
  }

  void done(std::uint32_t client, bool well) {
    if (well)
      note(turns_[client]);
    else
      ++failed_;
    if (!stopping_)
      begin(client);
    --under_way_;
  }

  const expert_load& what_;
  expert_network& network_;
  mutable std::mutex mutex_;
  bool counting_ = false;
  std::vector<turns> turns_;
  std::shared_ptr<const float_array> inputs_;
  std::shared_ptr<const float_array> both_;
  std::atomic<std::uint64_t> failed_{0};
  std::atomic<std::uint32_t> under_way_{0};
  std::atomic<bool> stopping_{false};
};

} // namespace

bool run_load(const expert_load& what, std::ostream& out) {
  tools::calling_peer peer{"bench", what.seeds, what.insecure};
  load all{what, *peer.network()};
  for (std::uint32_t i = 0; i < what.uids.size(); ++i) {
    auto end = clock::now() + first_answer_patience;
    for (;;) {
      auto x = blocking_call(*peer.network(), all.forward(i));
      if (x)
        break;
      if (clock::now() > end) {
        out << to_json(event{"over", {{"problem", x.error()}}}, 0) << std::endl;
        return false;
      }
      std::this_thread::sleep_for(100ms);
    }
  }
  for (std::uint32_t i = 0; i < what.clients; ++i)
    all.begin(i);
  out << to_json(event{"ready", {}}, 0) << std::endl;
  while (!std::filesystem::exists(what.go))
    std::this_thread::sleep_for(between_looks);
  auto cpu = cpu_seconds();
  auto began = clock::now();
  auto passed
      = [&] { return std::chrono::duration<double>(clock::now() - began); };
  all.count_from_now();
  std::this_thread::sleep_for(std::chrono::duration<double>(what.seconds));
  auto latest = clock::now() + longest_extra;
  while (!all.enough() && clock::now() < latest)
    std::this_thread::sleep_for(between_looks);
  auto seconds = passed().count();
  out << to_json(event{"load",
                       {{"rate", all.rate()},
                        {"seconds", seconds},
                        {"cpu_seconds", cpu_seconds() - cpu},
                        {"failed", all.failed()}}},
                 0)
      << std::endl;
  all.stop();
  return true;
}

} // namespace potluck::bench
