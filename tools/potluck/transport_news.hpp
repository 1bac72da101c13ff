/// What happens on a transport's thread, for another one that waits for it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "runtime/ports/transport.hpp"

namespace potluck::tools {

class transport_news : public transport_listener {
public:
  enum class what { accepted, connected, frame, closed };
  struct item {
    what happened = what::closed;
    connection_id id = 0;
    address remote;
    peer_id proven;
    incoming_frame frame;
    std::string reason;
  };

  void on_accepted(connection_id id, const address& remote,
                   const peer_id& proven) override {
    push({what::accepted, id, remote, proven, {}, ""});
  }
  void on_connected(connection_id id, const address& remote,
                    const peer_id& proven) override {
    push({what::connected, id, remote, proven, {}, ""});
  }
  void on_frame(connection_id id, incoming_frame frame) override {
    item x;
    x.happened = what::frame;
    x.id = id;
    x.frame = std::move(frame);
    push(std::move(x));
  }
  void on_closed(connection_id id, const std::string& reason) override {
    push({what::closed, id, {}, {}, {}, reason});
  }
  /// The next thing that happened, if any does in time.
  std::optional<item> next(std::chrono::steady_clock::duration patience) {
    std::unique_lock<std::mutex> lock{mutex_};
    arrived_.wait_for(lock, patience, [this] { return !all_.empty(); });
    if (all_.empty())
      return std::nullopt;
    auto x = std::move(all_.front());
    all_.pop_front();
    return x;
  }

private:
  void push(item x) {
    std::lock_guard<std::mutex> lock{mutex_};
    all_.push_back(std::move(x));
    arrived_.notify_one();
  }
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<item> all_;
};

} // namespace potluck::tools
