/// `potluck bootstrap`: first contact and DHT storage, for any run; averages
/// for those that its operator names.

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>
#include <mutex>

#include "runtime/lines/rate.hpp"
#include "runtime/state/piece_folder.hpp"
#include "runtime/uv/faces.hpp"
#include "tools/potluck/address_file.hpp"
#include "tools/potluck/admission_options.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/created_run.hpp"
#include "tools/potluck/peer_options.hpp"
#include "tools/potluck/peer_process.hpp"

namespace potluck::tools {

namespace {

using cli::option_kind;

std::vector<cli::option_spec> bootstrap_options() {
  return {
      {"run", option_kind::list, "",
       "Average for this run, too, as an auxiliary peer does; repeat it for "
       "more of them. Of a run that was created, give an invitation, or its "
       "manifest's path; its name is enough where `potluck create` made it.",
       "RUN"},
      {"any-run", option_kind::flag, "",
       "Average for every run that peers come with, 16 at a time, and one of "
       "each network (/24, /48) of the internet.",
       ""},
      {"monthly-traffic", option_kind::text, "",
       "Average and relay no more once a calendar month (UTC) has carried so "
       "much, both directions together, for instance 500GB; first contact goes "
       "on.",
       "SIZE"},
      {"max-memory", option_kind::text, "",
       "What averaging may hold in memory, for instance 512MB (default: a "
       "quarter of this machine's); a run that --run does not name gets a "
       "quarter of it at most.",
       "SIZE"},
      {"max-disk", option_kind::text, "4GB",
       "What states of the runs that it averages for may take in the identity "
       "directory, kept for joiners that reach nobody else; a state that does "
       "not fit is not kept.",
       "SIZE"},
  };
}

/// The ports of this process, which the bootstrap peer and its tenants share.
/// Made by whoever needs them first: no thread may begin before `run_peer` has
/// blocked the signals.
class shared_ports {
public:
  explicit shared_ports(uv_transport_options how) : how_(std::move(how)) {
  }
  const std::shared_ptr<shared_transport>& get() {
    std::call_once(made_, [this] { ports_ = make_shared_transport(how_); });
    return ports_;
  }
  const key_pair& key() const {
    return *how_.key;
  }

private:
  const uv_transport_options how_;
  std::once_flag made_;
  std::shared_ptr<shared_transport> ports_;
};

/// Pieces of the states of runs, each run in a folder of its own.
class run_folders {
public:
  /// @param path Empty: nowhere. @param most Bytes of all of them.
  run_folders(const std::string& path, std::uint64_t most,
              const tenancy::rules& rules)
      : path_(path), named_(rules.runs),
        each_(most
              / std::max<std::size_t>(1, rules.runs.size()
                                             + rules.any * rules.most)) {
    // Of others' runs only as long as they are here.
    std::error_code ignored;
    for (std::filesystem::directory_iterator i{path_, ignored}, end; i != end;
         i.increment(ignored))
      if (std::none_of(named_.begin(), named_.end(), [&](auto& run) {
            return name_of(run) == i->path().filename();
          }))
        std::filesystem::remove_all(i->path(), ignored);
  }
  std::shared_ptr<piece_store> of(const std::string& run) const {
    if (path_.empty() || each_ == 0)
      return nullptr;
    const auto place = path_ + "/" + name_of(run);
    auto folder = piece_folder::open(place, each_);
    if (!folder)
      return nullptr;
    if (named_.count(run) != 0)
      return *folder;
    return {folder->get(), [kept = *folder, place](piece_store*) {
              std::error_code ignored;
              std::filesystem::remove_all(place, ignored);
            }};
  }

private:
  static std::string name_of(const std::string& run) {
    return to_string(key_of(run));
  }

