/// `potluck doctor`: what keeps this machine from taking part, or slows it
/// down. It looks, and changes nothing.

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "models/catalogue.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/created_run.hpp"
#include "tools/potluck/doctor_visit.hpp"
#include "tools/potluck/peer_options.hpp"
#include "tools/potluck/settings_options.hpp"

namespace potluck::tools {

namespace {

namespace files = std::filesystem;

/// The address that this machine would dial a host of the internet from; empty
/// without a route there. Nothing is sent.
std::string source_for(int family) {
  const int fd = ::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return "";
  sockaddr_storage to{};
  auto* four = reinterpret_cast<sockaddr_in*>(&to);
  auto* six = reinterpret_cast<sockaddr_in6*>(&to);
  socklen_t size = family == AF_INET ? sizeof(*four) : sizeof(*six);
  to.ss_family = static_cast<sa_family_t>(family);
  void* into = family == AF_INET ? static_cast<void*>(&four->sin_addr)
                                 : static_cast<void*>(&six->sin6_addr);
  // Addresses of documentation (RFC 5737, 3849): there is no such host.
  ::inet_pton(family, family == AF_INET ? "192.0.2.1" : "2001:db8::1", into);
  (family == AF_INET ? four->sin_port : six->sin6_port) = htons(9);
  std::string result;
  auto* where = reinterpret_cast<sockaddr*>(&to);
  char text[INET6_ADDRSTRLEN] = "";
  if (::connect(fd, where, size) == 0 && ::getsockname(fd, where, &size) == 0
      && ::inet_ntop(family, into, text, sizeof(text)) != nullptr)
    result = text;
  ::close(fd);
  return result;
}

/// What /proc/meminfo says, in bytes; 0: nothing.
std::uint64_t memory(const std::string& name) {
  std::ifstream file{"/proc/meminfo"};
  std::string key, rest;
  for (std::uint64_t kilobytes = 0;
       file >> key >> kilobytes && std::getline(file, rest);)
    if (key == name + ":")
      return kilobytes * 1024;
  return 0;
}

/// In the folder, or in the one where it will be made.
finding disk_for(const std::string& directory) {
  files::path at = directory.empty() ? "." : directory;
  std::error_code error;
  while (!at.empty() && !files::exists(at, error) && at != at.parent_path())
    at = at.parent_path();
  const auto space = files::space(at.empty() ? "." : at, error);
  return of_disk(directory.empty() ? "this folder" : directory,
                 error ? 0 : space.available);
}

finding identity_in(const std::string& directory) {
  std::error_code error;
  if (directory.empty() || !files::exists(directory + "/identity", error))
    return of_identity(directory, false, "");
  auto held = identity::open(directory);
  return of_identity(directory, true, held ? "" : held.error());
}

std::vector<std::string> graphics_devices() {
  std::vector<std::string> result;
  for (auto name : {"/dev/nvidia0", "/dev/kfd"})
    if (::access(name, F_OK) == 0)
      result.emplace_back(name);
  return result;
}

void add(std::vector<finding>& to, std::vector<finding> more) {
  std::move(more.begin(), more.end(), std::back_inserter(to));
}

int run_doctor(cli::command_line& options, const std::string&) {
  peer_config config;
  auto how = fill_network(options, config);
  if (!how)
    return complain(how.error());
  auto invited = invitation_from(options);
  if (!invited)
    return complain(invited.error());
  if (*invited)
    add_seeds(config, (*invited)->contacts);
  const auto directory = identity_directory(options);
  const auto slow = slow_blas_remedy();
  const auto devices = graphics_devices();
  std::vector<finding> all{
      of_cores(std::max(1u, std::thread::hardware_concurrency())),
      of_blas(blas_in_use(), slow),
      of_gpu(devices, devices.empty() ? "" : problem_with_device("cuda")),
      of_memory(memory("MemTotal"), memory("MemAvailable")),
      disk_for(directory),
      identity_in(directory),
      of_route("IPv4", source_for(AF_INET)),
      of_route("IPv6", source_for(AF_INET6)),
  };
  visit_plan plan;
  plan.peers = config.seeds;
  plan.listen = config.listen;
  plan.how = *how;
  plan.mapper = config.mapper;
  plan.how.key = key_pair::generate();
  const auto run = *invited               ? (*invited)->run()
                   : options.given("run") ? options.text("run")
                                          : "";
  plan.run = run;
  auto seen = see(std::move(plan));
  if (!seen.problem.empty())
    all.push_back({"listening", finding::grade::fatal, seen.problem, ""});
  add(all, of_peers(seen.peers));
  if (seen.problem.empty())
    add(all, of_reach(seen.reach));
  if (!seen.peers.empty())
    all.push_back(of_upload(seen.upload));
  if (!run.empty())
    all.push_back(of_settings(shown_run(run), seen.settings, seen.charter,
                              demanded_settings(options)));
  std::cout << (options.flag("json") ? as_json(all) : as_lines(all))
            << std::flush;
  return status_of(all);
}

} // namespace

command doctor_command() {
  cli::command_spec spec;
  spec.name = "doctor";
  spec.summary = "Say what keeps this machine from taking part, and what helps";
  spec.usage = "potluck doctor [INVITATION] [--peer HOST:PORT]... [--run NAME] "
               "[OPTION]...";
  spec.positionals = 1;
  spec.options = {
      {"json", cli::option_kind::flag, "", "Print the findings as JSON.", ""}};
  for (auto& x : network_options())
    if (x.name != "log-json")
      spec.options.push_back(x);
  for (auto& x : settings_options())
    spec.options.push_back(x);
  spec.notes = "Exit status: 0 when all is well, 1 when something could be "
               "better, 2 when this\nmachine cannot take part. The visit to "
               "the peers sends at most 1 MiB.\n";
  return {spec, run_doctor};
}

} // namespace potluck::tools
