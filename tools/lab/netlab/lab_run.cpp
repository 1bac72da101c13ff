#include "tools/lab/netlab/lab_run.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "runtime/event_log.hpp"
#include "tools/lab/netlab/await_news.hpp"
#include "tools/lab/netlab/lab_process.hpp"
#include "tools/lab/netlab/lab_words.hpp"

namespace potluck::netlab {

namespace {

using namespace std::chrono_literals;
using json = nlohmann::ordered_json;

/// A command that is asked to end has so long before it is killed: potluck
/// promises two seconds, and a busy machine takes longer.
constexpr auto leave_patience = 10s;
/// Between two `traffic` events.
constexpr auto traffic_interval = 1s;
/// Share of late packets from which the figures are not to be trusted.
constexpr double late_shown = 0.02;

class lab {
public:
  lab(const network_description& what, host_network& network, std::string out,
      int lifeline)
      : what_(what), network_(network), out_(std::move(out)),
        lifeline_(lifeline), begin_(now()) {
    for (const auto& x : what_.hosts)
      lines_.push_back(x.line);
    sigset_t ours;
    sigemptyset(&ours);
    for (auto x : {SIGINT, SIGTERM, SIGHUP, SIGCHLD})
      sigaddset(&ours, x);
    ::sigprocmask(SIG_BLOCK, &ours, nullptr);
    signals_
        = file_descriptor{::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK)};
  }

  int run() {
    auto log = event_log::open(out_ + "/netlab.jsonl");
    if (!log)
      return complain(log.error());
    log_ = std::make_unique<event_log>(std::move(*log));
    auto ready = prepare();
    if (!ready)
      return complain(ready.error());
    while (!over()) {
      act(now());
      wait();
      reap();
    }
    for (auto& x : processes_)
      x.signal(SIGKILL);
    return report();
  }

private:
  static int complain(const std::string& sentence) {
    std::cerr << "netlab: " << sentence << '\n';
    return 1;
  }

  void note(const std::string& name,
            std::vector<std::pair<std::string, event::value>> fields) {
    auto done
        = log_->write({name, std::move(fields)},
                      std::chrono::duration<double>(now() - begin_).count());
    if (!done && !std::exchange(complained_, true))
      complain(done.error());
  }

  // ---- what happens when

  /// Something that the description says.
  struct action {
    duration at;
    std::function<void()> act;
  };

  expected<bool> prepare() {
    if (what_.commands.empty())
      return failure{
          "The description has no commands, so nothing would happen: "
          "give it some."};
    std::map<std::string, host_network::host> places;
    for (std::size_t i = 0; i < what_.hosts.size(); ++i)
      places[what_.hosts[i].name] = i;
    for (const auto& x : what_.commands) {
      auto where = places.at(x.host);
      std::string trouble;
      lab_words with;
      with.name = x.name;
      with.log = out_ + "/" + x.name + ".jsonl";
      with.dir = out_ + "/" + x.name;
      with.host = x.host;
      with.address_of = [&](const std::string& host) {
        auto i = places.find(host);
        return i == places.end() ? "" : network_.address_of(i->second);
      };
      with.ipv6_address_of = [&](const std::string& host) {
        auto i = places.find(host);
        return i == places.end() ? "" : network_.ipv6_address_of(i->second);
      };
      with.network = [&](unsigned port) {
        auto front = network_.open(where, static_cast<std::uint16_t>(port));
        if (!front)
          trouble = front.error();
        return front ? network_.words_of(where) : std::vector<std::string>{};
      };
      auto words = fill_in(x.words, with);
      if (!words || !trouble.empty())
        return failure{"Command `" + x.name
                       + "`: " + (words ? trouble : words.error())};
      std::error_code problem;
      std::filesystem::create_directories(with.dir, problem);
      if (problem)
        return failure{"'" + with.dir + "' cannot be made: " + problem.message()
                       + "."};
      processes_.emplace_back(x, std::move(*words), where);
    }
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      const auto& x = processes_[i].what();
      plan_.push_back({x.starts_at, [this, i] { start(processes_[i]); }});
      if (x.ends_at)
        plan_.push_back({*x.ends_at, [this, i] {
                           ask(processes_[i], processes_[i].what().signal);
                         }});
    }
    for (const auto& x : what_.changes)
      plan_.push_back({x.at, [this, &x] { change(x); }});
    if (what_.lasts)
      plan_.push_back({*what_.lasts, [this] {
                         timed_out_ = true;
                         end("the time is over");
                       }});
    std::stable_sort(plan_.begin(), plan_.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
    return true;
  }

  void act(time_point at) {
    while (next_ < plan_.size() && begin_ + plan_[next_].at <= at)
      plan_[next_++].act();
    if (at >= next_traffic_) {
      note_traffic();
      next_traffic_ = at + traffic_interval;
    }
    bool done
        = std::none_of(processes_.begin(), processes_.end(), [](const auto& x) {
            return !x.what().serve && (!x.started() || x.running());
          });
    if (done && !ending_)
      end("all commands have ended");
    if (ending_ && at >= *ending_ + leave_patience)
      for (auto& x : processes_)
        x.signal(SIGKILL);
  }

  void start(lab_process& x) {
    if (ending_)
      return;
    auto started = x.start(network_, out_ + "/" + x.what().name + ".txt");
    if (!started)
      complain(started.error());
    note("started", {{"name", x.what().name},
                     {"host", x.what().host},
                     {"address", network_.address_of(x.where())}});
  }

