/// `potluck chaos`: a scenario's faults befall real peers on this machine, and
/// a verdict says whether they kept their promises.

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

#include <nlohmann/json.hpp>

#include "runtime/numbers.hpp"
#include "tools/lab/chaos/chaos_run.hpp"
#include "tools/potluck/front.hpp"
#include "tools/potluck/peer_options.hpp"
#include "tools/potluck/scenario_options.hpp"
#include "tools/potluck/work_directory.hpp"

namespace potluck::tools {

namespace {

namespace fs = std::filesystem;
using cli::option_kind;

/// Share of late packets from which delays are not as described.
constexpr double late_shown = 0.02;
/// A process takes a quarter of a gigabyte, and all share this machine.
constexpr std::size_t most_peers = 256;

/// As `--network` says; fails with a sentence. `why` gets the reason when there
/// are no namespaces, though they would do.
expected<std::unique_ptr<netlab::host_network>>
network_for(const cli::command_line& options, const scenario& what,
            std::uint64_t seed, std::string& why) {
  auto kind = options.text("network");
  if (kind == "proxies")
    return netlab::make_proxies(seed);
  if (kind != "namespaces" && kind != "auto")
    return failure{"--network: '" + kind
                   + "' is none of namespaces, proxies and auto."};
  auto result = netlab::make_namespaces(seed);
  if (result && what.has_routers())
    if (auto routers = netlab::try_routers(); !routers)
      result = failure{routers.error()};
  if (result)
    return result;
  why = "network namespaces cannot be made here (" + result.error() + ")"
        + (what.has_routers() ? ", and routers only refuse dials" : "");
  if (kind == "auto")
    return netlab::make_proxies(seed);
  return failure{"--network: " + why
                 + "; run this as root on Linux, or with --network=proxies."};
}

/// Files that whoever ended by itself should have cleared away. Who was killed
/// last could not.
std::vector<std::string>
unfinished_files(const std::string& directory,
                 const std::vector<life_record>& lives) {
  std::set<std::string> killed; // Their folders.
  for (const auto& x : lives) {
    const auto folder = x.name.substr(0, x.name.find('.'));
    if (x.end == life_record::how::killed)
      killed.insert(folder);
    else
      killed.erase(folder);
  }
  std::vector<std::string> result;
  std::error_code problem;
  for (const auto& x : fs::recursive_directory_iterator{directory, problem}) {
    const auto inside = x.path().lexically_relative(directory);
    if (x.path().extension() == ".partial"
        && killed.count(inside.begin()->string()) == 0)
      result.push_back(x.path().string());
  }
  return result;
}

struct report {
  chaos_outcome outcome;
  std::vector<finding> findings;
  std::string replay;
  std::string network;   ///< "namespaces" or "proxies".
  std::string directory; ///< Empty when it is gone.

