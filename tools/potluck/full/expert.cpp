/// `potluck expert`: host experts for those who call them.

#include <algorithm>
#include <thread>

#include "messages/limits.hpp"
#include "models/catalogue.hpp"
#include "models/experts/catalogue.hpp"
#include "runtime/experts/expert_uid.hpp"
#include "runtime/experts/task_pool.hpp"
#include "tools/potluck/address_file.hpp"
#include "tools/potluck/admission_options.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/created_run.hpp"
#include "tools/potluck/peer_options.hpp"
#include "tools/potluck/peer_process.hpp"

namespace potluck::tools {

namespace {

using cli::option_kind;
using cli::option_spec;

std::vector<option_spec> expert_options() {
  return {
      {"layer", option_kind::text, "ffn",
       "What each expert computes: ffn (a feed-forward block), transformer "
       "(one encoder layer) or nop (its inputs, for trying out a network).",
       "KIND"},
      {"grid", option_kind::text, "16x16",
       "How many experts the layer has in each dimension, 1 to 256 each.",
       "SIZES"},
      {"uids", option_kind::list, "",
       "The experts to host: the layer's name and a number, a range or * for "
       "each dimension, for instance 'ffn.0-3.*'.",
       "PATTERN"},
      {"hidden", option_kind::integer, "1024", "Values of a token.", "NUMBER",
       cli::between(1, 65536)},
      {"inner", option_kind::integer, "0",
       "Values inside an expert; 0: four times --hidden.", "NUMBER",
       cli::between(0, 1 << 20)},
      {"heads", option_kind::integer, "4", "Attention heads of a transformer.",
       "NUMBER", cli::between(1, 1024)},
      {"tokens", option_kind::integer, "1",
       "Tokens of a sample, for layers that mix them.", "NUMBER",
       cli::between(1, 65536)},
      {"learning-rate", option_kind::real, "0.001",
       "Of the experts' own optimizer.", "RATE", cli::between(0, 10)},
      {"init-seed", option_kind::integer, "1",
       "Experts start with parameters drawn from it; all hosts of a layer need "
       "the same.",
       "NUMBER", cli::at_least(0)},
      {"run", option_kind::text, "potluck", "The run that they belong to.",
       "NAME"},
      {"state-dir", option_kind::text, "",
       "Keep here what the experts have learnt (default: experts/RUN in the "
       "identity directory).",
       "DIR"},
      {"save-every", option_kind::integer, "64",
       "Updates of an expert between two saves, here and on two other hosts; "
       "one is made every minute besides.",
       "UPDATES", cli::between(1, 1e9)},
      {"spare", option_kind::integer, "-1",
       "How many experts of hosts that vanish or leave this one takes over; "
       "-1: as many as its own.",
       "NUMBER", cli::between(-1, limits::experts_hosted)},
      {"threads", option_kind::integer, "0",
       "Threads that the experts compute with; 0 for half the cores.", "NUMBER",
       cli::between(0, 1024)},
      {"device", option_kind::text, "auto",
       "Where experts are computed: cpu, cuda, cuda:N, or auto for cuda where "
       "there is one.",
       "NAME"},
      relay_experts_option(),
      {"batch", option_kind::integer, std::to_string(limits::expert_batch),
       "Samples computed at once at most.", "SAMPLES",
       cli::between(1, limits::expert_batch)},
  };
}

expected<bool> fill_kind(const cli::command_line& options, expert_kind& kind) {
  kind.layer = options.text("layer");
  for (auto [name, field] :
       {std::pair{"hidden", &kind.hidden}, std::pair{"inner", &kind.inner},
        std::pair{"heads", &kind.heads}, std::pair{"tokens", &kind.tokens}})
    *field = static_cast<std::uint32_t>(options.integer(name));
  if (auto problem = problem_with(kind); !problem.empty())
    return failure{"--layer: " + problem};
  kind.learning_rate = options.real("learning-rate");
  return true;
}

expected<bool> fill_experts(const cli::command_line& options,
                            expert_hosting& hosting) {
  auto kind = fill_kind(options, hosting.kind);
  if (!kind)
    return failure{kind.error()};
  auto grid = parse_expert_grid(options.text("grid"));
  if (!grid)
    return failure{"--grid: " + grid.error()};
  if (options.list("uids").empty())
    return failure{"Name the experts to host with --uids, for instance --uids "
                   "'ffn.0-3.*'."};
  for (auto& pattern : options.list("uids")) {
    auto uids = experts_of_pattern(pattern, *grid);
    if (!uids)
      return failure{"--uids: " + uids.error()};
    hosting.uids.insert(hosting.uids.end(), uids->begin(), uids->end());
  }
  if (hosting.uids.size() > limits::experts_hosted)
    return failure{"--uids means " + std::to_string(hosting.uids.size())
                   + " experts; one host has at most "
                   + std::to_string(limits::experts_hosted) + "."};
  hosting.save_every
      = static_cast<std::uint64_t>(options.integer("save-every"));
  hosting.bounds.pool.most_samples
      = static_cast<std::uint32_t>(options.integer("batch"));
  hosting.seed = static_cast<std::uint64_t>(options.integer("init-seed"));
  if (auto spare = options.integer("spare"); spare >= 0)
    hosting.spare = static_cast<std::size_t>(spare);
  return true;
}

expected<expert_factory> factory_of(const cli::command_line& options) {
  auto threads = static_cast<int>(options.integer("threads"));
  auto device = options.text("device");
  if (auto problem = problem_with_device(device); !problem.empty())
    return failure{"--device: " + problem};
  auto cores = std::max(1u, std::thread::hardware_concurrency());
  return make_expert_factory(
      device, threads != 0 ? threads : static_cast<int>((cores + 1) / 2));
}

int run_expert(cli::command_line& options, const std::string&) {
  peer_config config;
  config.role = role::expert;
  auto invited = invitation_from(options);
  if (!invited)
    return complain(invited.error());
  config.run = *invited ? (*invited)->run() : options.text("run");
  if (config.run.empty() || config.run.size() > max_run_bytes)
    return complain("--run must name a run in 1 to 255 bytes.");
  expert_hosting hosting;
  auto experts = fill_experts(options, hosting);
  if (!experts)
    return complain(experts.error());
  auto factory = factory_of(options);
  if (!factory)
    return complain(factory.error());
  hosting.make = std::move(*factory);
  auto network = fill_network(options, config);
  if (!network)
    return complain(network.error());
  if (*invited)
    add_seeds(config, contacts_of(**invited));
  if (config.seeds.empty())
    return complain("A host of experts joins others; give it an invitation, or "
                    "name a peer of the run with --peer HOST:PORT.");
  config.relays_experts = options.flag("relay-experts");
  auto who = take_identity(options, *network, config);
  if (!who)
    return complain(who.error());
  if (*invited) {
    auto papers = fill_papers(options, **invited, who->directory, config);
    if (!papers)
      return complain(papers.error());
  }
  auto directory = options.text("state-dir");
  if (directory.empty() && !who->directory.empty())
    directory = who->directory + "/experts/" + run_file_name(config.run);
  if (!directory.empty()) {
    auto shelf = [&](const std::string& name) {
      return std::make_shared<expert_shelf>(directory + name);
    };
    hosting.shelves = {shelf(""), shelf("/adopted"), shelf("/replicas")};
  }
  config.experts = std::move(hosting);
  auto notices = std::make_shared<notice_board>();
  keep_addresses(config, who->directory, run_file_name(config.run) + ".peers",
                 *notices);
  return run_peer(options, std::move(config), std::move(notices));
}

} // namespace

command expert_command() {
  cli::command_spec spec;
  spec.name = "expert";
  spec.summary = "Host experts that other peers call and teach";
  spec.usage = "potluck expert [INVITATION] --uids PATTERN "
               "[--peer HOST:PORT]... [OPTION]...";
  spec.positionals = 1;
  spec.options = expert_options();
  for (auto& option : admission_options())
    spec.options.push_back(option);
  for (auto& option : network_options())
    spec.options.push_back(option);
  return {spec, run_expert};
}

} // namespace potluck::tools
