/// A transport with a listener that records, and waits for what tests expect.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/ports/transport.hpp"

namespace potluck::contract {

/// Everything that happened on one connection.
struct history {
  bool opened = false;
  bool accepted = false;
  address remote;
  peer_id proven;
  std::vector<incoming_frame> frames;
  std::size_t frame_count = 0; ///< Stays when the frames are taken.
  int closed = 0;
  std::string reason;
  int after_close = 0; ///< Calls that should not have come.
};

/// A high mark for a probe that keeps its frames.
constexpr std::size_t ample = std::size_t{512} << 20;

class transport_probe : public transport_listener {
public:
  void on_accepted(connection_id id, const address& remote,
                   const peer_id& proven) override {
    opened(id, remote, proven, true);
  }
  void on_connected(connection_id id, const address& remote,
                    const peer_id& proven) override {
    opened(id, remote, proven, false);
  }
  void on_frame(connection_id id, incoming_frame frame) override {
    change(id, [&](history& x) {
      ++x.frame_count;
      if (keep_frames)
        x.frames.push_back(std::move(frame));
    });
  }
  void on_closed(connection_id id, const std::string& reason) override {
    change(id, [&](history& x) {
      ++x.closed;
      x.reason = reason;
    });
  }

  /// Waits until `condition`, of all histories, holds; false after 20 s.
  template <class Condition>
  bool wait(Condition condition) {
    std::unique_lock<std::mutex> lock{mutex_};
    return changed_.wait_for(lock, std::chrono::seconds{20},
                             [&] { return condition(histories_); });
  }

  bool wait_for_frames(connection_id id, std::size_t count) {
    return wait([=](auto& all) { return all[id].frame_count >= count; });
  }
  bool wait_for_close(connection_id id) {
    return wait([=](auto& all) { return all[id].closed > 0; });
  }
  bool wait_for_open(connection_id id) {
    return wait([=](auto& all) { return all[id].opened; });
  }
  /// Zero after 20 s without one.
  connection_id wait_for_accepted() {
    connection_id found = 0;
    wait([&](auto& all) {
      for (auto& [id, x] : all)
        if (x.accepted)
          found = id;
      return found != 0;
    });
    return found;
  }

  template <class Use>
  auto with(connection_id id, Use use) {
    std::lock_guard<std::mutex> lock{mutex_};
    return use(histories_[id]);
  }
  std::map<connection_id, history> all() {
    std::lock_guard<std::mutex> lock{mutex_};
    return histories_;
  }

  /// Set before the start.
  bool keep_frames = true;

private:
  template <class Change>
  void change(connection_id id, Change apply) {
    {
      std::lock_guard<std::mutex> lock{mutex_};
      auto& x = histories_[id];
      if (x.closed > 0)
        ++x.after_close;
      apply(x);
    }
    changed_.notify_all();
  }
  void opened(connection_id id, const address& remote, const peer_id& proven,
              bool accepted) {
    change(id, [&](history& x) {
      x.opened = true;
      x.accepted = accepted;
      x.remote = remote;
      x.proven = proven;
    });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<connection_id, history> histories_;
};

/// A started transport and what it heard. Stops at the end of its life.
struct node {
  explicit node(std::unique_ptr<potluck::transport> made, bool keep = true)
      : heard(std::make_shared<transport_probe>()), net(std::move(made)) {
    heard->keep_frames = keep;
    net->start(heard);
  }
  std::shared_ptr<transport_probe> heard;
  std::unique_ptr<potluck::transport> net;
};

inline shared_bytes body_of(std::size_t size, std::uint8_t seed) {
  auto bytes = std::make_shared<std::vector<std::uint8_t>>(size);
  for (std::size_t i = 0; i < size; ++i)
    (*bytes)[i] = static_cast<std::uint8_t>(seed + i * 7 + i / 251);
  return {bytes, bytes->data(), bytes->size()};
}

inline bool same_bytes(const shared_bytes& a, const shared_bytes& b) {
  return a.size == b.size && std::equal(a.data, a.data + a.size, b.data);
}

inline std::vector<std::uint8_t> head_of(std::uint32_t number) {
  return {static_cast<std::uint8_t>(number),
          static_cast<std::uint8_t>(number >> 8),
          static_cast<std::uint8_t>(number >> 16),
          static_cast<std::uint8_t>(number >> 24)};
}

} // namespace potluck::contract
