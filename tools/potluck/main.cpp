/// `potluck`: one program, a subcommand for every role. Those that need a model
/// are in `potluck-full` (see `front.hpp`), and so is what is said of all.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tools/potluck/bench.hpp"
#include "tools/potluck/front.hpp"
#include "tools/potluck/join_trainer.hpp"
#include "tools/potluck/settings_options.hpp"

using namespace potluck::tools;

namespace {

/// Whether the words name nothing but options that `spec` has here: not those
/// of a model, which are in the other executable, and no file that may.
bool has_all(const potluck::cli::command_spec& spec,
             const std::vector<std::string>& words) {
  std::error_code ignored;
  if (std::filesystem::exists(potluck::cli::usual_file, ignored))
    return false;
  return std::all_of(words.begin() + 1, words.end(), [&](auto& word) {
    const auto name = word.substr(0, word.find('='));
    const bool is_option = name.rfind("--", 0) == 0 && name.size() > 2;
    return !is_option || name.find_first_of("#.") != std::string::npos
           || std::any_of(spec.options.begin(), spec.options.end(),
                          [&](auto& x) { return "--" + x.name == name; });
  });
}

/// Whether a subcommand is for this executable: what it says is read only once,
/// since a configuration file may be a pipe.
bool is_light(const std::vector<std::string>& words) {
  auto any = [&](auto... wanted) {
    return std::any_of(words.begin(), words.end(),
                       [&](auto& x) { return ((x == wanted) || ...); });
  };
  if (words[0] == "bench")
    return any("averaging", "beam", "checkpoint", "step");
  if (words[0] == "join")
    return any("--role=auxiliary", "auxiliary")
           && has_all(join_command().spec, words);
  return true;
}

} // namespace

int main(int argc, char** argv) {
  prepare_process();
  remember_words(argv);
  const std::vector<std::string> words{argv + 1, argv + argc};
  if (words.empty() || !is_light(words))
    return become_full();
  for (const auto& c :
       {amend_command(), bootstrap_command(), authority_command(),
        delegate_command(), join_command(), dht_command(), checkpoint_command(),
        sim_command(), plan_command(), bench_command()})
    if (c.spec.name == words[0])
      return run_command(one_of_all(c), {words.begin() + 1, words.end()},
                         argv[0]);
  return become_full();
}

// What `join` and `bench` have in the other executable.
namespace potluck::tools {

expected<bool> fill_trainer(const cli::command_line&, peer_config&,
                            const run_settings&,
                            const std::shared_ptr<notice_board>&) {
  std::exit(become_full());
}

const kind_families& kinds_here() {
  return built_in_families();
}

int bench_experts(cli::command_line&, const std::string&) {
  return become_full();
}

int bench_optimizer(cli::command_line&) {
  return become_full();
}

int bench_trainer(cli::command_line&) {
  return become_full();
}

} // namespace potluck::tools
