#include "tools/potluck/join_trainer.hpp"

#include "actors/experts/expert_client.hpp"
#include "models/catalogue.hpp"
#include "models/script/founding_script.hpp"
#include "runtime/manifest/run_key.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/full/starting_point.hpp"
#include "tools/potluck/peer_options.hpp"
#include "tools/potluck/settings_options.hpp"

namespace potluck::tools {

namespace {

/// Has it found a trial with parameters that there are already.
expected<bool> begin_from(const cli::command_line& options, peer_config& config,
                          std::uint64_t most, notice_board& notices) {
  if (!id_in(config.run).empty())
    return failure{"--from begins a run, and the invitation is to one that "
                   "there is; `potluck create NAME --from PATH` lays down "
                   "another."};
  auto begin = start_from(options.text("from"), config.run,
                          demanded_settings(options));
  if (!begin)
    return failure{"--from: " + begin.error()};
  auto& first = begin->first;
  if (auto problem = problem_with_size(first.charter, most); !problem.empty())
    return failure{problem};
  for (const auto& note : begin->notes)
    notices.post(note);
  // A run of that name that began otherwise is another one.
  config.demanded.push_back({"initial", first.charter.settings().initial});
  config.known = std::move(first.charter);
  config.state = std::make_shared<training_state>(std::move(first.state));
  return true;
}

} // namespace

expected<bool> fill_trainer(const cli::command_line& options,
                            peer_config& config, const run_settings& given,
                            const std::shared_ptr<notice_board>& notices) {
  auto data = options.text("data");
  if (data.empty())
    return failure{"A trainer needs data; name a file or a folder with --data "
                   "PATH, or join with --role auxiliary."};
  auto settings = given;
  charter_files files;
  if (const auto model = options.text("model"); names_script(model)) {
    if (options.given("from"))
      return failure{"--from brings its model along; leave --model out."};
    auto script = read_founding_script(model, settings);
    if (!script)
      return failure{"--model: " + script.error()};
    settings = with_script(std::move(settings), *script);
    if (auto added
        = add_large(*script, artifact_folder{config.artifacts_folder},
                    config.own_artifacts);
        !added)
      return failure{"--model: " + added.error()};
    files = std::move(script->files);
    config.state = std::move(script->first);
  }
  // Who joins a run learns there which model it has.
  const auto founds = options.given("model") || config.seeds.empty();
  if (auto problem = problem_with_data(founds ? settings.model : "", data);
      !problem.empty())
    return failure{"--data: " + problem};
  trainer_options how;
  how.data_path = data;
  how.artifacts = config.artifacts_folder;
  how.threads = static_cast<int>(config.threads);
  how.device = options.text("device");
  if (auto problem = problem_with_device(how.device); !problem.empty())
    return failure{"--device: " + problem};
  how.precision = options.text("precision");
  if (auto problem = problem_with_precision(how.precision, how.device);
      !problem.empty())
    return failure{"--precision: " + problem};
  if (names_script(options.text("model")))
    if (auto problem = problem_with_computing(how.device, how.precision);
        !problem.empty())
      return failure{problem};
  auto most = bytes_from(options, "max-model", quarter_of_memory());
  if (!most)
    return failure{most.error()};
  how.max_model = *most;
  if (auto problem = problem_with_size(charter{settings, files}, how.max_model);
      founds && !problem.empty())
    return failure{problem};
  if (options.given("from"))
    if (auto done = begin_from(options, config, how.max_model, *notices); !done)
      return done;
  how.in_flight = static_cast<std::uint32_t>(options.integer("in-flight"));
  auto experts = std::make_shared<expert_client>();
  config.expert_calls = experts->line();
  config.relays_experts = options.flag("relay-experts");
  how.experts = experts;
  how.notice = [notices](const std::string& x) { notices->post(x); };
  config.make_trainer = make_trainer_factory(how);
  config.propose
      = [wanted = settings, data, files, artifacts = config.own_artifacts,
         folder = artifact_folder{config.artifacts_folder}] {
          auto proposed = propose_charter(wanted, data, files);
          if (proposed)
            proposed = with_own_artifacts(*proposed, artifacts, folder);
          if (!proposed)
            throw std::runtime_error(proposed.error());
          return *proposed;
        };
  if (auto layout = layout_of(charter{settings, files}); !layout)
    return failure{layout.error()};
  if (const auto device = device_in_use(how.device); device != "cpu") {
    notices->post("Gradients are computed on " + device + " in " + how.precision
                  + ".");
    return true;
  }
  if (auto slow = slow_blas_remedy(); !slow.empty())
    complain(slow);
  notices->post("Matrices are multiplied by " + blas_in_use() + ".");
  return true;
}

} // namespace potluck::tools
