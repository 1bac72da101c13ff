// potluck-caf-run: what tools/caf-run runs.

#include "tools/caf_run/launcher.hpp"

#include <charconv>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace {

using potluck::caf_run::launch_request;

constexpr const char* usage
    = "Starts one program on several hosts, for it to work together.\n"
      "\n"
      "usage: caf-run --hostfile=FILE [OPTION]... PROGRAM [ARGUMENT]...\n"
      "\n"
      "  --hostfile=FILE    One process a line, the first is the master:\n"
      "                     HOST [slots=N] [command=WORD] [config=FILE] "
      "[wait]\n"
      "                     [serve]; see tools/README.md.\n"
      "  --config-dir=DIR   Where config=FILE lies (default: the host "
      "file's).\n"
      "  --logs=DIR         Write each slave's output to a file in DIR.\n"
      "  --patience=SECONDS Longest time without a slave's report (default: "
      "120).\n"
      "  --bootstrap-host=HOST  How slaves reach this host (default: its\n"
      "                     addresses).\n";

int mistake(const std::string& sentence) {
  std::cerr << "caf-run: " << sentence << '\n';
  return 2;
}

} // namespace

int main(int argc, char** argv) {
  potluck::caf_run::block_signals();
  std::vector<std::string> words(argv + 1, argv + argc);
  launch_request request;
  std::string host_file;
  std::size_t next = 0;
  for (; next < words.size() && words[next].rfind("-", 0) == 0; ++next) {
    auto equals = words[next].find('=');
    auto name = words[next].substr(0, equals);
    if (name == "--help" || name == "-h") {
      std::cout << usage;
      return 0;
    }
    std::string value;
    if (equals != std::string::npos)
      value = words[next].substr(equals + 1);
    else if (next + 1 < words.size())
      value = words[++next];
    if (name == "--hostfile") {
      host_file = value;
    } else if (name == "--config-dir") {
      request.config_dir = value;
    } else if (name == "--logs") {
      request.log_dir = value;
    } else if (name == "--bootstrap-host") {
      request.bootstrap_host = value;
    } else if (name == "--patience") {
      unsigned seconds = 0;
      auto end = value.data() + value.size();
      auto [stop, error] = std::from_chars(value.data(), end, seconds);
      if (error != std::errc{} || stop != end || seconds == 0)
        return mistake("--patience wants seconds, not '" + value
                       + "': write for instance --patience=120.");
      request.patience = std::chrono::seconds{seconds};
    } else {
      return mistake("there is no option " + name + ": see caf-run --help.");
    }
  }
  request.program.assign(words.begin() + next, words.end());
  if (host_file.empty())
    return mistake("which hosts? Write --hostfile=FILE.");
  if (request.program.empty())
    return mistake("which program? Write it behind the options.");
  std::ifstream in{host_file};
  if (!in)
    return mistake("cannot read the host file '" + host_file
                   + "': check the path behind --hostfile.");
  auto hosts = potluck::caf_run::read_hosts(in);
  if (!hosts)
    return mistake(host_file + ": " + hosts.error());
  request.hosts = std::move(*hosts);
  if (request.config_dir.empty()) {
    auto slash = host_file.rfind('/');
    request.config_dir
        = slash == std::string::npos ? "." : host_file.substr(0, slash);
  }
  return potluck::caf_run::launch(request);
}
