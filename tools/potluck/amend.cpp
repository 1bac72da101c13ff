/// `potluck amend`: change a created run by its organiser's word, which all its
/// peers go by.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "messages/limits.hpp"
#include "runtime/membership/handshake.hpp"
#include "runtime/organiser/kept_amendments.hpp"
#include "runtime/organiser/run_terms.hpp"
#include "runtime/state/atomic_file.hpp"
#include "runtime/state/run_manifest.hpp"
#include "tools/potluck/amendment_words.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/created_run.hpp"
#include "tools/potluck/organiser_visit.hpp"
#include "tools/potluck/peer_options.hpp"

namespace potluck::tools {

namespace {

using cli::option_kind;
using words = std::vector<std::string>;

std::vector<cli::option_spec> amend_options() {
  return {
      {"key", option_kind::text, "",
       "Sign with the key in this file (default: organiser in the identity "
       "directory).",
       "FILE"},
      {"run", option_kind::text, "",
       "The run, instead of an invitation: its name, where `potluck create` "
       "made it in this identity directory, or its manifest's path.",
       "RUN"},
      {"at", option_kind::integer, "0",
       "The step from which it holds; 0: the first one that all can have "
       "heard of it before.",
       "STEP", cli::at_least(0)},
      {"digest", option_kind::text, "",
       "The digest of the state to roll back to, as any member's log has it "
       "(default: that which most members keep of the step, after a "
       "question).",
       "HEX"},
      {"reason", option_kind::text, "", "Why, for people.", "TEXT"},
      {"out", option_kind::text, "",
       "Where several organisers have to sign: write here what lacks their "
       "signatures (default: RUN.amendment in the identity directory).",
       "FILE"},
  };
}

/// The key in a file that is there.
expected<key_pair> key_from(const cli::command_line& options,
                            const std::string& directory) {
  const auto path = key_file(options, "key", directory + "/organiser");
  if (!path)
    return failure{path.error()};
  std::error_code ignored;
  if (!std::filesystem::exists(*path, ignored))
    return failure{"There is no organiser's key " + path->string()
                   + "; name its file with --key FILE."};
  return identity::key_in(path->parent_path(), path->filename());
}

/// From which step on it holds, by where the run is.
expected<std::uint64_t> begin_of(const run_change& x, std::uint64_t wished,
                                 const run_terms& terms,
                                 organiser_visit& visit) {
  std::optional<run_progress> run;
  if (needs_a_step(x))
    run = visit.look_at_progress();
  if (run)
    std::cout << "The run is at step " << run->step << " (" << run->trainers
              << " peers say so).\n";
  return step_for(x, wished, terms, run);
}

/// Fills in which state of the step is meant, where the user has not said.
expected<bool> choose_state(roll_back& x, const run_settings& settings,
                            organiser_visit& visit) {
  const auto step = std::to_string(x.step);
  if (settings.redraws_groups()) {
    if (x.state.empty())
      return true;
    return failure{"Members of this run hold different states (averaging "
                   "moshpit), and each goes back to its own; leave --digest "
                   "out."};
  }
  if (!x.state.empty())
    return true;
  std::size_t answers = 0;
  std::size_t most = 0;
  for (const auto& [state, members] : visit.ask_for_kept(x.step)) {
    answers += members;
    if (members > most) {
      most = members;
      x.state = state;
    }
  }
  if (most == 0)
    return failure{"No member that answers keeps a state of step " + step
                   + "; they keep the newest "
                   + std::to_string(settings.keep_states) + " of every "
                   + std::to_string(settings.keep_every) + " steps."};
  std::cout << most << " of " << answers
            << " members that keep a state of step " << step << " keep digest "
            << to_string(x.state) << ". Go back to it? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "yes")
    return true;
  return failure{"Nothing was changed; say y, or name the state with --digest "
                 + to_string(x.state) + "."};
}

std::string line_of(const amendment& x) {
  return std::to_string(x.number) + ". " + to_sentence(x.change, x.from)
         + (x.from > 0 ? " (from step " + std::to_string(x.from) + " on)" : "")
         + (x.reason.empty() ? "" : " " + x.reason);
}

std::uint64_t now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

int say_key(const cli::command_line& options, const std::string& directory) {
  auto key = key_from(options, directory);
  if (!key)
    return complain(key.error());
  std::cout << to_string(key->public_half()) << std::endl;
  return all_well;
}

/// Keeps it, and hands it to members.
int publish(const std::string& bytes, amendment_book& book,
            const std::string& path, organiser_visit& visit) {
  if (const auto taken = book.take(bytes);
      taken.is != amendment_book::verdict::accepted)
    return complain(taken.is == amendment_book::verdict::known
                        ? "The run has this amendment already."
                        : "This " + taken.sentence + ".");
  if (auto done = keep_amendments(path, book); !done)
    return complain(done.error(), failed);
  const auto sent = visit.deliver(book);
  if (sent.holders == 0)
    return complain("None of the " + std::to_string(sent.asked)
                        + " peers that answered shows it: it is kept in " + path
                        + ", and a trainer with this identity directory hands "
                          "it on.",
                    failed);
  std::cout << sent.holders << " of " << sent.asked
            << " peers that were asked hold it, and pass it on." << std::endl;
  return all_well;
}

/// Writes what lacks signatures to a file, for another organiser.
int ask_for_signatures(const std::string& bytes, std::size_t count,
                       const organisers& who, const std::string& file) {
  if (auto done = replace_file(file, {{bytes.data(), bytes.size()}}); !done)
    return complain(done.error(), failed);
  std::cout << count << " of " << who.needed << " signatures: give " << file
            << " to another organiser, for `potluck amend INVITATION sign "
               "FILE`."
            << std::endl;
  return all_well;
}

/// Adds a signature to a file's amendment, and publishes what has enough.
int sign_file(const std::string& file, const manifest& run,
              const organisers& who, const key_pair& key, amendment_book& book,
              const std::string& path, const run_settings& settings,
              organiser_visit& visit) {
  std::ifstream from{file, std::ios::binary};
  std::string bytes(max_amendment_bytes + 1, '\0');
  from.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(from.gcount()));
  if (bytes.empty())
    return complain(file
                    + " cannot be read; give the file of an amendment "
                      "that lacks signatures.");
  auto more = sign_as_well(run.id(), who, bytes, key);
  if (!more)
    return complain(file + " " + more.error() + ".");
  const auto count = signatures_on(run.id(), who, *more);
  const auto what = read_amendment_of(run.id(), {who.keys, count}, *more).what;
  std::cout << line_of(what) << std::endl;
  if (count < who.needed)
    return ask_for_signatures(*more, count, who, file);
  if (auto from_step = begin_of(what.change, what.from,
                                run_terms{settings, book.all()}, visit);
      !from_step)
    return complain(from_step.error());
  return publish(*more, book, path, visit);
}

/// @param key Null where nothing is to change.
int amend(const cli::command_line& options, const words& what,
          const std::string& directory, const key_pair* key,
          organiser_visit& visit, const manifest& run,
          const run_settings& settings) {
  const auto signers = signers_of(run, settings);
  amendment_book book{run.id(), signers};
  // What was signed before on this machine, or came here: so no number is given
  // twice.
  const auto path = amendments_path(directory, run.run());
  if (auto problem = read_amendments(path, book); !problem.empty())
    return complain(problem + "; move it away.");
  visit.read_amendments(book);
  if (key == nullptr) {
    for (const auto& x : book.all())
      std::cout << line_of(x) << "\n";
    if (book.latest() == 0)
      std::cout << "Run '" << shown_run(run.run()) << "' was never amended.\n";
    std::cout << std::flush;
    return all_well;
  }
  if (!signers.has(key->public_half()))
    return complain("This key is not the organiser's of run '"
                    + shown_run(run.run())
                    + "', nor its successor's; name the right one's file with "
                      "--key FILE.");
  if (what[0] == "sign")
    return sign_file(what[1], run, signers, *key, book, path, settings, visit);
  auto change = change_in(what, options.text("digest"));
  if (!change)
    return complain(change.error());
  if (auto back = std::get_if<roll_back>(&*change))
    if (auto chosen = choose_state(*back, settings, visit); !chosen)
      return complain(chosen.error());
  if (std::holds_alternative<new_admission>(*change)
      && settings.authority == "none")
    return complain("This run's manifest names no authority, so it stays "
                    "open.");
  auto from
      = begin_of(*change, static_cast<std::uint64_t>(options.integer("at")),
                 run_terms{settings, book.all()}, visit);
  if (!from)
    return complain(from.error());
  amendment x;
  x.run = run.id();
  x.number = book.latest() + 1;
  x.from = *from;
  x.signed_ms = now_ms();
  x.change = std::move(*change);
  x.reason = options.text("reason");
  if (auto problem = problem_with(x); !problem.empty())
    return complain("That is no amendment: " + problem + ".");
  const auto bytes = sign_amendment(x, *key);
  std::cout << line_of(x) << std::endl;
  if (signers.needed > 1)
    return ask_for_signatures(bytes, 1, signers,
                              options.given("out")
                                  ? options.text("out")
                                  : directory + "/" + run_file_name(run.run())
                                        + ".amendment");
  return publish(bytes, book, path, visit);
}

int run_amend(cli::command_line& options, const std::string&) {
  words what = options.positionals();
  const auto directory = identity_directory(options);
  if (directory.empty())
    return complain("Name the folder of the run's files with --identity-dir "
                    "DIR.");
  if (what == words{"key"})
    return say_key(options, directory);
  peer_config config;
  auto how = fill_network(options, config);
  if (!how)
    return complain(how.error());
  organiser_plan plan;
  auto contacts = seeds_from(options);
  if (!contacts)
    return complain(contacts.error());
  plan.contacts = std::move(*contacts);
  named_run named;
  if (!what.empty() && is_invitation(what[0])) {
    auto to = read_invitation(what[0]);
    if (!to)
      return complain(to.error());
    plan.contacts.insert(plan.contacts.end(), to->contacts.begin(),
                         to->contacts.end());
    auto run = run_invited(*to, directory);
    if (!run)
      return complain(run.error());
    named = std::move(*run);
    what.erase(what.begin());
  } else if (options.given("run")) {
    auto run = run_named(options.text("run"), directory);
    if (!run)
      return complain(run.error());
    named = std::move(*run);
  }
  if (id_in(named.run).empty())
    return complain("Say which run: `potluck amend INVITATION ...`, or --run "
                    "NAME of one that `potluck create` made here.");
  if (what.empty())
    return complain("Say what changes, for instance `steps 5000`; see "
                    "`potluck amend --help`.");
  std::optional<key_pair> key;
  if (what[0] != "list") {
    if (what[0] == "sign" && what.size() != 2)
      return complain("Say which file: `potluck amend ... sign FILE`.");
    if (what[0] != "sign")
      if (auto change = change_in(what, options.text("digest")); !change)
        return complain(change.error());
    auto held = key_from(options, directory);
    if (!held)
      return complain(held.error());
    key = std::move(*held);
  }
  if (plan.contacts.empty())
    return complain("Name a peer of the run with --peer HOST:PORT, or give an "
                    "invitation.");
  file_descriptor lock; // Two at once would give one number twice.
  if (key) {
    auto held = lock_amendments(amendments_path(directory, named.run));
    if (!held)
      return complain(held.error());
    lock = std::move(*held);
  }
  plan.run = named.run;
  plan.listen = config.listen;
  plan.how = *how;
  plan.how.key = key_pair::generate();
  plan.organiser = key;
  organiser_visit visit{std::move(plan)};
  if (auto begun = visit.begin(); !begun)
    return complain(begun.error(), failed);
  auto manifest
      = named.manifest ? std::move(named.manifest) : visit.ask_for_manifest();
  if (!manifest)
    return complain("Nobody here has the manifest of run "
                        + shown_run(named.run)
                        + "; name a member with --peer HOST:PORT.",
                    failed);
  auto agreed = charter_of(*manifest);
  if (!agreed)
    return complain(agreed.error());
  return amend(options, what, directory, key ? &*key : nullptr, visit,
               *manifest, agreed->settings());
}

} // namespace

