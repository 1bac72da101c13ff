/// `potluck demo`: several peers on this machine train one transformer, while
/// one of them is killed and another one comes late.

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <unistd.h>

#include "tools/lab/demo/demo_run.hpp"
#include "tools/lab/display/loss_curve.hpp"
#include "tools/lab/display/table.hpp"
#include "tools/lab/judge/demo_plot.hpp"
#include "tools/potluck/front.hpp"
#include "tools/potluck/work_directory.hpp"

namespace potluck::tools {

namespace {

namespace fs = std::filesystem;
using cli::option_kind;

/// What is left of fewer steps after the kill is over before the late trainer
/// has loaded its text.
constexpr std::int64_t fewest_steps = 30;
/// One is killed, and the others must outnumber nobody.
constexpr std::int64_t fewest_trainers = 2;
constexpr std::int64_t most_trainers = 16;
constexpr std::size_t curve_columns = 72;
constexpr std::size_t curve_lines = 16;

expected<demo_plan> plan_from(const cli::command_line& options) {
  demo_plan plan;
  plan.trainers = static_cast<std::uint64_t>(options.integer("trainers"));
  plan.steps = static_cast<std::uint64_t>(options.integer("steps"));
  plan.target_batch
      = static_cast<std::uint64_t>(options.integer("target-batch"));
  std::error_code problem;
  plan.data = fs::canonical(options.text("data"), problem).string();
  if (problem)
    return failure{"--data: '" + options.text("data")
                   + "' is no file or folder that can be read."};
  return plan;
}

/// A row a peer, from its log.
std::string summary(const run_record& record) {
  std::vector<std::vector<std::string>> rows{
      {"peer", "role", "steps taken", "rounds", "samples computed", "end"}};
  for (const auto& peer : record.lives) {
    const auto trainer = peer.role == "trainer";
    const auto killed = peer.end == life_record::how::killed;
    std::uint64_t steps = 0, rounds = 0;
    double samples = 0;
    for (const auto& x : peer.events) {
      steps += x.name == "step";
      rounds += x.name == "round" && x.text("outcome") == "committed";
      if (x.name == "step")
        samples += x.number("share") * x.number("samples");
    }
    rows.push_back(
        {peer.name, trainer ? "trainer" : "auxiliary",
         trainer ? std::to_string(steps) : "-", std::to_string(rounds),
         trainer ? std::to_string(static_cast<std::uint64_t>(samples + .5))
                 : "-",
         killed                 ? "killed"
         : peer.trouble.empty() ? peer.late ? "finished, came late" : "finished"
                                : peer.trouble});
  }
  return table(rows);
}

/// Leaves the logs and one checkpoint.
void tidy_up(const run_record& record, const std::string& directory) {
  std::error_code ignored;
  fs::remove_all(directory + "/bootstrap", ignored);
  bool kept = false;
  for (const auto& peer : record.lives) {
    fs::remove_all(directory + "/" + peer.name, ignored);
    auto checkpoint = directory + "/" + peer.name + ".checkpoint";
    if (kept)
      fs::remove(checkpoint, ignored);
    else if (peer.checkpoint)
      fs::rename(checkpoint, directory + "/demo.checkpoint", ignored);
    kept = kept || peer.checkpoint;
  }
}

int fail(const std::string& reason, const std::string& directory) {
  std::cout << "Everything is kept in " << directory
            << "\ndemo: FAIL: " << reason << std::endl;
  return failed;
}

int report(const run_record& record, const std::string& directory,
           bool keep_all) {
  auto findings = judge(record);
  for (auto& x : judge_plot(record))
    findings.push_back(std::move(x));
  std::cout << "\n"
            << summary(record) << "\nLoss over steps:\n"
            << loss_curve_text(losses_of(record), curve_columns, curve_lines);
  std::string problem;
  for (const auto& x : findings)
    if (problem.empty())
      problem = x.problem;
  if (problem.empty()) {
    if (!keep_all)
      tidy_up(record, directory);
    std::cout << "Logs and the checkpoint: " << directory << "\ndemo: PASS\n";
  }
  for (const auto& x : findings)
    if (!x.problem.empty())
      std::cout << "  wrong: " << x.problem << "\n";
    else
      std::cout << "  " << x.demand
                << (x.seen.empty() ? "" : " (" + x.seen + ")") << "\n";
  if (!problem.empty())
    return fail(problem, directory);
  std::cout.flush();
  return all_well;
}

int run_demo(cli::command_line& options, const std::string&) {
  auto plan = plan_from(options);
  if (!plan)
    return complain(plan.error());
  auto directory = make_work_directory(options, "dir", "potluck-demo");
  if (!directory)
    return complain(directory.error());
  plan->directory = *directory;
  auto program = path_beside("potluck");
  if (!program)
    return complain(program.error(), failed);
  plan->program = *program;

  demo_screen screen;
  screen.say("training on the text in " + plan->data);
  sigset_t signals;
  sigemptyset(&signals);
  for (auto number : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  auto record = demo_run{*plan, screen, signals}.run();
  // What follows takes no time: from here on a signal may end it.
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  screen.close();
  if (!record)
    return fail(record.error(), *directory);
  return report(*record, *directory, options.flag("keep"));
}

} // namespace

command demo_command() {
  cli::command_spec spec;
  spec.name = "demo";
  spec.summary = "See peers find each other, train together, fail and recover";
  spec.usage = "potluck demo [OPTION]...";
  spec.options = {
      {"trainers", option_kind::integer, "3",
       "Peers that train from the beginning; one is killed, one more comes "
       "late.",
       "NUMBER", cli::between(fewest_trainers, most_trainers)},
      {"steps", option_kind::integer, "800",
       "Optimizer steps to take; a third of them before the kill.", "NUMBER",
       cli::between(fewest_steps, 1e6)},
      {"target-batch", option_kind::integer, "128",
       "Samples behind one step, of all peers together.", "SAMPLES",
       cli::between(1, 1e6)},
      {"data", option_kind::text, "/usr/share/common-licenses",
       "Text to train on: a UTF-8 file, or a folder of them.", "PATH"},
      {"dir", option_kind::text, "",
       "Work in this folder, new or empty (default: a temporary one).", "DIR"},
      {"keep", option_kind::flag, "",
       "Keep everything, not only logs and checkpoint.", ""},
  };
  return {spec, run_demo};
}

} // namespace potluck::tools
