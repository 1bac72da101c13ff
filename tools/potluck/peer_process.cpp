#include "tools/potluck/peer_process.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <iostream>
#include <mutex>
#include <thread>
#include <unistd.h>

#include "actors/behavior.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/terminal.hpp"

namespace potluck::tools {

namespace {

/// Ctrl-C promises two seconds; the last tenth is the shell's.
constexpr auto longest_goodbye = std::chrono::milliseconds{1800};
constexpr timespec look_at_outcome{0, 50'000'000};

/// What the observer learns and `main` waits for.
struct outcome {
  std::atomic<bool> over{false};
  std::mutex mutex;
  peer_over how;
};

struct observer_config {
  std::optional<event_log> log;
  std::shared_ptr<outcome> result;
};

double unix_time() {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

class observer_state {
public:
  void init(observer_actor::pointer self, std::shared_ptr<observer_config> c) {
    self_ = self;
    config_ = std::move(c);
  }

  void on(const event& x) {
    screen_.show(x);
    if (!config_->log)
      return;
    auto written = config_->log->write(x, unix_time());
    if (!written && !complained_) {
      complained_ = true;
      screen_.end_line();
      complain(written.error());
    }
  }

  void on(const run_status& x) {
    screen_.show(x);
  }

  void on(const peer_over& x) {
    screen_.end_line();
    auto& result = *config_->result;
    std::lock_guard<std::mutex> guard{result.mutex};
    if (!result.over) {
      result.how = x;
      result.over = true;
    }
  }

private:
  observer_actor::pointer self_ = nullptr;
  std::shared_ptr<observer_config> config_;
  terminal screen_;
  bool complained_ = false;
};

observer_actor::behavior_type
observer(observer_actor::stateful_pointer<observer_state> self,
         std::shared_ptr<observer_config> config) {
  return behave<observer_actor, observer_state>(self, std::move(config));
}

sigset_t signals_to_leave_at() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  return set;
}

/// Waits for the peer's end or a signal; the signal's number, or 0.
int wait_for_end(const outcome& result, const sigset_t& signals) {
  while (!result.over) {
    auto caught = sigtimedwait(&signals, nullptr, &look_at_outcome);
    if (caught > 0)
      return caught;
  }
  return 0;
}

/// From here on the process ends in time, whatever hangs.
void start_countdown(const std::shared_ptr<std::atomic<int>>& status) {
  std::thread{[status] {
    std::this_thread::sleep_for(longest_goodbye);
    _exit(*status);
  }}.detach();
}

} // namespace

int run_peer(cli::command_line& options, peer_config config) {
  auto watched = std::make_shared<observer_config>();
  watched->result = std::make_shared<outcome>();
  if (options.given("log-json")) {
    auto log = event_log::open(options.text("log-json"));
    if (!log)
      return complain(log.error());
    watched->log.emplace(std::move(*log));
  }
  // Before any thread starts, so that only this one sees them.
  auto signals = signals_to_leave_at();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  auto status = std::make_shared<std::atomic<int>>(all_well);
  {
    caf::actor_system system{options};
    auto eyes = system.spawn(observer, watched);
    auto peer = spawn_peer(system, std::move(config), eyes);
    auto caught = wait_for_end(*watched->result, signals);
    peer_over how;
    if (caught == 0) {
      std::lock_guard<std::mutex> guard{watched->result->mutex};
      how = watched->result->how;
      if (!how.problem.empty())
        *status = how.users_mistake ? users_mistake : failed;
    }
    // A second Ctrl-C does not wait for anything.
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    start_countdown(status);
    if (!how.problem.empty())
      complain(how.problem);
    caf::anon_send(peer, leave_run{caught != 0 ? "leaving" : "finished"});
    {
      caf::scoped_actor waiter{system};
      waiter->wait_for(peer);
    }
    caf::anon_send_exit(eyes, caf::exit_reason::user_shutdown);
  }
  return *status;
}

} // namespace potluck::tools
