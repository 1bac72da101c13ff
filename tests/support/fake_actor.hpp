/// Actors that only listen, for tests of the real ones.
#pragma once

#include <any>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "actors/behavior.hpp"
#include "actors/handles.hpp"

namespace potluck {

/// Everything that a fake actor was told, in order. Any thread.
class hearing {
public:
  template <class T>
  void add(const T& x) {
    {
      std::lock_guard<std::mutex> guard{mutex_};
      all_.emplace_back(x);
    }
    changed_.notify_all();
  }

  /// All messages of one type.
  template <class T>
  std::vector<T> all() const {
    std::lock_guard<std::mutex> guard{mutex_};
    return collect<T>();
  }
  template <class T>
  std::size_t count() const {
    return all<T>().size();
  }
  /// The newest of its type; a default when there is none.
  template <class T>
  T last() const {
    auto found = all<T>();
    return found.empty() ? T{} : found.back();
  }

  /// Of the letters, parcels or calls heard: the contents of one type.
  template <class Content, class Wrapping = parcel>
  std::vector<Content> contents() const {
    std::vector<Content> result;
    for (auto& x : all<Wrapping>())
      if (auto content = std::get_if<Content>(&x.content))
        result.push_back(*content);
    return result;
  }

  /// Events of one name.
  std::vector<event> events(const std::string& name) const {
    std::vector<event> result;
    for (auto& x : all<event>())
      if (x.name == name)
        result.push_back(x);
    return result;
  }

  void clear() {
    std::lock_guard<std::mutex> guard{mutex_};
    all_.clear();
  }

  /// For actors on threads: waits until `condition()` holds, looking again at
  /// every message; false after `patience`.
  template <class Condition>
  bool wait(Condition condition, std::chrono::seconds patience) {
    auto until = std::chrono::steady_clock::now() + patience;
    std::size_t seen = 0;
    while (!condition()) {
      std::unique_lock<std::mutex> lock{mutex_};
      if (!changed_.wait_until(lock, until,
                               [&] { return all_.size() != seen; }))
        return false;
      seen = all_.size();
    }
    return true;
  }

private:
  template <class T>
  std::vector<T> collect() const {
    std::vector<T> result;
    for (auto& x : all_)
      if (auto y = std::any_cast<T>(&x))
        result.push_back(*y);
    return result;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::any> all_;
};

/// One field of an event; a default when there is none of that type and name.
template <class T>
T field(const event& x, const std::string& name) {
  for (auto& [key, value] : x.fields)
    if (key == name)
      if (auto found = std::get_if<T>(&value))
        return *found;
  return {};
}

template <class Handle>
class fake_state {
public:
  void init(typename Handle::pointer, std::shared_ptr<hearing> heard) {
    heard_ = std::move(heard);
  }
  template <class... Ts>
  void on(const Ts&... xs) {
    (heard_->add(xs), ...);
  }

private:
  std::shared_ptr<hearing> heard_;
};

/// A fake and what it heard.
template <class Handle>
struct fake {
  std::shared_ptr<hearing> heard = std::make_shared<hearing>();
  Handle handle;

  explicit fake(caf::actor_system& system) {
    using state = fake_state<Handle>;
    handle = system.spawn(
        [](typename Handle::template stateful_pointer<state> self,
           std::shared_ptr<hearing> heard) {
          return behave<Handle, state>(self, std::move(heard));
        },
        heard);
  }

  hearing* operator->() const {
    return heard.get();
  }
};

} // namespace potluck
