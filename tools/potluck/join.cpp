/// `potluck join`: take part in a run that somebody created, or in a trial,
/// which its first peers found.

#include <algorithm>
#include <thread>

#include "tools/potluck/address_file.hpp"
#include "tools/potluck/admission_options.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/created_run.hpp"
#include "tools/potluck/join_checkpoints.hpp"
#include "tools/potluck/join_trainer.hpp"
#include "tools/potluck/peer_options.hpp"
#include "tools/potluck/peer_process.hpp"
#include "tools/potluck/settings_options.hpp"
#include "tools/potluck/starting_point.hpp"

namespace potluck::tools {

namespace {

using cli::option_kind;
using cli::option_spec;

constexpr double bytes_per_megabit = 1e6 / 8;

std::vector<option_spec> join_options() {
  return {
      {"data", option_kind::text, "",
       "What to train on: a UTF-8 text or a folder of them; for the mnist "
       "models a folder with MNIST's files, or digits for drawn ones.",
       "PATH"},
      {"role", option_kind::text, "trainer",
       "What this peer does: trainer, or auxiliary (averages for others, "
       "computes nothing, needs no data).",
       "ROLE"},
      from_option(),
      {"max-model", option_kind::text, "",
       "The largest model that a run may make this peer hold: its parameters "
       "and what the optimizer keeps of them, for instance 2GB; for an "
       "auxiliary peer, what averaging may hold (default: a quarter of this "
       "machine's memory).",
       "SIZE"},
      artifact_option(),
      {"max-artifacts", option_kind::text, "",
       "The most of this machine's disk that runs' artifacts may take, for "
       "instance 500MB; a run that has more is not joined, and what was used "
       "longest ago goes first (default: 2GB).",
       "SIZE"},
      {"micro-batch", option_kind::integer, "0",
       "Samples computed between two looks at the others; 0 for what suits the "
       "model.",
       "SAMPLES", cli::between(0, 65536)},
      {"in-flight", option_kind::integer, "8",
       "Micro-batches that wait for experts at once, in models that call them.",
       "NUMBER", cli::between(1, 256)},
      relay_experts_option(),
      {"threads", option_kind::integer, "0",
       "Threads that compute; 0 for half of the cores, so that the machine "
       "stays usable.",
       "NUMBER", cli::between(0, 1024)},
      {"device", option_kind::text, "auto",
       "Where to compute: cpu, cuda, cuda:N for the card with number N, or "
       "auto "
       "(cuda where there is one that can be used).",
       "DEVICE"},
      {"precision", option_kind::text, "float32",
       "What to compute in: float32, bf16, or, on a card, fp16; a choice of "
       "this peer's own, since gradients are float32 in any case.",
       "NAME"},
      {"upload", option_kind::real, "0",
       "What this line sends, in Mbit/s; 0: measured.", "MBIT",
       cli::between(0, 1e6)},
      {"download", option_kind::real, "0",
       "What this line receives, in Mbit/s; 0: measured.", "MBIT",
       cli::between(0, 1e6)},
      {"always-compute", option_kind::flag, "",
       "Compute gradients even where the run is faster without this machine's: "
       "its line is so thin that the others would wait for them.",
       ""},
      {"shard", option_kind::text, "",
       "For experiments: compute the K-th of N equal parts of every batch in "
       "one order shared by all, so that N peers do exactly what one would.",
       "K/N"},
  };
}

/// "K/N" with K from 0 to N-1.
expected<data_order> parse_shard(const std::string& text) {
  data_order order;
  order.shared = true;
  auto slash = text.find('/');
  try {
    std::size_t used = 0;
    auto shard = std::stoul(text.substr(0, slash), &used);
    auto whole = slash != std::string::npos && used == slash;
    auto behind = whole ? text.substr(slash + 1) : "";
    auto shards = std::stoul(behind, &used);
    if (whole && used == behind.size() && shard < shards && shards <= 65536) {
      order.shard = static_cast<std::uint32_t>(shard);
      order.shards = static_cast<std::uint32_t>(shards);
      return order;
    }
  } catch (const std::exception&) {
    // Said below.
  }
  return failure{"--shard: '" + text
                 + "' is not a part of a batch; write K/N with K from 0 to "
                   "N-1, for instance 0/4."};
}

expected<bool> fill_training(const cli::command_line& options,
                             const std::optional<invitation>& invited,
                             peer_config& config,
                             const std::shared_ptr<notice_board>& notices) {
  for (auto name : {"admission", "authority", "vouchers"})
    if (options.given(name))
      return failure{"--" + std::string{name}
                     + ": whom a run admits its organiser says, with `potluck "
                       "create`; a trial admits everybody."};
  if (invited && options.given("run"))
    return failure{"The invitation says which run it is; leave --run out."};
  auto settings = settings_from(options);
  if (!settings)
    return failure{settings.error()};
  config.run = invited ? invited->run() : settings->run;
  if (!invited && !id_in(config.run).empty())
    return failure{"--run: run " + shown_run(config.run)
                   + " was created by somebody; join it with its "
                     "invitation."};
  config.demanded = demanded_settings(options);
  auto cores = std::max(1u, std::thread::hardware_concurrency());
  auto threads = options.integer("threads");
  if (threads == 0)
    threads = std::max(1u, cores / 2);
  config.threads = static_cast<unsigned>(threads);
  config.micro_batch
      = static_cast<std::uint32_t>(options.integer("micro-batch"));
  config.always_computes = options.flag("always-compute");
  config.checkpoint_every
      = static_cast<std::uint64_t>(options.integer("checkpoint-every"));
  config.upload_bytes_per_second = options.real("upload") * bytes_per_megabit;
  config.download_bytes_per_second
      = options.real("download") * bytes_per_megabit;
  // A line is no faster than its cap.
  for (auto [name, stated] :
       {std::pair{"max-upload", &config.upload_bytes_per_second},
        std::pair{"max-download", &config.download_bytes_per_second}}) {
    auto cap = cap_from(options, name);
    if (!cap)
      return failure{cap.error()};
    if (*cap > 0 && *stated > *cap)
      *stated = *cap;
  }
  auto artifacts = artifacts_from(options);
  if (!artifacts)
    return failure{artifacts.error()};
  config.own_artifacts = std::move(*artifacts);
  config.artifacts_folder = artifacts_directory(options);
  auto room = bytes_from(options, "max-artifacts", usual_max_artifacts);
  if (!room)
    return failure{room.error()};
  config.max_artifacts = *room;
  if (options.given("shard")) {
    auto order = parse_shard(options.text("shard"));
    if (!order)
      return failure{order.error()};
    config.order = *order;
  }
  if (config.role == role::auxiliary) {
    auto most = bytes_from(options, "max-model", quarter_of_memory());
    if (!most)
      return failure{most.error()};
    config.memory = std::make_shared<memory_allowance>(*most);
  } else if (auto done = fill_trainer(options, config, *settings, notices);
             !done) {
    return done;
  }
  return resume(options, invited, config, *notices);
}

/// Has it join a run that was created, and found none.
expected<bool> accept(const invitation& to, const std::string& directory,
                      peer_config& config, notice_board& notices) {
  auto run = run_invited(to, directory);
  if (!run)
    return failure{run.error()};
  if (run->manifest)
    config.manifests[run->run] = run->manifest->to_bytes();
  else // Others have it: a checkpoint's charter has no signature.
    config.known.reset();
  config.propose = nullptr;
  if (auto first = take_first_state(directory, config); !first)
    return failure{first.error()};
  // Where this peer is meant itself, nobody else is to be found.
  auto& seeds = config.seeds;
  for (const auto& who : to.contacts)
    if (who.id == config.self)
      seeds.erase(std::remove(seeds.begin(), seeds.end(), who.where),
                  seeds.end());
  notices.post("This is an invitation to run " + shown_run(run->run)
               + ", whose organiser has the key "
               + short_name(id_of(to.organiser)) + ".");
  return true;
}

int run_join(cli::command_line& options, const std::string&) {
  peer_config config;
  auto invited = invitation_from(options);
  if (!invited)
    return complain(invited.error());
  auto wanted = options.text("role");
  if (wanted == "auxiliary")
    config.role = role::auxiliary;
  else if (wanted != "trainer")
    return complain("--role: '" + wanted
                    + "' is not a role; write trainer or auxiliary.");
  auto network = fill_network(options, config);
  if (!network)
    return complain(network.error());
  if (*invited)
    add_seeds(config, contacts_of(**invited));
  auto notices = std::make_shared<notice_board>();
  auto training = fill_training(options, *invited, config, notices);
  if (!training)
    return complain(training.error());
  if (config.role == role::auxiliary && config.seeds.empty())
    return complain("An auxiliary peer cannot found a run; give it an "
                    "invitation, or name a peer of the run with --peer "
                    "HOST:PORT.");
  auto who = take_identity(options, *network, config);
  if (!who)
    return complain(who.error());
  if (*invited) {
    auto accepted = accept(**invited, who->directory, config, *notices);
    if (!accepted)
      return complain(accepted.error());
    auto papers = fill_papers(options, **invited, who->directory, config);
    if (!papers)
      return complain(papers.error());
  } else if (id_in(config.run).empty()) {
    notices->post("Run '" + config.run
                  + "' is a trial: whoever names it may found it, with "
                    "settings of their own. `potluck create` makes a run that "
                    "is joined by invitation.");
  }
  const auto file = run_file_name(config.run);
  keep_addresses(config, who->directory, file + ".peers", *notices);
  if (!id_in(config.run).empty() && !who->directory.empty()) {
    config.amendments_folder = who->directory;
    config.kept_states_folder = who->directory + "/" + file + ".states";
  }
  if (config.role == role::trainer) {
    auto kept
        = place_checkpoints(options, who->directory, file, config, *notices);
    if (!kept)
      return complain(kept.error());
  }
  return run_peer(options, std::move(config), std::move(notices));
}

} // namespace

command join_command() {
  cli::command_spec spec;
  spec.name = "join";
  spec.summary = "Train with others, by invitation or in a trial";
  spec.usage = "potluck join INVITATION --data PATH [OPTION]...\n"
               "       potluck join --run NAME --data PATH "
               "[--peer HOST:PORT]... [OPTION]...";
  spec.positionals = 1;
  spec.notes = "An INVITATION is what `potluck create` prints. With --run a "
               "trial at home is\njoined, which its first trainer founds with "
               "the settings that it is given.\n";
  spec.options = join_options();
  for (auto& option : checkpoint_options())
    spec.options.push_back(option);
  for (auto& option : admission_options())
    spec.options.push_back(option);
  for (auto& option : network_options())
    spec.options.push_back(option);
  for (auto& option : settings_options())
    spec.options.push_back(option);
  return {spec, run_join};
}

} // namespace potluck::tools