command amend_command() {
  cli::command_spec spec;
  spec.name = "amend";
  spec.summary = "Change a run that was created, by its organiser's word";
  spec.usage = "potluck amend INVITATION CHANGE [OPTION]...\n"
               "       potluck amend --run NAME --peer HOST:PORT CHANGE "
               "[OPTION]...";
  spec.positionals = 2 + new_bans::most;
  spec.options = amend_options();
  for (auto& x : network_options())
    for (auto wanted :
         {"peer", "identity-dir", "insecure", "listen", "dial-from",
          "max-upload", "max-download", "announce", "no-port-mapping"})
      if (x.name == wanted)
        spec.options.push_back(x);
  spec.notes
      = "A CHANGE is one of:\n"
        "  steps STEPS       the run ends after so many; the rate falls to "
        "zero there. One\n                    that is over goes on\n"
        "  rate-tail STEPS   the rate stays, and falls over the last so many\n"
        "  pause, resume     no step is made in between\n"
        "  finish            the run ends, well, at the next step that all can "
        "know of\n"
        "  ban ID...         all refuse these peers; unban ID... lifts it\n"
        "  rollback STEP     all go back to the state of then\n"
        "  admission MODE    open, token or list\n"
        "  sign FILE         adds a signature where a run needs several, and "
        "publishes what\n                    has enough\n"
        "  list              changes nothing, and says what was amended\n"
        "  key               prints the public half of the key (create "
        "--successor)\n";
  return {spec, run_amend};
}

} // namespace potluck::tools
