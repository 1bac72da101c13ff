/// `potluck create`: lay down what a run is, sign it, and print the invitation
/// to it.

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <unistd.h>

#include "models/catalogue.hpp"
#include "models/images/image_data.hpp"
#include "models/script/founding_script.hpp"
#include "runtime/state/atomic_file.hpp"
#include "runtime/state/checkpoint.hpp"
#include "runtime/state/private_folder.hpp"
#include "runtime/state/run_manifest.hpp"
#include "tools/potluck/admission_options.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/created_run.hpp"
#include "tools/potluck/full/qr_code.hpp"
#include "tools/potluck/full/starting_point.hpp"
#include "tools/potluck/peer_options.hpp"
#include "tools/potluck/settings_options.hpp"

namespace potluck::tools {

namespace {

using cli::option_kind;
using cli::option_spec;

std::vector<option_spec> create_options() {
  return {
      {"data", option_kind::text, "",
       "A UTF-8 text or a folder of them, from which the run's tokenizer is "
       "learnt; models of images need none.",
       "PATH"},
      from_option(),
      {"announce", option_kind::text, "",
       "Invite to this machine: the address at which others reach the peer of "
       "this identity directory, a bootstrap for instance.",
       "HOST:PORT"},
      {"peer", option_kind::list, "",
       "Invite to this bootstrap or peer; repeat it for up to three.",
       "ID@HOST:PORT"},
      artifact_option(),
      {"organiser-key", option_kind::text, "",
       "Sign with the key in this file (default: organiser in the identity "
       "directory); made when it is missing.",
       "FILE"},
      {"qr", option_kind::flag, "",
       "Print the QR code even where the output is no terminal.", ""},
  };
}

/// ID@HOST:PORT, also where only HOST:PORT was given.
expected<std::string> authority_from(const cli::command_line& options,
                                     const std::string& directory) {
  const auto text = options.text("authority");
  auto where = parse_address(text);
  if (!where || text.find('@') != std::string::npos)
    return text; // What is no authority the settings' check says.
  auto own = identity::key_in(directory, "identity");
  if (!own)
    return failure{own.error()};
  return authority_text({own->id(), std::move(*where)});
}

/// Whom the invitation names.
expected<std::vector<contact>> contacts_from(const cli::command_line& options,
                                             const std::string& directory) {
  auto result = seeds_from(options);
  if (!result)
    return result;
  if (options.given("announce")) {
    auto where = parse_address(options.text("announce"));
    if (!where)
      return failure{"--announce: " + where.error()};
    auto own = identity::key_in(directory, "identity");
    if (!own)
      return failure{own.error()};
    result->insert(result->begin(), contact{own->id(), std::move(*where)});
  }
  if (result->empty() && options.given("authority"))
    if (auto rules = authority_from(options, directory))
      if (auto who = parse_contact(*rules))
        result->push_back(std::move(*who));
  if (result->empty())
    return failure{"An invitation says where the run is found; give the "
                   "address of this machine's bootstrap with --announce "
                   "HOST:PORT, or another one's with --peer ID@HOST:PORT."};
  return result;
}

/// What a run is, and what it begins with where that does not follow from it.
struct new_run {
  manifest what;
  std::shared_ptr<training_state> first; ///< Null: it follows.
};

/// The same before it is signed.
struct first_draft {
  charter of;
  std::shared_ptr<training_state> first;
};

/// What is signed, and what it begins with.
/// @param artifacts Those of the user, to which the model's may come.
expected<first_draft> lay_down(const cli::command_line& options,
                               const run_settings& given,
                               own_artifacts& artifacts) {
  auto settings = given;
  founding_script script;
  if (const auto model = options.text("model"); names_script(model)) {
    auto read = read_founding_script(model, settings);
    if (!read)
      return failure{"--model: " + read.error()};
    script = std::move(*read);
    settings = with_script(std::move(settings), script);
    if (auto added = add_large(
            script, artifact_folder{artifacts_directory(options)}, artifacts);
        !added)
      return failure{"--model: " + added.error()};
  }
  if (auto layout = layout_of(charter{settings, script.files}); !layout)
    return failure{layout.error()};
  const auto data = options.text("data");
  auto draft = propose_charter(settings, data.empty() ? drawn_digits : data,
                               script.files);
  if (!draft && data.empty())
    return failure{"This run's settings follow from its data; name a file or a "
                   "folder with --data PATH."};
  if (!draft)
    return failure{"--data: " + draft.error()};
  return first_draft{std::move(*draft), std::move(script.first)};
}

/// The same of a run that begins with parameters that there are already.
expected<first_draft> lay_down_from(const cli::command_line& options,
                                    const std::string& name,
                                    const std::string& authority) {
  auto changed = demanded_settings(options);
  changed.erase(std::remove_if(changed.begin(), changed.end(),
                               [](auto& x) { return x.name == "authority"; }),
                changed.end());
  changed.push_back({"authority", authority});
  auto begin = start_from(options.text("from"), name, changed);
  if (!begin)
    return failure{"--from: " + begin.error()};
  for (const auto& note : begin->notes)
    complain(note);
  return first_draft{
      std::move(begin->first.charter),
      std::make_shared<training_state>(std::move(begin->first.state))};
}

expected<new_run> make_run(const cli::command_line& options,
                           const std::string& name,
                           const std::string& directory) {
  auto authority = authority_from(options, directory);
  if (!authority)
    return failure{authority.error()};
  auto settings
      = settings_from(options, {{"run", name}, {"authority", *authority}});
  if (!settings)
    return failure{settings.error()};
  auto files = artifacts_from(options);
  if (!files)
    return failure{files.error()};
  if (options.given("from") && names_script(options.text("model")))
    return failure{"--from brings its model along; leave --model out."};
  auto draft = options.given("from") ? lay_down_from(options, name, *authority)
                                     : lay_down(options, *settings, *files);
  if (!draft)
    return failure{draft.error()};
  auto whole = with_own_artifacts(
      draft->of, *files, artifact_folder{artifacts_directory(options)});
  if (!whole)
    return failure{whole.error() + "."};
  const auto key = key_file(options, "organiser-key", directory + "/organiser");
  if (!key)
    return failure{key.error()};
  auto organiser = identity::key_in(key->parent_path(), key->filename());
  if (!organiser)
    return failure{organiser.error()};
  auto what = sign_charter(*whole, *organiser);
  if (!what)
    return failure{what.error()};
  return new_run{std::move(*what), std::move(draft->first)};
}

/// Writes down the run, and its first state before it: what has no first state
/// cannot begin.
expected<bool> keep(const new_run& run, const std::string& directory,
                    const std::string& path) {
  // Where the key is elsewhere there may be no folder yet.
  if (auto made = make_private_folder(directory); !made)
    return made;
  if (run.first) {
    auto of_run = charter_of(run.what);
    if (!of_run)
      return failure{of_run.error()};
    if (auto kept = save_checkpoint(first_state_path(directory, run.what.run()),
                                    *of_run, *run.first);
        !kept)
      return kept;
  }
  const auto bytes = run.what.to_bytes();
  return replace_file(path, {{bytes.data(), bytes.size()}});
}

void print(const invitation& to, const std::string& text,
           const std::string& path, bool with_code) {
  const bool open = to.authority.id.empty();
  std::cout << "Run '" << to.name << "', id " << short_name(to.id)
            << ", is laid down in " << path << ", signed by organiser "
            << short_name(id_of(to.organiser))
            << ".\nGive it to others here with `potluck bootstrap --run "
            << to.name
            << "`, or take part with `potluck join INVITATION --data PATH`.\n"
            << (open ? "Whoever has the invitation joins with it:\n\n"
                     : "Whoever has the invitation joins with it where the "
                       "authority has the key on its list;\n`potluck authority "
                       "invite --run "
                           + to.name
                           + "` makes invitations that let in whoever has "
                             "them:\n\n");
  auto capitals = text;
  std::transform(
      capitals.begin(), capitals.end(), capitals.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      });
  if (with_code)
    if (auto code = qr_code(capitals))
      std::cout << *code << "\n";
  std::cout << text << std::endl;
}

int run_create(cli::command_line& options, const std::string&) {
  if (options.positionals().empty())
    return complain("Give the run a name: potluck create NAME.");
  const auto name = options.positionals().front();
  if (auto problem = problem_with_run_name(name); !problem.empty())
    return complain("'" + name + "' is no name for a run: " + problem + ".");
  const auto directory = identity_directory(options);
  if (directory.empty())
    return complain("Name a folder for the run's files with --identity-dir "
                    "DIR.");
  auto contacts = contacts_from(options, directory);
  if (!contacts)
    return complain(contacts.error());
  const auto path = manifest_path(directory, name);
  auto existing = read_manifest_file(path);
  if (!existing)
    return complain(existing.error());
  if (*existing
      && (options.given("data") || options.given("artifact")
          || options.given("from") || !demanded_settings(options).empty()))
    return complain(
        "You have created a run of that name, and what it is never "
        "changes: give the new one another name, or leave the "
        "settings, --data and --artifact out for another invitation to that "
        "run.");
  const bool is_new = !*existing;
  auto made = is_new
                  ? make_run(options, name, directory)
                  : expected<new_run>{new_run{std::move(**existing), nullptr}};
  if (!made)
    return complain(made.error());
  const auto* what = &made->what;
  auto rules = rules_of(*what);
  if (!rules)
    return complain(rules.error());
  const invitation to{what->name(), what->id(), what->organiser(),
                      std::move(*contacts), rules->authority};
  auto text = to_text(to);
  if (!text)
    return complain("No invitation: " + text.error() + ".");
  if (is_new)
    if (auto written = keep(*made, directory, path); !written)
      return complain(written.error(), failed);
  print(to, *text, path, options.flag("qr") || isatty(STDOUT_FILENO) == 1);
  return all_well;
}

} // namespace

command create_command() {
  cli::command_spec spec;
  spec.name = "create";
  spec.summary = "Lay down a run, and print the invitation to it";
  spec.usage = "potluck create NAME --announce HOST:PORT [--data PATH] "
               "[OPTION]...";
  spec.positionals = 1;
  spec.options = create_options();
  for (auto& x : network_options())
    if (x.name == "identity-dir")
      spec.options.push_back(x);
  for (auto& x : settings_options())
    if (x.name != "run")
      spec.options.push_back(x);
  spec.notes
      = "Once more with the same NAME and no settings it prints another "
        "invitation to\nthe same run. The last line is the invitation.\n";
  return {spec, run_create};
}

} // namespace potluck::tools