  const std::string path_;
  const std::set<std::string> named_;
  const std::uint64_t each_;
};

/// Where this process itself reaches what listens on `bound`.
address from_here(address bound) {
  if (bound.host == "0.0.0.0" || bound.host == "::")
    bound.host = "127.0.0.1";
  return bound;
}

/// Fills in what makes a tenant of each run, and has the bootstrap peer share
/// its ports with them.
expected<run_tenants_config> tenants_from(const cli::command_line& options,
                                          const uv_transport_options& network,
                                          const held_identity& who,
                                          peer_config& bootstrap) {
  run_tenants_config result;
  std::map<std::string, admission_papers> papers;
  for (const auto& word : options.list("run")) {
    auto named = run_named(word, who.directory);
    if (!named)
      return failure{named.error()};
    if (named->manifest)
      bootstrap.manifests[named->run] = named->manifest->to_bytes();
    result.rules.runs.insert(named->run);
    if (!options.flag("any-run"))
      bootstrap.passes_for[named->run] = passed(*named);
    papers[named->run] = papers_for(*named, who.directory, "tenant");
  }
  result.rules.any = options.flag("any-run");
  if (result.rules.runs.count("") != 0)
    return failure{"--run: a run has a name; write --run NAME."};
  if (network.insecure)
    return failure{"With --insecure nobody can tell the peers behind one port "
                   "apart; leave --run and --any-run out."};
  auto memory = bytes_from(options, "max-memory", quarter_of_memory());
  if (!memory)
    return failure{memory.error()};
  result.memory = std::make_shared<memory_allowance>(*memory, *memory / 4);
  auto disk = read_bytes(options.text("max-disk"));
  if (!disk)
    return failure{"--max-disk: " + disk.error()};
  auto folders = std::make_shared<run_folders>(
      who.directory.empty() ? "" : who.directory + "/pieces",
      static_cast<std::uint64_t>(*disk), result.rules);
  auto traffic = bytes_from(options, "monthly-traffic", 0);
  if (!traffic)
    return failure{traffic.error()};
  if (*traffic > 0) {
    if (who.directory.empty())
      return failure{"--monthly-traffic: what a month has had must be kept; "
                     "name a folder with --identity-dir DIR."};
    auto allowance
        = traffic_allowance::open(static_cast<double>(*traffic),
                                  who.directory + "/traffic", local_disk());
    if (!allowance)
      return failure{allowance.error()};
    result.allowance = std::move(*allowance);
    bootstrap.rests = [used_up = result.used_up] { return used_up->load(); };
  }
  auto how = network;
  how.key = who.key;
  auto ports = std::make_shared<shared_ports>(how);
  bootstrap.make_transport
      = [ports] { return make_face(ports->get(), ports->key()); };
  result.traffic = [ports] {
    const auto x = ports->get()->traffic();
    return x.bytes_sent + x.bytes_received;
  };
  result.unix_seconds = [] { return std::int64_t{std::time(nullptr)}; };
  result.make = [ports, announce = bootstrap.announce, memory = result.memory,
                 folders, papers, artifacts = artifacts_directory(options),
                 named = result.rules.runs](const std::string& run,
                                            const address& where) {
    peer_config tenant;
    const auto key = ports->key().derive("tenant of run " + run);
    tenant.self = key.id();
    tenant.signs = signatures_of(key);
    tenant.wall_clock = wall_clock_ms;
    if (named.count(run) != 0)
      memory->favour(tenant.self);
    tenant.role = role::auxiliary;
    tenant.run = run;
    tenant.announce = announce;
    if (auto bound = ports->get()->bound()) {
      if (announce.host.empty() && !where.host.empty())
        tenant.announce = where;
      if (!tenant.announce.host.empty())
        tenant.seeds.push_back(tenant.announce);
      tenant.seeds.push_back(from_here(*bound));
    }
    tenant.make_transport
        = [ports, key] { return make_face(ports->get(), key); };
    tenant.memory = memory;
    tenant.pieces = folders->of(run);
    // Strangers' runs have no place among the operator's own.
    if (named.count(run) != 0)
      tenant.artifacts_folder = artifacts;
    if (auto mine = papers.find(run); mine != papers.end())
      tenant.papers = mine->second;
    tenant.shows_status = false;
    tenant.seed = random_seed();
    tenant.nonce = random_seed;
    return tenant;
  };
  return result;
}

int run_bootstrap(cli::command_line& options, const std::string&) {
  peer_config config;
  config.role = role::bootstrap;
  config.run.clear();
  auto network = fill_network(options, config);
  if (!network)
    return complain(network.error());
  auto who = take_identity(options, *network, config);
  if (!who)
    return complain(who.error());
  auto notices = std::make_shared<notice_board>();
  keep_addresses(config, who->directory, "peers", *notices);
  config.amendments_folder = who->directory;
  std::optional<run_tenants_config> tenants;
  if (options.given("run") || options.flag("any-run")) {
    auto filled = tenants_from(options, *network, *who, config);
    if (!filled)
      return complain(filled.error());
    tenants = std::move(*filled);
  } else if (options.given("monthly-traffic") || options.given("max-memory")
             || options.given("max-disk")) {
    return complain("--monthly-traffic, --max-memory and --max-disk are for "
                    "averaging; say for whom with --run NAME or --any-run.");
  }
  return run_peer(options, std::move(config), std::move(notices),
                  std::move(tenants));
}

} // namespace

command bootstrap_command() {
  cli::command_spec spec;
  spec.name = "bootstrap";
  spec.summary = "Be the first contact of a run's peers; trains nothing";
  spec.usage = "potluck bootstrap [--run RUN]... [OPTION]...";
  spec.options = network_options("[::]:7000");
  for (auto& option : bootstrap_options())
    spec.options.push_back(option);
  return {spec, run_bootstrap};
}

} // namespace potluck::tools
