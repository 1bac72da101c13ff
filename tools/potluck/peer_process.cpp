#include "tools/potluck/peer_process.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <future>
#include <mutex>
#include <thread>
#include <unistd.h>

#include <caf/io/all.hpp>

#include "actors/behavior.hpp"
#include "runtime/experts/replication_plan.hpp"
#include "tools/caf_run/launch_protocol.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/terminal.hpp"

namespace potluck::tools {

namespace {

/// Ctrl-C promises two seconds; the last tenth is the shell's.
constexpr auto longest_goodbye = std::chrono::milliseconds{1800};
/// A checkpoint is written between two batches, and the last one is waited for.
constexpr auto longest_batch = std::chrono::seconds{30};
constexpr timespec look_at_outcome{0, 50'000'000};

/// What the observer learns and `main` waits for.
struct outcome {
  std::atomic<bool> over{false};
  std::atomic<bool> listening{false};
  std::mutex mutex;
  peer_over how;
  std::string alone; ///< The last steps were taken so; a sentence of it.
  bool surely_alone = false; ///< The others are no mere hearsay.
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
    if (x.name == "listening")
      config_->result->listening = true;
    note_company(x);
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
  /// Steps that were taken alone must not end unnoticed.
  void note_company(const event& x) {
    auto text = [&](const std::string& name) -> std::string {
      for (auto& [field, value] : x.fields)
        if (auto said = std::get_if<std::string>(&value); said && field == name)
          return *said;
      return "";
    };
    auto& result = *config_->result;
    const auto what = x.name == "fault" ? text("what") : "";
    if (what == "alone" || what == "perhaps alone") {
      std::lock_guard<std::mutex> guard{result.mutex};
      result.alone = text("detail");
      result.surely_alone = what == "alone";
    } else if (x.name == "company") {
      std::lock_guard<std::mutex> guard{result.mutex};
      result.alone.clear();
    }
  }

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

/// A peer that caf-run started: tells the launcher once others can reach the
/// peer, and hears from it when to stop. For a peer that a person started it
/// does nothing.
class launched_peer {
public:
  launched_peer(caf::actor_system& system, const cli::launch_options& launch)
      : system_(system), launch_(launch) {
  }

  /// Without waiting: the launcher may be slow to reach.
  void announce() {
    if (!launch_.slave_mode || report_.valid() || slave_)
      return;
    report_ = std::async(std::launch::async, [this] {
      return caf_run::announce_slave(system_, launch_.slave_name,
                                     launch_.bootstrap_nodes,
                                     [stop = stop_] { *stop = true; });
    });
  }

  /// Why the launcher does not know us; empty as far as we know.
  std::string problem() {
    if (!report_.valid()
        || report_.wait_for(std::chrono::seconds{0})
               != std::future_status::ready)
      return "";
    auto answer = report_.get();
    if (!answer)
      return answer.error();
    slave_ = std::move(*answer);
    return "";
  }

  bool stop_asked() const {
    return *stop_;
  }

private:
  caf::actor_system& system_;
  const cli::launch_options& launch_;
  std::shared_ptr<std::atomic<bool>> stop_
      = std::make_shared<std::atomic<bool>>(false);
  std::unique_ptr<caf_run::announced_slave> slave_;
  std::future<expected<std::unique_ptr<caf_run::announced_slave>>> report_;
};

void tell(notice_board& notices, const observer_actor& eyes) {
  for (auto& sentence : notices.take())
    caf::anon_send(eyes, event{"notice", {{"message", sentence}}});
}

/// Waits for the peer's end, a signal, or the launcher's word.
/// @returns how the peer ended by itself; nothing if it has to be told to.
std::optional<peer_over> wait_for_end(outcome& result, const sigset_t& signals,
                                      launched_peer& launched,
                                      notice_board& notices,
                                      const observer_actor& eyes) {
  while (!result.over) {
    tell(notices, eyes);
    if (sigtimedwait(&signals, nullptr, &look_at_outcome) > 0
        || launched.stop_asked())
      return std::nullopt;
    if (result.listening)
      launched.announce();
    if (auto problem = launched.problem(); !problem.empty())
      return peer_over{problem, false};
  }
  std::lock_guard<std::mutex> guard{result.mutex};
  return result.how;
}

/// From here on the process ends in time, whatever hangs; only a file that is
/// being written is waited for.
class countdown {
public:
  explicit countdown(std::chrono::milliseconds longest)
      : shared_(std::make_shared<shared>()) {
    shared_->end = std::chrono::steady_clock::now() + longest;
    std::thread{[x = shared_] {
      std::unique_lock<std::mutex> lock{x->mutex};
      while (x->stopped || std::chrono::steady_clock::now() < x->end)
        if (x->stopped)
          x->changed.wait(lock);
        else
          x->changed.wait_until(lock, x->end);
      _exit(x->status);
    }}.detach();
  }