  void ask(lab_process& x, int signal) {
    if (!x.running())
      return;
    x.asked = true;
    x.signal(signal);
    note("asked", {{"name", x.what().name},
                   {"signal", static_cast<std::int64_t>(signal)}});
  }

  void change(const network_change& x) {
    for (auto host : what_.members(x.host)) {
      x.line.apply(lines_[host]);
      network_.set_line(host, lines_[host]);
      std::vector<std::pair<std::string, event::value>> fields{
          {"host", what_.hosts[host].name}};
      auto add = [&fields](const char* name, const auto& value) {
        if (value)
          fields.push_back({name, static_cast<double>(*value)});
      };
      add("upload", x.line.upload);
      add("download", x.line.download);
      add("loss", x.line.loss);
      note("changed", std::move(fields));
    }
  }

  void end(const std::string& why) {
    if (!ending_)
      note("ending", {{"reason", why}});
    ending_ = now();
    for (auto& x : processes_)
      ask(x, SIGTERM);
  }

  void note_traffic() {
    for (std::size_t i = 0; i < what_.hosts.size(); ++i)
      if (const auto x = network_.counters_of(i))
        note("traffic", {{"host", what_.hosts[i].name},
                         {"sent", x->bytes_sent},
                         {"received", x->bytes_received}});
  }

  bool over() const {
    return ending_
           && std::none_of(processes_.begin(), processes_.end(),
                           [](const auto& x) { return x.running(); });
  }

  // ---- waiting

  void wait() {
    auto until = next_traffic_;
    if (next_ < plan_.size())
      until = std::min(until, begin_ + plan_[next_].at);
    if (ending_)
      until = std::min(until, *ending_ + leave_patience);
    std::vector<pollfd> waits{{signals_.get(), POLLIN, 0},
                              {lifeline_, POLLIN, 0}};
    await_news(waits, until);
    if (waits[1].revents != 0)
      interrupted("whoever started the lab is gone", true);
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof(info)) == sizeof(info))
      if (info.ssi_signo != SIGCHLD)
        interrupted("interrupted", interrupted_);
  }

  void interrupted(const std::string& why, bool at_once) {
    interrupted_ = true;
    end(why);
    if (at_once)
      for (auto& x : processes_)
        x.signal(SIGKILL);
  }

  void reap() {
    int status = 0;
    for (pid_t id; (id = ::waitpid(-1, &status, WNOHANG)) > 0;)
      for (auto& x : processes_)
        if (x.id() == id) {
          x.ended(status, now());
          note("ended", {{"name", x.what().name},
                         {"fate", x.fate()},
                         {"seconds", x.seconds()}});
        }
  }

  // ---- the end

  int report() {
    note_traffic();
    json result;
    result["interrupted"] = interrupted_;
    result["timed_out"] = timed_out_;
    result["seconds"] = std::chrono::duration<double>(now() - begin_).count();
    const auto late = network_.totals().late_share;
    result["late_share"] = late;
    bool well = !interrupted_;
    for (const auto& x : processes_) {
      result["commands"].push_back({{"name", x.what().name},
                                    {"host", x.what().host},
                                    {"fate", x.fate()},
                                    {"well", x.well()},
                                    {"seconds", x.seconds()}});
      // What serves only has to end when it is asked to.
      if (!x.well() && !interrupted_) {
        well = false;
        complain("`" + x.what().name + "` " + x.fate() + ": see " + out_ + "/"
                 + x.what().name + ".txt");
      }
    }
    for (std::size_t i = 0; i < what_.hosts.size(); ++i) {
      json host{{"name", what_.hosts[i].name},
                {"address", network_.address_of(i)}};
      if (const auto x = network_.counters_of(i)) {
        host["bytes_sent"] = x->bytes_sent;
        host["bytes_received"] = x->bytes_received;
        host["dropped"] = x->dropped;
        host["lost"] = x->lost;
        host["blocked"] = x->blocked;
      }
      result["hosts"].push_back(host);
    }
    std::ofstream{out_ + "/netlab.json"} << result.dump(2) << '\n';
    if (late > late_shown)
      complain("this machine was too busy: "
               + std::to_string(static_cast<int>(100 * late))
               + "% of the packets came late, so lower the rates or run less "
                 "beside it.");
    if (interrupted_)
      return 130;
    return well ? 0 : 1;
  }

  const network_description& what_;
  host_network& network_;
  std::vector<access_line> lines_; ///< Of the hosts, at present.
  const std::string out_;
  const int lifeline_;
  const time_point begin_;
  file_descriptor signals_;
  std::unique_ptr<event_log> log_;
  std::vector<lab_process> processes_;
  std::vector<action> plan_;
  std::size_t next_ = 0;
  time_point next_traffic_{};
  std::optional<time_point> ending_;
  bool interrupted_ = false;
  bool timed_out_ = false;
  bool complained_ = false;
};

} // namespace

expected<bool> lay_out(const network_description& what, host_network& network) {
  for (const auto& x : what.hosts)
    if (x.router != router_kind::none && !network.carries_packets())
      return failure{
          "Routers need namespaces: run as root, or take them out of "
          "the description."};
    else if (auto made = network.add(x.line, x.router); !made)
      return failure{made.error()};
  for (const auto& x : what.links)
    for (auto a : what.members(x.from))
      for (auto b : what.members(x.to)) {
        if (a == b)
          continue;
        auto done = network.link(a, b, x);
        if (done && x.both)
          done = network.link(b, a, x);
        if (!done)
          return done;
      }
  return true;
}

int run_lab(const network_description& what, host_network& network,
            const std::string& out, int lifeline) {
  return lab{what, network, out, lifeline}.run();
}

} // namespace potluck::netlab
