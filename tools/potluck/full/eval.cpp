/// `potluck eval`: how well a checkpoint's model does on some data.

#include <algorithm>
#include <iostream>
#include <optional>
#include <thread>

#include "models/catalogue.hpp"
#include "runtime/event_log.hpp"
#include "runtime/numbers.hpp"
#include "runtime/state/checkpoint.hpp"
#include "tools/potluck/calling_peer.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/peer_options.hpp"

namespace potluck::tools {

namespace {

using cli::option_kind;

int run_eval(cli::command_line& options, const std::string&) {
  if (!options.given("checkpoint"))
    return complain("Name the checkpoint with --checkpoint FILE.");
  if (!options.given("data"))
    return complain("Name the text to evaluate on with --data PATH.");
  auto samples = options.integer("samples");
  auto saved = load_checkpoint(options.text("checkpoint"));
  if (!saved)
    return complain(saved.error());
  trainer_options how;
  how.data_path = options.text("data");
  how.artifacts = artifacts_directory(options);
  how.device = options.text("device");
  if (auto problem = problem_with_device(how.device); !problem.empty())
    return complain("--device: " + problem);
  how.threads
      = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::optional<calling_peer> caller;
  if (calls_experts(saved->charter.settings())) {
    auto seeds = seeds_from(options);
    if (!seeds)
      return complain(seeds.error());
    if (seeds->empty())
      return complain("The model has experts on other machines; name a peer of "
                      "their run with --peer HOST:PORT.");
    peer_config others;
    add_seeds(others, *seeds);
    caller.emplace(saved->charter.settings().run, others.seeds,
                   options.flag("insecure"), others.pins);
    how.experts = caller->network();
  }
  try {
    auto model = make_trainer_factory(how)(saved->charter);
    if (model->layout().values() != saved->state.parameters.size())
      return complain("The checkpoint's parameters do not fit its model; it "
                      "was written by another version of potluck.");
    auto seed = static_cast<std::uint64_t>(options.integer("order-seed"));
    auto result = model->evaluate(saved->state.parameters.data(), seed,
                                  static_cast<std::uint64_t>(samples));
    event found{"evaluation",
                {{"step", saved->state.step},
                 {"samples", result.samples},
                 {"loss", result.loss},
                 {"unigram", result.unigram}}};
    if (result.accuracy)
      found.fields.push_back({"accuracy", *result.accuracy});
    for (const auto& [name, value] : result.metrics)
      found.fields.push_back({name, value});
    if (options.flag("json"))
      std::cout << to_json(found, 0) << std::endl;
    else {
      std::cout << "step " << saved->state.step << "  samples "
                << result.samples << "  loss " << readable(result.loss)
                << (result.unigram > 0
                        ? " (" + readable(result.unigram)
                              + " by knowing no more than how often each label "
                                "occurs)"
                        : "")
                << (result.accuracy ? "  accuracy " + readable(*result.accuracy)
                                    : "");
      for (const auto& [name, value] : result.metrics)
        std::cout << "  " << name << " " << readable(value);
      std::cout << std::endl;
    }
  } catch (const std::exception& e) {
    return complain(e.what());
  }
  return all_well;
}

} // namespace

command eval_command() {
  cli::command_spec spec;
  spec.name = "eval";
  spec.summary = "Print a checkpoint's loss, accuracy and other metrics";
  spec.usage = "potluck eval --checkpoint FILE --data PATH";
  spec.options = {
      {"checkpoint", option_kind::text, "", "The checkpoint to evaluate.",
       "FILE"},
      {"data", option_kind::text, "",
       "What to evaluate on, as for join: a text, or a folder with MNIST's "
       "files.",
       "PATH"},
      {"identity-dir", option_kind::text, "",
       "The identity directory with which the run was joined or created: a "
       "model may need artifacts that lie there (default: that of join).",
       "DIR"},
      {"samples", option_kind::integer, "512",
       "How many windows of text, or images.", "NUMBER", cli::at_least(1)},
      {"order-seed", option_kind::integer, "0",
       "Which samples, and which tokens are masked.", "NUMBER"},
      {"device", option_kind::text, "auto", "cpu, cuda, cuda:N or auto.",
       "DEVICE"},
      {"peer", option_kind::list, "",
       "A peer of the run, through which a model's experts are found.",
       "HOST:PORT"},
      {"insecure", option_kind::flag, "",
       "Plain TCP, where the run has it; loopback addresses only.", ""},
      {"json", option_kind::flag, "", "Print one JSON object.", ""},
  };
  return {spec, run_eval};
}

} // namespace potluck::tools
