#include "tools/library/handles.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <map>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tools/library/without_signals.hpp"

namespace potluck::library {

namespace {

using namespace std::chrono_literals;

/// Of an exit, for goodbyes.
constexpr auto exit_patience = 500ms;

struct registry {
  std::mutex mutex;
  std::map<unsigned long, std::shared_ptr<session>> handles;
  unsigned long last = 0; ///< Numbers are never given twice.
  std::string problem;
};

/// Never destroyed: threads may be at it while the process exits.
registry& all() {
  static auto* const one = new registry;
  return *one;
}

std::atomic<pid_t> opened_by{0};

/// All say goodbye at once.
/// @return Whether all are gone in time.
bool leave_together(const std::vector<std::shared_ptr<session>>& all) {
  bool gone = true;
  for (auto& x : all)
    x->begin_to_leave();
  for (auto& x : all)
    try {
      gone = x->leave(exit_patience) == POTLUCK_OK && gone;
    } catch (const complaint&) {
      // It was not open.
    }
  return gone;
}

/// What this thread keeps for itself is destroyed already when this runs, so
/// another one does the work. Where it does not come to an end the process ends
/// here: peers would run on while the libraries that they use are destroyed.
void leave_all(int status, void*) noexcept {
  if (is_forked())
    return;
  std::vector<std::shared_ptr<session>> left;
  {
    std::lock_guard<std::mutex> lock{all().mutex};
    for (auto& x : all().handles)
      left.push_back(x.second);
  }
  if (left.empty())
    return;
  const without_signals unheard;
  auto gone = std::make_shared<std::promise<bool>>();
  auto answer = gone->get_future();
  std::thread{[left, gone] { gone->set_value(leave_together(left)); }}.detach();
  if (answer.wait_for(2 * exit_patience) == std::future_status::ready
      && answer.get())
    return;
  std::fflush(nullptr);
  _exit(status);
}

complaint unknown(unsigned long handle) {
  return complaint{handle == 0 ? "handle 0 is none; potluck_new gives one"
                               : "there is no handle " + std::to_string(handle)
                                     + "; it was freed, or never was one",
                   POTLUCK_NO_RUN};
}

} // namespace

bool is_forked() {
  const auto by = opened_by.load();
  return by != 0 && by != getpid();
}

void note_opened() {
  if (opened_by.exchange(getpid()) == 0)
    on_exit(leave_all, nullptr);
}

unsigned long add_handle() {
  auto made = std::make_shared<session>();
  std::lock_guard<std::mutex> lock{all().mutex};
  if (all().handles.size() >= most_handles)
    return 0;
  all().handles.emplace(++all().last, std::move(made));
  return all().last;
}

std::shared_ptr<session> find_handle(unsigned long handle) {
  std::lock_guard<std::mutex> lock{all().mutex};
  const auto found = all().handles.find(handle);
  if (found == all().handles.end())
    throw unknown(handle);
  return found->second;
}

std::shared_ptr<session> take_handle(unsigned long handle) {
  auto found = find_handle(handle);
  std::lock_guard<std::mutex> lock{all().mutex};
  all().handles.erase(handle);
  return found;
}

void note_stray_problem(const std::string& sentence) {
  std::lock_guard<std::mutex> lock{all().mutex};
  all().problem = sentence;
}

std::string stray_problem() {
  std::lock_guard<std::mutex> lock{all().mutex};
  return all().problem;
}

} // namespace potluck::library
