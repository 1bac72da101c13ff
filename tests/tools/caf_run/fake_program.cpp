// What the test of caf-run starts in place of a peer. The first word says how
// it behaves:
//
//   serve     reports, and ends when it is told to by a message
//   work      reports, and ends well once the master has started
//   die       ends with status 3 before it reports
//   quit      ends with status 0 before it reports
//   fail      reports, and ends with status 4 once the master has started
//   mute      never reports, and ends when it gets a signal
//   stubborn  reports, and ignores SIGTERM and messages
//   master    finds its slaves, says that it has started, and ends well
//   wait      a master that says it has started and does not end
//
// It writes its process id to DIR/pids, for --dir=DIR.

#include "tools/caf_run/launch_protocol.hpp"
#include "tools/potluck/options.hpp"

#include <caf/all.hpp>
#include <caf/io/all.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <string>
#include <thread>
#include <unistd.h>

namespace {

using namespace potluck;

[[noreturn]] void sleep_for_ever() {
  for (;;)
    ::pause();
}

void await_file(const std::string& path) {
  while (!std::filesystem::exists(path))
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
}

int serve_until_told(caf::actor_system& system, cli::command_line& config,
                     const std::string& how, const std::string& dir) {
  std::promise<void> stopped;
  auto slave = caf_run::announce_slave(system, config.launch().slave_name,
                                       config.launch().bootstrap_nodes,
                                       [&] { stopped.set_value(); });
  if (!slave) {
    std::cerr << slave.error() << '\n';
    return 5;
  }
  if (how == "stubborn")
    sleep_for_ever();
  if (how == "work" || how == "fail") {
    await_file(dir + "/started");
    return how == "work" ? 0 : 4;
  }
  stopped.get_future().wait();
  std::ofstream{dir + "/told"} << "by a message\n";
  return 0;
}

int be_master(caf::actor_system& system, cli::command_line& config,
              const std::string& how, const std::string& dir) {
  std::size_t slaves = 0;
  for (auto& text : config.launch().slave_nodes) {
    auto node = caf_run::parse_node(text);
    if (!node || !system.middleman().remote_actor(node->first, node->second)) {
      std::cerr << "cannot reach the slave " << text << '\n';
      return 6;
    }
    ++slaves;
  }
  std::cout << "master of " << slaves << " slaves\n" << std::flush;
  std::ofstream{dir + "/started"} << '\n';
  if (how == "wait")
    sleep_for_ever();
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  std::string how = argc > 1 ? argv[1] : "";
  auto parsed = cli::parse_command(
      {how,
       "A fake.",
       "fake_program HOW [OPTION]...",
       {{"dir", cli::option_kind::text, ".", "Where to leave traces.", "DIR"}},
       0,
       {}},
      {argv + std::min(argc, 2), argv + argc});
  if (parsed.exit_code)
    return *parsed.exit_code;
  auto dir = parsed.config.text("dir");
  std::ofstream{dir + "/pids", std::ios::app} << ::getpid() << '\n';
  if (how == "die" || how == "quit")
    return how == "die" ? 3 : 0;
  if (how == "mute")
    sleep_for_ever();
  // A message alone must do for `serve`: caf-run sends both.
  if (how == "stubborn" || how == "serve")
    std::signal(SIGTERM, SIG_IGN);
  parsed.config.load<caf::io::middleman>();
  caf::actor_system system{parsed.config};
  if (parsed.config.launch().slave_mode)
    return serve_until_told(system, parsed.config, how, dir);
  return be_master(system, parsed.config, how, dir);
}