  bool passed() const {
    for (const auto& x : findings)
      if (!x.problem.empty())
        return false;
    return true;
  }
};

void print(const report& x, const scenario& what) {
  std::cout << "\n"
            << what.name << ", " << readable_seconds(x.outcome.seconds) << ", "
            << x.outcome.history.size() << " faults, "
            << x.outcome.network.connections << " connections, "
            << readable(static_cast<double>(x.outcome.network.bytes) / 1e6, 3)
            << " MB, " << x.outcome.network.lost_packets << " packets lost, "
            << x.outcome.network.corrupted << " changed, "
            << x.outcome.network.cut << " connections cut\n";
  if (x.outcome.network.late_share > late_shown)
    std::cout << "note: " << readable(100 * x.outcome.network.late_share, 2)
              << " % of the packets came late, for this machine was busy; "
                 "fewer --peers make it less so\n";
  if (x.outcome.not_reached > 0)
    std::cout << "note: the run was over before all that was planned had "
                 "happened; more --steps make it longer\n";
  for (const auto& finding : x.findings) {
    std::cout << (finding.problem.empty() ? "  ok    " : "  WRONG ")
              << finding.demand;
    if (!finding.problem.empty())
      std::cout << ":\n        " << harmless(finding.problem);
    std::cout << " (" << finding.seen << ")\n";
  }
  if (!x.directory.empty())
    std::cout << "Everything is kept in " << x.directory << "\n";
  if (x.passed())
    std::cout << "chaos: PASS\n";
  else
    std::cout << "The same again: " << x.replay << "\nchaos: FAIL\n";
  std::cout.flush();
}

void print_json(const report& x, const scenario& what, std::uint64_t seed) {
  nlohmann::ordered_json result{
      {"scenario", what.name},
      {"seed", seed},
      {"network", x.network},
      {"passed", x.passed()},
      {"seconds", x.outcome.seconds},
      {"faults", x.outcome.history},
      {"connections", x.outcome.network.connections},
      {"bytes", x.outcome.network.bytes},
      {"lost_packets", x.outcome.network.lost_packets},
      {"corrupted", x.outcome.network.corrupted},
      {"cut", x.outcome.network.cut},
      {"late_share", x.outcome.network.late_share},
      {"not_reached", x.outcome.not_reached},
      {"replay", x.replay},
      {"directory", x.directory}};
  for (const auto& finding : x.findings)
    result["findings"].push_back({{"invariant", finding.demand},
                                  {"holds", finding.problem.empty()},
                                  {"problem", finding.problem},
                                  {"detail", finding.seen}});
  std::cout << result.dump(2, ' ', false,
                           nlohmann::json::error_handler_t::replace)
            << std::endl;
}

int run_chaos(cli::command_line& options, const std::string&) {
  if (options.flag("format")) {
    std::cout << scenario_help();
    return all_well;
  }
  auto what = scenario_from(options, "chaos");
  if (!what)
    return complain(what.error());
  if (what->peers() > most_peers)
    return complain(
        "--peers: this machine would need " + std::to_string(what->peers())
        + " processes; name at most " + std::to_string(most_peers) + ".");
  chaos_plan plan;
  plan.what = *what;
  plan.seed = static_cast<std::uint64_t>(options.integer("seed"));
  if (plan.seed == 0)
    plan.seed = random_seed() >> 1; // As an option's number, not negative.
  auto program = path_beside("potluck");
  if (!program)
    return complain(program.error(), failed);
  plan.program = *program;
  std::string why;
  auto network = network_for(options, plan.what, mix(plan.seed, 1), why);
  if (!network)
    return complain(network.error());
  const auto packets = (*network)->carries_packets();
  if (auto unknown = unknown_to_chaos(plan.what, packets); !unknown.empty())
    return complain(options.text("scenario") + ": " + unknown);
  std::error_code problem;
  plan.data = fs::canonical(options.text("data"), problem).string();
  if (problem)
    return complain("--data: '" + options.text("data")
                    + "' is no file or folder that can be read.");
  auto directory = make_work_directory(options, "keep", "potluck-chaos");
  if (!directory)
    return complain(directory.error());
  plan.directory = *directory;
  auto remove = [&] {
    std::error_code trouble;
    fs::remove_all(*directory, trouble);
    return !fs::exists(*directory);
  };
  std::ofstream{*directory + "/scenario.json"} << to_text(plan.what);

  report result;
  result.replay = replay_line(options, "chaos", plan.seed);
  demo_screen screen{options.flag("json")};
  screen.say(what->name + ": " + what->about);
  screen.say(std::to_string(what->peers()) + " peers, seed "
             + std::to_string(plan.seed) + "; everything is in " + *directory);
  screen.say((*network)->about() + (why.empty() ? "" : ", since " + why));
  result.network = packets ? "namespaces" : "proxies";
  if (auto fields = left_to_simulation(*what, packets); !fields.empty())
    screen.say("left to the simulation, since real processes have their own: "
               + fields);
  sigset_t signals;
  sigemptyset(&signals);
  for (auto number : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  auto outcome = chaos_run{plan, std::move(*network), screen, signals}.run();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  screen.close();
  if (!outcome) {
    if (!options.given("keep"))
      remove();
    return complain("The run was ended: " + outcome.error() + ".", failed);
  }
  result.outcome = std::move(*outcome);
  for (auto& file : unfinished_files(*directory, result.outcome.record.lives))
    result.outcome.record.left_behind.push_back(file);
  result.directory = *directory;
  result.findings = judge(result.outcome.record);
  if (result.passed() && !options.given("keep")) {
    if (remove())
      result.directory.clear();
    else
      result.findings.back().problem = *directory + " cannot be removed";
  }
  if (options.flag("json"))
    print_json(result, *what, plan.seed);
  else
    print(result, *what);
  return result.passed() ? all_well : failed;
}

} // namespace

command chaos_command() {
  cli::command_spec spec;
  spec.name = "chaos";
  spec.summary = "Let a scenario's faults befall real peers on this machine";
  spec.usage = "potluck chaos --scenario FILE [OPTION]...";
  spec.options = {
      {"seed", option_kind::integer, "0",
       "Of the faults: the same seed plans the same; 0 for one by chance.",
       "NUMBER"},
      {"network", option_kind::text, "auto",
       "What lies between the peers: `namespaces` (each is a host of its own "
       "on an emulated internet of packets; for root, or who may make user "
       "namespaces), `proxies` (one before each, for everybody), or `auto`: "
       "namespaces where the system allows them.",
       "KIND"},
      {"data", option_kind::text, "/usr/share/common-licenses",
       "Text to train on: a UTF-8 file, or a folder of them.", "PATH"},
      {"keep", option_kind::text, "",
       "Work in this folder, new or empty, and keep logs and all (default: a "
       "temporary one, kept when something was wrong).",
       "DIR"},
      {"json", option_kind::flag, "",
       "Print nothing but the verdict, as one JSON object.", ""},
  };
  for (auto& option : scenario_options())
    spec.options.push_back(option);
  return {spec, run_chaos};
}

} // namespace potluck::tools
