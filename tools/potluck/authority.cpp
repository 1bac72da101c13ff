/// `potluck authority`: admit peers to a run, and lay down whom.

#include <ctime>
#include <iomanip>
#include <iostream>
#include <random>

#include "runtime/admission/claim_program.hpp"
#include "tools/potluck/address_file.hpp"
#include "tools/potluck/admission_options.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/created_run.hpp"
#include "tools/potluck/peer_options.hpp"
#include "tools/potluck/peer_process.hpp"

namespace potluck::tools {

namespace {

using cli::option_kind;

std::vector<cli::option_spec> authority_options() {
  return {
      {"run", option_kind::list, "",
       "The run: its name, where `potluck create` made it; its manifest's "
       "path; or an invitation. serve takes several.",
       "RUN"},
      {"db", option_kind::text, "",
       "Keep in this file who is admitted until when (default: authority.db "
       "in the identity directory).",
       "FILE"},
      {"token-life", option_kind::text, "1h",
       "How long a token of serve counts, 24h at most; peers renew it.",
       "TIME"},
      {"grant", option_kind::text, "30d",
       "How long whoever is let in may stay: by an invitation that this "
       "invite makes; by the list or the program, of serve.",
       "TIME"},
      {"machines", option_kind::integer,
       std::to_string(authority_book::usual_machines),
       "Machines of one person that serve admits at once.", "NUMBER",
       cli::between(1, 4096)},
      {"ask", option_kind::text, "",
       "Let serve run this program for those that nothing else lets in: it "
       "gets the peer's id, a line's end and what the peer's --claim holds on "
       "its standard input, and says yes with status 0, within 10 s, or no "
       "with another one; four run at once.",
       "PROGRAM"},
      {"uses", option_kind::integer, "1",
       "How many an invitation lets in; 0: any number.", "NUMBER",
       cli::between(0, 1e9)},
      {"until", option_kind::text, "7d",
       "How long an invitation of invite counts, or, of allow, a place on the "
       "list (default there: for ever).",
       "TIME"},
  };
}

std::uint64_t in_ms(std::chrono::milliseconds x) {
  return static_cast<std::uint64_t>(x.count());
}

expected<std::uint64_t> life_from(const cli::command_line& options,
                                  const std::string& name) {
  auto life = read_life(options.text(name));
  if (!life)
    return failure{"--" + name + ": " + life.error()};
  return in_ms(*life);
}

/// A run whose authority this is, by its manifest or invitation.
struct served_run {
  named_run named;
  contact authority;    ///< As they say.
  bool by_list = false; ///< It began so.
};

expected<served_run> served_from(const std::string& word,
                                 const std::string& directory) {
  auto named = run_named(word, directory);
  if (!named)
    return failure{named.error()};
  served_run result{std::move(*named), {}};
  if (id_in(result.named.run).empty())
    return failure{"--run: a trial admits everybody, and '" + word
                   + "' is none that `potluck create` has made in " + directory
                   + "; give an invitation or a manifest's path."};
  if (result.named.manifest) {
    auto rules = rules_of(*result.named.manifest);
    if (!rules)
      return failure{rules.error()};
    result.authority = rules->authority;
    result.by_list = rules->how == admission_rules::mode::list;
  } else if (result.named.invited) {
    result.authority = result.named.invited->authority;
  }
  if (result.authority.id.empty())
    return failure{"--run: run " + shown_run(result.named.run)
                   + " is open: it admits whoever has its invitation."};
  return result;
}

/// What all but serve need.
struct desk_tools {
  served_run run;
  run_id id;
  authority_book book;
};

expected<authority_book> book_from(const cli::command_line& options,
                                   const std::string& directory) {
  if (!options.given("db") && directory.empty())
    return failure{"Name a file for who is admitted with --db FILE."};
  return authority_book::open(
      options.given("db") ? options.text("db") : directory + "/authority.db");
}

expected<desk_tools> tools_from(const cli::command_line& options) {
  const auto directory = identity_directory(options);
  if (options.list("run").size() != 1)
    return failure{"Say which run is meant with --run RUN."};
  auto run = served_from(options.list("run").front(), directory);
  if (!run)
    return failure{run.error()};
  auto book = book_from(options, directory);
  if (!book)
    return failure{book.error()};
  const auto id = id_in(run->named.run);
  return desk_tools{std::move(*run), id, std::move(*book)};
}

int serve(cli::command_line& options) {
  if (options.given("ask"))
    if (auto problem = problem_with_program(options.text("ask"));
        !problem.empty())
      return complain("--ask: " + problem);
  peer_config config;
  config.role = role::bootstrap;
  config.run.clear();
  auto network = fill_network(options, config);
  if (!network)
    return complain(network.error());
  auto who = take_identity(options, *network, config);
  if (!who)
    return complain(who.error());
  const auto by_list = std::make_shared<list_runs>();
  authority_desk::settings how;
  how.by_list = by_list;
  how.signs = config.signs;
  if (options.list("run").empty())
    return complain("Say whom to admit to with --run RUN.");
  for (const auto& word : options.list("run")) {
    auto run = served_from(word, who->directory);
    if (!run)
      return complain(run.error());
    if (run->authority.id != config.self)
      return complain("--run: the authority of run " + shown_run(run->named.run)
                      + " is " + to_string(run->authority.id)
                      + ", and this identity is " + to_string(config.self)
                      + "; name its folder with --identity-dir DIR.");
    if (run->named.manifest) {
      config.manifests[run->named.run] = run->named.manifest->to_bytes();
      by_list->set(run->named.run, run->by_list);
    }
    how.runs.insert(run->named.run);
    config.passes_for[run->named.run] = passed(run->named);
  }
  auto token = life_from(options, "token-life");
  auto grant = life_from(options, "grant");
  if (!token || !grant)
    return complain(token ? grant.error() : token.error());
  how.token_ms = *token;
  if (how.token_ms > in_ms(limits::longest_token_life))
    return complain("--token-life: a token counts for 24h at most.");
  how.grant_ms = *grant;
  how.machines = static_cast<std::uint32_t>(options.integer("machines"));
  how.has_program = options.given("ask");
  auto book = book_from(options, who->directory);
  if (!book)
    return complain(book.error(), failed);
  authority_office office;
  office.by_list = by_list;
  office.wall_clock = wall_clock_ms;
  office.desk
      = std::make_shared<authority_desk>(std::move(*book), std::move(how));
  office.asks = [program = options.text("ask")](const peer_id& peer,
                                                const std::string& words) {
    return ask_program(program, peer, words, limits::claim_program_life);
  };
  config.authority = std::move(office);
  auto notices = std::make_shared<notice_board>();
  keep_addresses(config, who->directory, "peers", *notices);
  return run_peer(options, std::move(config), std::move(notices));
}

int invite(const cli::command_line& options, desk_tools& x) {
  auto until = life_from(options, "until");
  auto grant = life_from(options, "grant");
  if (!until || !grant)
    return complain(until ? grant.error() : until.error());
  if (x.run.by_list)
    return complain("Run " + shown_run(x.run.named.run)
                    + " admits by its list; put keys on it with `potluck "
                      "authority allow ID`, and give out the invitation of "
                      "`potluck create`.");
  invitation to;
  if (x.run.named.invited) {
    to = *x.run.named.invited;
  } else {
    const auto& laid_down = *x.run.named.manifest;
    to = {laid_down.name(), laid_down.id(), laid_down.organiser(), {}};
    to.contacts = {x.run.authority};
  }
  to.authority = x.run.authority;
  std::random_device source;
  for (auto& byte : to.code.bytes)
    byte = static_cast<std::uint8_t>(source());
  auto text = to_text(to);
  if (!text)
    return complain("No invitation: " + text.error()
                    + "; give --run the invitation that `potluck create` has "
                      "printed.");
  auto added = x.book.add_code(
      x.id, to.code, static_cast<std::uint64_t>(options.integer("uses")),
      wall_clock_ms() + *until, *grant);
  if (!added)
    return complain(added.error(), failed);
  std::cout << *text << std::endl;
  return all_well;
}

int change(const cli::command_line& options, desk_tools& x, bool allows) {
  const auto& words = options.positionals();
  if (words.size() < 2)
    return complain("Name peers or people by their ids, as `potluck delegate` "
                    "prints them.");
  auto until = authority_book::for_ever;
  if (options.given("until")) {
    auto life = life_from(options, "until");
    if (!life)
      return complain(life.error());
    until = wall_clock_ms() + *life;
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    auto id = parse_id<peer_id>(words[i]);
    if (!id || id->empty())
      return complain("'" + words[i] + "' is no id: it has 64 hex digits.");
    auto done
        = allows ? x.book.allow(x.id, *id, until) : x.book.revoke(x.id, *id);
    if (!done)
      return complain(done.error(), failed);
    if (!*done)
      return complain(words[i] + " was not admitted.");
  }
  return all_well;
}

std::string date_of(std::uint64_t ms) {
  const auto seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts{};
  if (ms == 0)
    return "ended";
  if (ms >= authority_book::for_ever || !gmtime_r(&seconds, &parts))
    return "for ever";
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &parts);
  return text;
}

int list(desk_tools& x) {
  auto all = x.book.grants(x.id);
  if (!all)
    return complain(all.error(), failed);
  std::cout << std::left << std::setw(66) << "who" << std::setw(9) << "by"
            << std::setw(18) << "since (UTC)" << std::setw(18) << "until"
            << std::setw(10) << "machines"
            << "last token until\n";
  for (const auto& g : *all)
    std::cout << std::setw(66) << to_string(g.who) << std::setw(9) << g.how
              << std::setw(18) << date_of(g.since_ms) << std::setw(18)
              << date_of(g.until_ms) << std::setw(10) << g.machines
              << date_of(g.last_token_ms) << "\n";
  return all_well;
}

int run_authority(cli::command_line& options, const std::string&) {
  const auto& words = options.positionals();
  const std::string action = words.empty() ? "serve" : words.front();
  const bool changes = action == "allow" || action == "revoke";
  if (words.size() > 1 && !changes)
    return complain("'" + words[1] + "' is one word too many.");
  if (action == "serve")
    return serve(options);
  if (!changes && action != "invite" && action != "list")
    return complain("'" + action
                    + "' is nothing that an authority does; there are serve, "
                      "invite, allow, revoke and list.");
  auto with = tools_from(options);
  if (!with)
    return complain(with.error());
  return action == "invite" ? invite(options, *with)
         : action == "list" ? list(*with)
                            : change(options, *with, action == "allow");
}

} // namespace

command authority_command() {
  cli::command_spec spec;
  spec.name = "authority";
  spec.summary = "Admit peers to a run that is not open; trains nothing";
  spec.usage = "potluck authority [serve] --run RUN... [OPTION]...\n"
               "       potluck authority invite|list --run RUN [OPTION]...\n"
               "       potluck authority allow|revoke ID... --run RUN "
               "[OPTION]...";
  spec.positionals = 65;
  spec.options = authority_options();
  for (auto& option : network_options("[::]:7000"))
    spec.options.push_back(option);
  spec.notes
      = "serve is a first contact, too, as a bootstrap is. The others work on "
        "the same file\nbeside it, and what they change counts at once; a "
        "token that was given counts until\nit ends.\n";
  return {spec, run_authority};
}

} // namespace potluck::tools
