#include "tools/caf_run/launcher.hpp"

#include "tools/caf_run/launch_plan.hpp"
#include "tools/caf_run/launch_protocol.hpp"
#include "tools/caf_run/processes.hpp"

#include <caf/all.hpp>
#include <caf/io/all.hpp>
#include <caf/io/network/interfaces.hpp>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <iostream>
#include <map>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace potluck::caf_run {

namespace {

using clock = std::chrono::steady_clock;

/// What wakes the launcher: a slave's report, or a signal.
struct event {
  int signal = 0; ///< 0: a report.
  std::string host;
  std::uint16_t port = 0;
  caf::actor control; ///< Takes `stop_atom`; null if the slave is not ours.
};

/// Filled by the bootstrap actor and the signal thread, emptied by the
/// launcher.
class event_queue {
public:
  void push(event x) {
    {
      std::lock_guard<std::mutex> guard{mutex_};
      events_.push_back(std::move(x));
    }
    filled_.notify_one();
  }

  /// The next event, or nothing at `deadline`.
  std::optional<event> pop(clock::time_point deadline) {
    std::unique_lock<std::mutex> lock{mutex_};
    if (!filled_.wait_until(lock, deadline, [&] { return !events_.empty(); }))
      return std::nullopt;
    auto first = std::move(events_.front());
    events_.pop_front();
    return first;
  }

private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<event> events_;
};

/// The actor that slaves connect to.
caf::behavior bootstrap_actor(caf::event_based_actor* self,
                              event_queue* events) {
  return {
      [=](const std::string& host, std::uint16_t port) {
        events->push({0, host, port,
                      caf::actor_cast<caf::actor>(self->current_sender())});
      },
  };
}

sigset_t our_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (auto signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP})
    sigaddset(&set, signal);
  return set;
}

std::string working_directory() {
  std::vector<char> buffer(4096);
  auto path = ::getcwd(buffer.data(), buffer.size());
  return path == nullptr ? "." : path;
}

/// One launch while it runs.
class running_launch {
public:
  running_launch(const launch_request& request, caf::actor_system& system,
                 event_queue& events)
      : request_(request), system_(system), events_(events),
        plan_(request.hosts) {
  }

  int run() {
    bootstrap_ = system_.spawn(bootstrap_actor, &events_);
    auto local = std::all_of(request_.hosts.begin(), request_.hosts.end(),
                             [](const auto& x) { return x.is_local(); });
    auto port = system_.middleman().publish(bootstrap_, 0,
                                            local ? "127.0.0.1" : nullptr);
    if (!port) {
      std::cerr << "caf-run: cannot open a port for the slaves: "
                << system_.render(port.error()) << ".\n";
      caf::anon_send_exit(bootstrap_, caf::exit_reason::user_shutdown);
      return 1;
    }
    bootstrap_nodes_ = addresses(local, *port);
    heard_ = clock::now();
    while (!plan_.over()) {
      start_what_is_due();
      if (plan_.over())
        break;
      if (auto x = events_.pop(next_deadline()))
        handle(*x);
      else
        deadline_passed();
      if (plan_.ending() && !asked_to_end_)
        ask_to_end();
    }
    system_.middleman().unpublish(bootstrap_, *port);
    caf::anon_send_exit(bootstrap_, caf::exit_reason::user_shutdown);
    if (plan_.problem().empty())
      return 0;
    std::cerr << "caf-run: " << plan_.problem() << '\n';
    return interrupted_ ? 130 : 1;
  }

private:
  std::string addresses(bool local, std::uint16_t port) const {
    using namespace caf::io::network;
    std::vector<std::string> hosts;
    if (!request_.bootstrap_host.empty())
      hosts = {request_.bootstrap_host};
    else if (local)
      hosts = {"127.0.0.1"};
    else
      hosts = interfaces::list_addresses(protocol::ipv4, false);
    std::string result;
    for (const auto& host : hosts)
      result += (result.empty() ? "" : ",") + host + "/" + std::to_string(port);
    return result;
  }

  void start_what_is_due() {
    while (auto index = plan_.next_start()) {
      const auto& line = plan_.hosts()[*index];
      auto is_master = *index == 0;
      auto words = words_for(request_, line, is_master ? "" : bootstrap_nodes_,
                             slave_nodes_);
      std::string log;
      if (!is_master && !request_.log_dir.empty())
        log = request_.log_dir + "/" + std::to_string(line.number) + "-"
              + (line.command.empty() ? line.host : line.command) + ".log";
      auto pid = start(command_for(line, words, working_directory()), log);
      if (pid) {
        processes_[*pid] = *index;
        heard_ = clock::now();
      } else {
        plan_.ended(*index, pid.error());
      }
    }
    if (plan_.ending() && !asked_to_end_)
      ask_to_end();
  }