  /// What the shell sees.
  void set_status(int status) {
    std::lock_guard<std::mutex> guard{shared_->mutex};
    shared_->status = status;
  }
  /// At most so long from here on.
  void set(std::chrono::milliseconds longest) {
    std::lock_guard<std::mutex> guard{shared_->mutex};
    shared_->stopped = false;
    shared_->end = std::chrono::steady_clock::now() + longest;
    shared_->changed.notify_one();
  }
  void stop() {
    std::lock_guard<std::mutex> guard{shared_->mutex};
    shared_->stopped = true;
    shared_->changed.notify_one();
  }

private:
  struct shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::chrono::steady_clock::time_point end;
    bool stopped = false;
    int status = 0;
  };

  std::shared_ptr<shared> shared_;
};

/// What was made since the last checkpoint is not lost when the peer leaves.
/// @returns why it is; empty: it is not.
std::string save_at_leaving(checkpoint_files& files, state_vault& vault,
                            countdown& left, const observer_actor& eyes) {
  left.set(longest_batch);
  const std::lock_guard<std::mutex> alone{vault.busy};
  if (!vault.state || !files.lacks(*vault.state))
    return "";
  const auto step = vault.state->step;
  left.stop();
  const auto done = files.save(*vault.state);
  caf::anon_send(
      eyes,
      event{"checkpoint",
            {{"step", step}, {"path", done.path}, {"problem", done.problem}}});
  return done.problem.empty()
             ? ""
             : "The checkpoint of step " + std::to_string(step)
                   + " could not be written: " + done.problem + ".";
}

} // namespace

int run_peer(cli::command_line& options, peer_config config,
             std::shared_ptr<notice_board> notices,
             std::optional<run_tenants_config> tenants) {
  if (!notices)
    notices = std::make_shared<notice_board>();
  auto watched = std::make_shared<observer_config>();
  watched->result = std::make_shared<outcome>();
  if (options.given("log-json")) {
    auto log = event_log::open(options.text("log-json"));
    if (!log)
      return complain(log.error());
    watched->log.emplace(std::move(*log));
  }
  std::chrono::milliseconds longest = longest_goodbye;
  if (config.experts)
    longest += limits::hand_over_patience;
  // Before any thread starts, so that only this one sees them.
  auto signals = signals_to_leave_at();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  // Only the launcher of caf-run is talked to this way, never another peer.
  if (options.launch().slave_mode)
    options.load<caf::io::middleman>();
  const auto vault = config.vault
                         ? config.vault
                         : config.vault = std::make_shared<state_vault>();
  const auto checkpoints = config.checkpoints;
  int status = all_well;
  {
    caf::actor_system system{options};
    launched_peer launched{system, options.launch()};
    auto eyes = system.spawn(observer, watched);
    tell(*notices, eyes); // First of all, what its start has found.
    run_tenants_actor beside;
    if (tenants)
      config.beside = beside
          = spawn_run_tenants(system, std::move(*tenants), eyes);
    auto peer = spawn_peer(system, std::move(config), eyes);
    auto ended
        = wait_for_end(*watched->result, signals, launched, *notices, eyes);
    auto how = ended.value_or(peer_over{});
    if (!how.problem.empty())
      status = how.users_mistake ? users_mistake : failed;
    // A second Ctrl-C does not wait for anything. SIGTERM stays blocked: the
    // launcher sends it besides its word.
    sigset_t impatience;
    sigemptyset(&impatience);
    sigaddset(&impatience, SIGINT);
    std::signal(SIGINT, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &impatience, nullptr);
    countdown left{longest};
    if (!how.problem.empty())
      complain(how.problem);
    {
      std::lock_guard<std::mutex> guard{watched->result->mutex};
      if (!watched->result->alone.empty()) {
        complain(watched->result->alone + ".");
        if (status == all_well && watched->result->surely_alone)
          status = failed;
      }
    }
    left.set_status(status);
    const leave_run goodbye{ended ? "finished" : "leaving"};
    caf::anon_send(peer, goodbye);
    if (checkpoints) {
      if (const auto problem
          = save_at_leaving(*checkpoints, *vault, left, eyes);
          !problem.empty()) {
        complain(problem);
        status = status == all_well ? failed : status;
        left.set_status(status);
      }
      left.set(longest);
    }
    caf::scoped_actor waiter{system};
    if (beside) {
      caf::anon_send(beside, goodbye);
      waiter->wait_for(beside);
    }
    waiter->wait_for(peer);
    caf::anon_send_exit(eyes, caf::exit_reason::user_shutdown);
  }
  return status;
}

} // namespace potluck::tools
