/// `potluck bench experts`: how many samples a second a host of experts serves
/// to real processes, next to its modules called directly.

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

#include <nlohmann/json.hpp>

#include "models/experts/catalogue.hpp"
#include "runtime/packing/packing.hpp"
#include "tools/lab/bench/expert_load.hpp"
#include "tools/lab/child_process.hpp"
#include "tools/lab/judge/logged_event.hpp"
#include "tools/potluck/bench.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/work_directory.hpp"

namespace potluck::tools {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::uint32_t hidden = 1024;
constexpr std::uint32_t inner = 4096;
/// Callers are spread over so many processes.
constexpr std::uint32_t most_processes = 4;
constexpr auto patience = 120s;

/// A workload of hivemind's benchmark, and what that served.
struct expert_row {
  std::string name;
  std::string layer;
  std::uint32_t experts = 1;
  std::uint32_t clients = 1;
  std::uint32_t batch = 32;
  bool backward = false;
  /// hivemind of July 2021 on one shared 2-core machine over loopback; from its
  /// own benchmark_throughput.py, plain gRPC.
  double hivemind_least = 0;
  double hivemind_most = 0;
  /// At least so many times hivemind's best, or this part of direct calls.
  double goal_hivemind = 0;
  double goal_direct = 0;
};

const std::vector<expert_row>& rows() {
  static const std::vector<expert_row> all{
      {"nop-large", "nop", 1, 16, 2048, false, 31'000, 33'000, 3, 0},
      {"nop-small", "nop", 4, 32, 32, false, 10'000, 12'600, 3, 0},
      {"ffn-large", "ffn", 1, 1, 2048, true, 950, 1'030, 0, 0.9},
      {"ffn-small", "ffn", 4, 16, 32, false, 2'300, 2'700, 0, 0.9},
  };
  return all;
}

struct row_figures {
  double served = 0; ///< Samples a second.
  double direct = 0;
  double callers_cpu = 0; ///< Seconds of processor time a second.
  std::uint64_t failed = 0;
};

std::vector<std::string> uids_of(const expert_row& row) {
  std::vector<std::string> result;
  for (std::uint32_t i = 0; i < row.experts; ++i)
    result.push_back("bench." + std::to_string(i));
  return result;
}

unsigned threads_of(const cli::command_line& options) {
  auto x = options.integer("threads");
  return x > 0 ? static_cast<unsigned>(x)
               : std::max(1u, std::thread::hardware_concurrency());
}

struct direct_calls {
  std::uint64_t samples = 0;
  double seconds = 0;
};

/// The modules, one after the other, in this process; so long at least.
direct_calls measure_direct(const expert_row& row, unsigned threads,
                            double least_seconds) {
  expert_kind kind;
  kind.layer = row.layer;
  kind.hidden = hidden;
  kind.inner = inner;
  auto make = make_expert_factory("cpu", static_cast<int>(threads));
  std::vector<std::unique_ptr<expert_module>> modules;
  for (auto& uid : uids_of(row))
    modules.push_back(make(kind, uid, 1));
  auto values = std::size_t{row.batch} * hidden;
  std::vector<float> in(values, 0.1f), gradients(values, 0.2f), out(values);
  auto once = [&](expert_module& x) {
    x.forward(row.batch, in.data(), out.data());
    if (row.backward)
      x.backward(row.batch, in.data(), gradients.data(), out.data());
  };
  for (auto& x : modules)
    once(*x); // The first makes buffers.
  direct_calls result;
  auto began = clock::now();
  for (std::size_t i = 0; result.seconds < least_seconds; ++i) {
    once(*modules[i % modules.size()]);
    result.samples += row.batch;
    result.seconds
        = std::chrono::duration<double>(clock::now() - began).count();
  }
  return result;
}

/// A process that the measurement starts, and what it says.
struct actor_process {
  child_process process;
  log_tail tail;
  std::string name;
};

class served_trial {
public:
  served_trial(const expert_row& row, const cli::command_line& options,
               std::string program, std::string directory)
      : row_(row), options_(options), program_(std::move(program)),
        directory_(std::move(directory)) {
  }

  expected<row_figures> run() {
    auto family = child_group::make();
    if (!family)
      return failure{family.error()};
    std::filesystem::create_directories(directory_);
    auto seed = start(*family, "bootstrap",
                      {"bootstrap", "--listen", "127.0.0.1:0"}, true);
    if (!seed)
      return failure{seed.error()};
    auto listening = await(**seed, "listening");
    if (!listening)
      return failure{listening.error()};
    contact_ = listening->text("address");
    auto host = start_host(*family);
    if (!host)
      return failure{host.error()};
    std::vector<actor_process*> callers;
    auto processes = std::min(row_.clients, most_processes);
    for (std::uint32_t i = 0; i < processes; ++i) {
      auto caller = start_caller(*family, i, processes);
      if (!caller)
        return failure{caller.error()};
      callers.push_back(*caller);
    }
    for (auto caller : callers)
      if (auto x = await(*caller, "ready"); !x)
        return failure{x.error()};
    std::ofstream{directory_ + "/go"};
    row_figures result;
    for (auto caller : callers) {
      auto x = await(*caller, "load");
      if (!x)
        return failure{x.error()};
      result.served += x->number("rate");
      result.callers_cpu += x->number("cpu_seconds") / x->number("seconds");
      result.failed += x->count("failed");
    }
    return result;
  }

private:
  expected<actor_process*> start(const child_group& family,
                                 const std::string& name,
                                 std::vector<std::string> words, bool peer) {
    words.insert(words.begin(), program_);
    auto output = directory_ + "/" + name;
    auto log = output;
    words.push_back("--config-file=/dev/null");
    if (peer) {
      log += ".json";
      words.push_back("--log-json=" + log);
      words.push_back("--identity-dir=" + directory_ + "/id-" + name);
    }
    if (options_.flag("insecure"))
      words.push_back("--insecure");
    auto child = family.start(words, output);
    if (!child)
      return failure{child.error()};
    processes_.push_back({std::move(*child), log_tail{log}, name});
    return &processes_.back();
  }

  expected<actor_process*> start_host(const child_group& family) {
    return start(family, "host",
                 {"expert", "--listen=127.0.0.1:0", "--peer=" + contact_,
                  "--run=bench", "--layer=" + row_.layer, "--grid=16",
                  "--uids=bench.0-" + std::to_string(row_.experts - 1),
                  "--hidden=" + std::to_string(hidden),
                  "--inner=" + std::to_string(inner), "--device=cpu",
                  "--threads=" + std::to_string(threads_of(options_))},
                 true);
  }

  expected<actor_process*> start_caller(const child_group& family,
                                        std::uint32_t i,
                                        std::uint32_t processes) {
    auto clients = row_.clients / processes + (i < row_.clients % processes);
    return start(family, "caller-" + std::to_string(i),
                 {"bench", "experts", "--row=" + row_.name,
                  "--packing=" + options_.text("packing"),
                  "--contact=" + contact_, "--member=" + std::to_string(i),
                  "--clients=" + std::to_string(clients),
                  "--go=" + directory_ + "/go",
                  "--seconds=" + std::to_string(options_.real("seconds"))},
                 false);
  }

  expected<logged_event> await(actor_process& who, const std::string& name) {
    auto end = clock::now() + patience;
    while (clock::now() < end) {
      auto ended = who.process.end();
      for (auto& x : who.tail.news()) {
        if (x.name == name)
          return x;
        if (x.name == "over")
          return failure{who.name + ": " + x.text("problem")};
      }
      if (ended)
        return failure{who.name + " " + to_string(*ended)
                       + "; its output is in " + directory_ + "."};
      std::this_thread::sleep_for(5ms);
    }
    return failure{who.name + " said nothing for two minutes; its output is in "
                   + directory_ + "."};
  }

  const expert_row& row_;
  const cli::command_line& options_;
  std::string program_;
  std::string directory_;
  std::string contact_;
  std::deque<actor_process> processes_;
};

const expert_row* row_named(const std::string& name) {
  for (auto& x : rows())
    if (x.name == name)
      return &x;
  return nullptr;
}

int run_caller(const expert_row& row, const cli::command_line& options) {
  bench::expert_load what;
  auto contact = parse_address(options.text("contact"));
  if (!contact)
    return complain("--contact: " + contact.error());
  what.uids = uids_of(row);
  // So that the processes' callers do not all begin with the same expert.
  std::rotate(what.uids.begin(),
              what.uids.begin()
                  + options.integer("member")
                        % static_cast<std::int64_t>(what.uids.size()),
              what.uids.end());
  what.clients = static_cast<std::uint32_t>(options.integer("clients"));
  what.batch = row.batch;
  what.values = hidden;
  what.packing = *packing_named(options.text("packing"));
  what.backward = row.backward;
  what.seconds = options.real("seconds");
  what.seeds = {*contact};
  what.insecure = options.flag("insecure");
  what.go = options.text("go");
  return bench::run_load(what, std::cout) ? all_well : failed;
}

nlohmann::ordered_json to_json(const expert_row& row, const row_figures& x) {
  auto met = (row.goal_direct == 0 || x.served >= row.goal_direct * x.direct)
             && (row.goal_hivemind == 0
                 || x.served >= row.goal_hivemind * row.hivemind_most);
  return {
      {"row", row.name},
      {"layer", row.layer},
      {"experts", row.experts},
      {"clients", row.clients},
      {"batch", row.batch},
      {"passes", row.backward ? "forward+backward" : "forward"},
      {"samples_per_second", x.served},
      {"direct_samples_per_second", x.direct},
      {"ratio_to_direct", x.served / x.direct},
      {"hivemind_samples_per_second", {row.hivemind_least, row.hivemind_most}},
      {"times_hivemind", x.served / row.hivemind_most},
      {"callers_cpu", x.callers_cpu},
      {"failed_calls", x.failed},
      {"goal", row.goal_direct > 0 ? "0.9 of direct" : "3 times hivemind"},
      {"met", met}};
}

} // namespace

int bench_experts(cli::command_line& options, const std::string& program) {
  auto wanted = options.text("row");
  if (wanted != "all" && row_named(wanted) == nullptr)
    return complain("--row must be all, nop-large, nop-small, ffn-large or "
                    "ffn-small.");
  auto how = packing_named(options.text("packing"));
  if (!how)
    return complain("--packing must be float32, float16, bfloat16 or int8.");
  auto seconds = options.real("seconds");
  if (options.integer("member") >= 0) {
    if (wanted == "all")
      return complain("--member needs --row.");
    return run_caller(*row_named(wanted), options);
  }
  auto directory = make_work_directory(options, "keep", "potluck-bench-");
  if (!directory)
    return complain(directory.error());
  auto result = nlohmann::ordered_json::array();
  bool met = true;
  for (auto& row : rows()) {
    if (wanted != "all" && wanted != row.name)
      continue;
    // Before and after: machines become slower and faster by the minute.
    auto before = measure_direct(row, threads_of(options), seconds / 2);
    auto x = served_trial{row, options, program, *directory + "/" + row.name}
                 .run();
    if (!x)
      return complain(row.name + ": " + x.error(), failed);
    auto after = measure_direct(row, threads_of(options), seconds / 2);
    x->direct = static_cast<double>(before.samples + after.samples)
                / (before.seconds + after.seconds);
    result.push_back(to_json(row, *x));
    result.back()["packing"] = options.text("packing");
    met &= result.back()["met"].get<bool>();
  }
  if (!options.given("keep"))
    std::filesystem::remove_all(*directory);
  return report(options, result, met);
}

} // namespace potluck::tools
