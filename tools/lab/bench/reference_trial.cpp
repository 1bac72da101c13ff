#include "tools/lab/bench/reference_trial.hpp"

#include <array>
#include <filesystem>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "runtime/state/file_descriptor.hpp"
#include "runtime/uv/kernel_view.hpp"

namespace potluck::bench {

namespace {

std::string reference_beside(const std::string& program,
                             const std::string& name) {
  return std::filesystem::path{program}
      .replace_filename("potluck-" + name + "-reference")
      .string();
}

/// Ranks meet in a folder.
averaging_trial gloo_trial(const std::string& program, std::uint32_t peers,
                           const std::vector<std::string>& work,
                           const std::string& directory) {
  const auto meeting = directory + "/gloo-meeting";
  std::filesystem::create_directory(meeting);
  averaging_trial result;
  for (std::uint32_t i = 0; i < peers; ++i)
    result.commands.push_back({program, std::to_string(i),
                               std::to_string(peers), work[0], work[1],
                               meeting});
  return result;
}

/// One rank reports for all. There are more of them than cores: one that waits
/// for others lets these compute.
averaging_trial mpi_trial(const std::string& program, std::uint32_t peers,
                          const std::vector<std::string>& work) {
  averaging_trial result;
  result.commands.push_back({"/usr/bin/env",
                             "OMPI_ALLOW_RUN_AS_ROOT=1",
                             "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                             "mpirun",
                             "-np",
                             std::to_string(peers),
                             "--oversubscribe",
                             "--mca",
                             "pml",
                             "ob1",
                             "--mca",
                             "btl",
                             "tcp,self",
                             "--mca",
                             "btl_tcp_if_include",
                             "lo",
                             "--mca",
                             "mpi_yield_when_idle",
                             "1",
                             program,
                             work[0],
                             work[1]});
  return result;
}

} // namespace

bool is_reference(const std::string& name) {
  return name == "gloo" || name == "mpi";
}

std::string problem_with_reference(const std::string& name,
                                   const std::string& program) {
  if (std::filesystem::exists(reference_beside(program, name)))
    return "";
  return "--reference=" + name
         + ": skipped, since this potluck was built without it; run "
           "tools/setup "
           "--bench, then tools/build.";
}

averaging_trial reference_trial(const std::string& name,
                                const std::string& program, std::uint32_t peers,
                                std::uint64_t values, std::uint64_t rounds,
                                const std::string& directory) {
  const auto path = reference_beside(program, name);
  const std::vector<std::string> work{std::to_string(values),
                                      std::to_string(rounds)};
  auto result = name == "gloo" ? gloo_trial(path, peers, work, directory)
                               : mpi_trial(path, peers, work);
  result.name = name;
  result.rounds = rounds;
  result.directory = directory;
  return result;
}

std::string congestion_control_here() {
  const file_descriptor tcp{::socket(AF_INET, SOCK_STREAM, 0)};
  avoid_bbr(tcp.get());
  std::array<char, 16> name{}; // As long as any (TCP_CA_NAME_MAX).
  socklen_t size = name.size() - 1;
  if (::getsockopt(tcp.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(), &size)
      != 0)
    return "unknown";
  return name.data();
}

} // namespace potluck::bench
