/// `potluck bench averaging`: how long the members of a group take to average,
/// next to a reference in the same run.

#include <array>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <sstream>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <nlohmann/json.hpp>

#include "runtime/lines/rate.hpp"
#include "runtime/state/file_descriptor.hpp"
#include "runtime/uv/kernel_view.hpp"
#include "tools/lab/bench/averaging_member.hpp"
#include "tools/lab/bench/averaging_trial.hpp"
#include "tools/potluck/bench.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/peer_options.hpp"
#include "tools/potluck/work_directory.hpp"

namespace potluck::tools {

namespace {

using bench::averaging_trial;

// ---- the references: all-reduces of others, which know neither faults nor
// encryption, over sockets that send as ours do

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
  std::istringstream words{
      "/usr/bin/env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
      "mpirun -np "
      + std::to_string(peers)
      + " --oversubscribe --mca pml ob1 --mca btl tcp,self --mca "
        "btl_tcp_if_include lo --mca mpi_yield_when_idle 1"};
  std::vector<std::string> command{std::istream_iterator<std::string>{words},
                                   {}};
  command.insert(command.end(), {program, work[0], work[1]});
  averaging_trial result;
  result.commands.push_back(std::move(command));
  return result;
}

/// "gloo", its ring all-reduce; or "mpi", Open MPI's over TCP.
bool is_reference(const std::string& name) {
  return name == "gloo" || name == "mpi";
}

/// Why this reference cannot be run, in a sentence; empty when it can.
/// @param program The path of `potluck`, beside which references lie.
std::string problem_with_reference(const std::string& name,
                                   const std::string& program) {
  if (std::filesystem::exists(reference_beside(program, name)))
    return "";
  return "--reference=" + name
         + ": skipped, since this potluck was built without it; run "
           "tools/setup --bench, then tools/build.";
}

/// @param directory Where the processes meet and report.
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

/// TCP's congestion control between processes of a benchmark, ours and a
/// reference's: "cubic".
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

// ---- our own

/// What the user asks for, checked.
struct bench_request {
  std::uint32_t peers = 4;
  std::uint64_t values = 0;
  std::uint64_t rounds = 0; ///< The first, which is told apart, included.
  std::uint32_t chunk_values = 0;
  potluck::packing packing = potluck::packing::float32;
  std::string reference; ///< Its name; empty for none.
  bool encrypted = true;
  share_rule rule = share_rule::planned;
  double line = 0; ///< Bytes per second each way that a member has; 0: any.
};

/// Bytes per second of an option as "10mbit"; 0 when it is not given.
expected<double> rate_from(const cli::command_line& options,
                           const std::string& name) {
  if (!options.given(name))
    return 0.0;
  auto result = read_rate(options.text(name));
  if (!result)
    return failure{"--" + name + ": " + result.error()};
  return *result;
}

expected<bench_request> request_from(const cli::command_line& options) {
  bench_request result;
  auto peers = options.integer("peers");
  if (peers < 2)
    return failure{"--peers must be a number from 2 to "
                   + std::to_string(bench::most_members) + "."};
  if (options.integer("member") >= peers)
    return failure{"--member must be less than --peers."};
  auto how = packing_named(options.text("packing"));
  if (!how)
    return failure{"--packing must be float32, float16, bfloat16 or int8."};
  result.packing = *how;
  auto rule = share_rule_named(options.text("shares"));
  if (!rule)
    return failure{"--shares must be planned, all-reduce or parameter-server."};
  result.rule = *rule;
  auto reference = options.text("reference");
  if (reference != "none" && !is_reference(reference))
    return failure{"--reference must be none, gloo or mpi."};
  auto line = cap_from(options, "line");
  if (!line)
    return failure{line.error()};
  result.line = *line;
  result.peers = static_cast<std::uint32_t>(peers);
  result.encrypted = !options.flag("insecure");
  result.values = static_cast<std::uint64_t>(options.real("megabytes") * 1e6
                                             / sizeof(float));
  result.rounds = static_cast<std::uint64_t>(options.integer("rounds")) + 1;
  result.chunk_values
      = static_cast<std::uint32_t>(options.integer("chunk-values"));
  result.reference = reference == "none" ? "" : reference;
  return result;
}

/// Where a member is in the network: nothing, or what is wrong with it.
std::string place_from(const cli::command_line& options,
                       bench::averaging_member_config& config) {
  auto upload = rate_from(options, "upload");
  auto download = rate_from(options, "download");
  if (!upload || !download)
    return upload ? download.error() : upload.error();
  config.upload = *upload;
  config.download = *download;
  config.dial_from = options.text("dial-from");
  auto read = [&](const std::string& name, address& to) {
    if (!options.given(name))
      return std::string{};
    auto where = parse_address(options.text(name));
    if (!where)
      return "--" + name + ": " + where.error();
    to = *where;
    return std::string{};
  };
  address contact;
  for (auto& problem :
       {read("listen", config.listen), read("announce", config.announce),
        read("contact", contact)})
    if (!problem.empty())
      return problem;
  if (options.given("contact"))
    config.seeds.push_back(contact);
  return {};
}

int run_member(const bench_request& x, cli::command_line& options) {
  bench::averaging_member_config config;
  config.number = static_cast<std::uint32_t>(options.integer("member"));
  config.members = x.peers;
  config.rounds = x.rounds;
  config.values = x.values;
  config.chunk_values = x.chunk_values;
  config.packing = x.packing;
  config.insecure = options.flag("insecure");
  config.rule = x.rule;
  config.line = x.line;
  auto problem = place_from(options, config);
  if (!problem.empty())
    return complain(problem);
  caf::actor_system system{options};
  return bench::take_part(system, std::move(config), std::cout) ? all_well
                                                                : failed;
}

nlohmann::ordered_json figures_json(const bench::averaging_figures& x) {
  nlohmann::ordered_json result;
  auto median = bench::quantile(x.seconds, 0.5);
  result["seconds_median"] = median;
  result["seconds_p10"] = bench::quantile(x.seconds, 0.1);
  result["seconds_p90"] = bench::quantile(x.seconds, 0.9);
  result["seconds_first"] = x.first_seconds;
  return result;
}

struct comparison {
  bench::averaging_figures own;
  std::optional<bench::averaging_figures> reference;
};

nlohmann::ordered_json to_json(const bench_request& what, const comparison& x) {
  nlohmann::ordered_json result{
      {"peers", what.peers},
      {"megabytes", what.values * 4 / 1e6},
      {"packing", to_string(what.packing)},
      {"encrypted", what.encrypted},
      {"line_bytes_per_second", what.line},
      {"congestion_control", congestion_control_here()},
      {"rounds", what.rounds - 1}};
  result.update(figures_json(x.own));
  result["averaging_seconds_median"]
      = bench::quantile(x.own.averaging_seconds, 0.5);
  auto gigabytes = static_cast<double>(x.own.bytes_sent) / 1e9;
  result["gigabytes_sent"] = gigabytes;
  result["cpu_seconds_per_gigabyte"] = x.own.cpu_seconds / gigabytes;
  result["peak_bytes"] = x.own.peak_bytes;
  result["idle_bytes"] = x.own.idle_bytes;
  result["digests_equal"] = x.own.digests_equal;
  if (x.reference) {
    result["reference"] = what.reference;
    auto theirs = figures_json(*x.reference);
    for (auto& [name, value] : theirs.items())
      result["reference_" + name] = value;
    result["reference_cpu_seconds_per_gigabyte"]
        = x.reference->cpu_seconds / gigabytes;
    result["ratio"] = bench::quantile(x.own.seconds, 0.5)
                      / bench::quantile(x.reference->seconds, 0.5);
  }
  return result;
}

/// Runs it, and the reference, in `directory`.
expected<comparison> measure(const bench_request& what,
                             const cli::command_line& options,
                             const std::string& program,
                             const std::string& directory) {
  auto family = child_group::make();
  if (!family)
    return failure{family.error()};
  comparison result;
  bench::averaging_trial trial;
  trial.commands = member_commands(options, program, what.peers);
  trial.contact_option = "--contact=";
  trial.directory = directory;
  trial.name = "member";
  trial.rounds = what.rounds;
  auto own = bench::run(*family, trial);
  if (!own)
    return failure{own.error()};
  result.own = *own;
  if (what.reference.empty())
    return result;
  auto reference = reference_trial(what.reference, program, what.peers,
                                   what.values, what.rounds, directory);
  auto theirs = bench::run(*family, reference);
  if (!theirs)
    return failure{theirs.error()};
  result.reference = *theirs;
  return result;
}

} // namespace

int bench_averaging(cli::command_line& options, const std::string& program) {
  auto request = request_from(options);
  if (!request)
    return complain(request.error());
  if (options.integer("member") >= 0)
    return run_member(*request, options);
  if (auto& reference = request->reference; !reference.empty())
    if (auto problem = problem_with_reference(reference, program);
        !problem.empty()) {
      complain(problem);
      reference.clear();
    }
  auto directory = make_work_directory(options, "keep", "potluck-bench-");
  if (!directory)
    return complain(directory.error());
  auto result = measure(*request, options, program, *directory);
  if (!result)
    return complain(result.error(), failed);
  if (!options.given("keep"))
    std::filesystem::remove_all(*directory);
  if (!result->own.digests_equal)
    complain("The members ended with different means.");
  return report(options, to_json(*request, *result), result->own.digests_equal);
}

} // namespace potluck::tools
