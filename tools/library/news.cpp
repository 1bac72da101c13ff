#include "tools/library/news.hpp"

#include <algorithm>
#include <chrono>

#include "tools/library/complaint.hpp"

namespace potluck::library {

namespace {

/// Longer is not waited in one call.
constexpr duration longest_wait = std::chrono::hours{24};

double unix_time() {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

template <class T>
const T* field(const event& x, const std::string& name) {
  for (const auto& [key, value] : x.fields)
    if (key == name)
      return std::get_if<T>(&value);
  return nullptr;
}

} // namespace

void news::write_to(const std::string& path) {
  auto opened = event_log::open(path);
  if (!opened)
    throw complaint{"log-json: " + opened.error()};
  std::lock_guard<std::mutex> lock{mutex_};
  log_.emplace(std::move(*opened));
}

void news::hear(const event& x) {
  const auto time = unix_time();
  std::lock_guard<std::mutex> lock{mutex_};
  events_.push_back(to_json(x, time));
  if (events_.size() > most_events)
    events_.pop_front();
  if (log_)
    log_->write(x, time); // A full disk is no reason to stop.
  if (x.name == "listening") {
    if (auto* where = field<std::string>(x, "address"))
      now_.address = *where;
  } else if (x.name == "state_progress" || x.name == "artifact_progress") {
    if (auto* percent = field<double>(x, "percent"))
      now_.progress = *percent / 100;
  } else if (x.name == "finished") {
    now_.finished = true;
  }
  changed_.notify_all();
}

void news::hear(const run_status& x) {
  std::lock_guard<std::mutex> lock{mutex_};
  now_.last = x;
}

void news::hear(const peer_over& x) {
  std::lock_guard<std::mutex> lock{mutex_};
  if (now_.problem.empty())
    now_.problem = x.problem;
  now_.over = true;
  changed_.notify_all();
}

void news::fail(const std::string& sentence) {
  hear(peer_over{sentence});
}

void news::close() {
  std::lock_guard<std::mutex> lock{mutex_};
  now_.over = now_.closed = true;
  changed_.notify_all();
}

std::optional<std::string> news::next(std::size_t room, duration patience) {
  std::unique_lock<std::mutex> lock{mutex_};
  changed_.wait_for(lock, std::min(patience, longest_wait),
                    [this] { return !events_.empty() || now_.closed; });
  if (events_.empty())
    return std::nullopt;
  if (events_.front().size() >= room)
    return events_.front();
  auto result = std::move(events_.front());
  events_.pop_front();
  return result;
}

bool news::wait_for_end(duration patience, bool over_will_do) {
  std::unique_lock<std::mutex> lock{mutex_};
  return changed_.wait_for(lock, std::min(patience, longest_wait), [&] {
    return now_.closed || (over_will_do && now_.over);
  });
}

news::standing news::look() const {
  std::lock_guard<std::mutex> lock{mutex_};
  return now_;
}

} // namespace potluck::library