  clock::time_point next_deadline() const {
    if (plan_.ending())
      return asked_at_ + request_.grace;
    if (plan_.awaits_reports())
      return heard_ + request_.patience;
    return clock::now() + std::chrono::hours{1}; // an event will come
  }

  void deadline_passed() {
    if (plan_.ending()) {
      for (const auto& [pid, index] : processes_)
        signal_group(pid, SIGKILL);
      asked_at_ = clock::now();
    } else if (plan_.awaits_reports()) {
      plan_.timed_out();
    }
  }

  void handle(const event& x) {
    if (x.signal == SIGCHLD) {
      reap();
    } else if (x.signal != 0) {
      interrupted_ = interrupted_ || !plan_.ending();
      plan_.interrupted();
    } else if (plan_.reported(x.host)) {
      heard_ = clock::now();
      slave_nodes_.push_back(x.host + "/" + std::to_string(x.port));
      if (x.control)
        controls_.push_back(x.control);
      if (x.control && plan_.ending()) // too late to hear it with the others
        caf::anon_send(x.control, stop_atom::value);
    } else {
      std::cerr << "caf-run: '" << x.host
                << "' reported, but no slave of that name was awaited.\n";
    }
  }

  /// Signals of one kind are merged while they wait, so ask for everybody.
  void reap() {
    for (int status = 0;;) {
      auto pid = ::waitpid(-1, &status, WNOHANG);
      if (pid <= 0)
        return;
      auto hit = processes_.find(pid);
      if (hit == processes_.end())
        continue;
      auto index = hit->second;
      processes_.erase(hit);
      plan_.ended(index, how_it_ended(status));
    }
  }

  void ask_to_end() {
    asked_to_end_ = true;
    asked_at_ = clock::now();
    // A signal to ssh does not reach the process behind it; `stop` does.
    for (const auto& control : controls_)
      caf::anon_send(control, stop_atom::value);
    for (const auto& [pid, index] : processes_)
      if (plan_.hosts()[index].is_local())
        signal_group(pid, SIGTERM);
  }

  const launch_request& request_;
  caf::actor_system& system_;
  event_queue& events_;
  launch_plan plan_;
  caf::actor bootstrap_;
  std::string bootstrap_nodes_;
  std::vector<std::string> slave_nodes_;
  std::vector<caf::actor> controls_;
  std::map<pid_t, std::size_t> processes_; // to the line
  clock::time_point heard_;                // the last start or report
  clock::time_point asked_at_;
  bool asked_to_end_ = false;
  bool interrupted_ = false;
};

} // namespace

std::vector<std::string> words_for(const launch_request& request,
                                   const host_line& line,
                                   const std::string& bootstrap,
                                   const std::vector<std::string>& slaves) {
  std::vector<std::string> words{request.program.front()};
  if (!line.command.empty())
    words.push_back(line.command);
  if (!line.config.empty())
    words.push_back("--config-file=" + request.config_dir + "/" + line.config);
  words.insert(words.end(), request.program.begin() + 1, request.program.end());
  words.push_back("--caf#scheduler.max-threads=" + std::to_string(line.slots));
  if (!bootstrap.empty()) {
    words.push_back("--caf#slave-mode");
    words.push_back("--caf#slave-name=" + line.host);
    words.push_back("--caf#bootstrap-node=" + bootstrap);
  } else if (!slaves.empty()) {
    std::string nodes;
    for (const auto& x : slaves)
      nodes += (nodes.empty() ? "" : ",") + x;
    words.push_back("--caf#slave-nodes=" + nodes);
  }
  return words;
}

void block_signals() {
  auto set = our_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

int launch(const launch_request& request) {
  event_queue events;
  auto waiting = our_signals();
  sigaddset(&waiting, SIGUSR2); // ends the thread
  ::pthread_sigmask(SIG_BLOCK, &waiting, nullptr);
  std::thread signals{[&] {
    for (int signal = 0;
         ::sigwait(&waiting, &signal) == 0 && signal != SIGUSR2;)
      events.push({signal, "", 0, nullptr});
  }};
  int status = 1;
  {
    caf::actor_system_config config;
    config.load<caf::io::middleman>();
    config.set("scheduler.max-threads", std::uint64_t{1});
    // Slaves that die close their connection: that is news, not an error.
    config.set("logger.console", caf::atom("none"));
    caf::actor_system system{config};
    status = running_launch{request, system, events}.run();
  }
  ::pthread_kill(signals.native_handle(), SIGUSR2);
  signals.join();
  return status;
}

} // namespace potluck::caf_run
