#include "tools/potluck/join_checkpoints.hpp"

#include <filesystem>

#include "runtime/state/atomic_file.hpp"
#include "runtime/state/checkpoint.hpp"
#include "runtime/state/declared_setting.hpp"
#include "runtime/state/run_manifest.hpp"
#include "tools/potluck/created_run.hpp"
#include "tools/potluck/settings_options.hpp"

namespace potluck::tools {

namespace {

/// A run that is over needs more steps to be resumed. A trial belongs to those
/// that hold it; another end of a created run is its organiser's word.
expected<bool> go_on_with(const cli::command_line& options, checkpoint& saved,
                          bool created, notice_board& notices) {
  if (!created)
    for (const auto& x : demanded_settings(options))
      if (x.name == "steps")
        saved.charter = with_steps(saved.charter, whole_in(x.value));
  const auto& settings = saved.charter.settings();
  if (saved.state.step < settings.steps)
    return true;
  const auto file = options.text("resume");
  const auto over = file + " is of step " + std::to_string(saved.state.step)
                    + " of " + std::to_string(settings.steps) + ", the end of "
                    + "run " + shown_run(settings.run);
  if (!created)
    return failure{over
                   + "; go on with it by --steps NUMBER, or start another "
                     "run from its parameters with --run NAME --from "
                   + file + "."};
  notices.post(over
               + ". Its organiser has it go on with `potluck amend INVITATION "
                 "steps NUMBER`; `potluck create NAME --from "
               + file + "` starts another run from its parameters.");
  return true;
}

} // namespace

std::vector<cli::option_spec> checkpoint_options() {
  using cli::option_kind;
  return {
      {"checkpoint", option_kind::text, "",
       "Write the training state here (default: RUN.checkpoint in the identity "
       "directory, where the last one goes, too, if this fails in the end).",
       "FILE"},
      {"checkpoint-every", option_kind::integer, "100",
       "Steps between two checkpoints; 0 for one at the end only, and when "
       "this peer leaves.",
       "STEPS", cli::at_least(0)},
      {"checkpoint-keep", option_kind::integer, "3",
       "Keep the newest so many: older ones are FILE.STEP; neither the one "
       "that was resumed is removed, nor, without --resume, the last one of "
       "an earlier start.",
       "NUMBER", cli::between(1, 1000)},
      {"resume", option_kind::text, "",
       "Continue from this checkpoint; a trial that is over, with more "
       "--steps.",
       "FILE"},
  };
}

expected<bool> resume(const cli::command_line& options,
                      const std::optional<invitation>& invited,
                      peer_config& config, notice_board& notices) {
  if (!options.given("resume"))
    return true;
  if (options.given("from"))
    return failure{"--resume goes on with a run, and --from begins another "
                   "one; leave one of them out."};
  auto saved = load_checkpoint(options.text("resume"));
  if (!saved)
    return failure{saved.error()};
  if (invited && saved->charter.settings().run != config.run)
    return failure{"--resume: the checkpoint is of run "
                   + shown_run(saved->charter.settings().run)
                   + ", and the invitation is to run " + shown_run(config.run)
                   + "."};
  // A checkpoint may come from anybody, and its tokenizer is to be parsed.
  const bool created = !id_in(saved->charter.settings().run).empty();
  if (created && !invited)
    return failure{"--resume: run " + shown_run(saved->charter.settings().run)
                   + " was created by somebody; give its invitation as "
                     "well."};
  if (created && !is_of_its_run(saved->charter, invited->organiser))
    return failure{"--resume: the settings or the files in this "
                   "checkpoint are not those of run "
                   + shown_run(saved->charter.settings().run)
                   + "; join without it, and fetch the state from others."};
  if (auto done = go_on_with(options, *saved, created, notices); !done)
    return done;
  config.known = saved->charter;
  config.run = saved->charter.settings().run;
  config.state = std::make_shared<training_state>(std::move(saved->state));
  config.history = std::move(saved->history);
  return true;
}

expected<bool> take_first_state(const std::string& directory,
                                peer_config& config) {
  std::error_code unknown;
  const auto path = first_state_path(directory, config.run);
  if (config.role != role::trainer || config.state || directory.empty()
      || !std::filesystem::exists(path, unknown))
    return true;
  auto first = load_checkpoint(path);
  if (!first)
    return failure{first.error()};
  config.state = std::make_shared<training_state>(std::move(first->state));
  return true;
}

expected<bool> place_checkpoints(const cli::command_line& options,
                                 const std::string& directory,
                                 const std::string& file, peer_config& config,
                                 notice_board& notices) {
  const auto own
      = directory.empty() ? "" : directory + "/" + file + ".checkpoint";
  const auto asked = options.text("checkpoint");
  checkpoint_files::places at;
  at.path = asked.empty() ? own : asked;
  if (at.path != own)
    at.fallback = own;
  if (at.path.empty()) {
    notices.post("No checkpoint is written: a temporary identity has no "
                 "folder for it; name a file with --checkpoint.");
    return true;
  }
  at.keep = static_cast<std::size_t>(options.integer("checkpoint-keep"));
  auto tried = try_file(at.path);
  if (!tried)
    return failure{"--checkpoint: " + tried.error()
                   + "; name a file in a folder that exists, that you may "
                     "write to, and that has room."};
  config.checkpoints = std::make_shared<checkpoint_files>(std::move(at));
  if (options.given("resume")) {
    config.checkpoints->resumes(options.text("resume"), *config.state);
    return true;
  }
  const auto left = config.checkpoints->spare(config.run);
  if (!left)
    return failure{"--checkpoint: " + left.error()
                   + "; move one of them away, or name another file."};
  if (!left->path.empty())
    notices.post(left->path + " holds step " + std::to_string(left->step)
                 + " of this run, and stays; if nobody else holds a later one, "
                   "--resume "
                 + left->path + " goes on with it.");
  return true;
}

} // namespace potluck::tools
