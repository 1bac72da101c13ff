#include "tools/library/loop_peer.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "runtime/portmap/mapping_keeper.hpp"
#include "runtime/state/atomic_file.hpp"
#include "runtime/state/run_manifest.hpp"
#include "runtime/uv/uv_transport.hpp"
#include "runtime/uv/wall_clock.hpp"
#include "tools/library/complaint.hpp"
#include "tools/potluck/address_file.hpp"
#include "tools/potluck/admission_options.hpp"
#include "tools/potluck/created_run.hpp"
#include "tools/potluck/peer_setup.hpp"

namespace potluck::library {

namespace {

void take_identity(const loop_options& options, const key_pair& key,
                   peer_config& config) {
  config.self = key.id();
  config.signs = signatures_of(key);
  uv_transport_options how;
  how.key = key;
  how.max_upload = options.rate("max-upload");
  how.max_download = options.rate("max-download");
  how.insecure = options.flag("insecure");
  config.upload_bytes_per_second = how.max_upload;
  config.download_bytes_per_second = how.max_download;
  config.make_transport = [how] { return make_uv_transport(how); };
}

void accept_invitation(const loop_options& options,
                       const std::optional<charter>& resumed,
                       const std::string& folder, peer_config& config) {
  const auto& text = options.text("invitation");
  if (text.empty()) {
    config.run = resumed ? resumed->settings().run : options.text("run");
    if (!id_in(config.run).empty())
      throw complaint{"run " + shown_run(config.run)
                      + " was created by somebody; set its invitation"};
    return;
  }
  auto to = read_invitation(text);
  if (!to)
    throw complaint{to.error()}; // Read once before.
  auto run = tools::run_invited(*to, folder);
  if (!run)
    throw complaint{run.error()};
  if (resumed && !is_of_its_run(*resumed, to->organiser))
    throw complaint{"the checkpoint is not of the run that the invitation is "
                    "to; fetch the state from others instead"};
  config.run = to->run();
  if (run->manifest)
    config.manifests[config.run] = run->manifest->to_bytes();
  for (const auto& who : tools::contacts_of(*to))
    if (who.id != config.self) // Nobody else is to be found there.
      tools::add_seeds(config, {who});
  config.papers = tools::papers_for({to->run(), {}, *to}, folder, "");
  if (folder.empty())
    return;
  config.amendments_folder = folder;
  config.kept_states_folder
      = folder + "/" + run_file_name(config.run) + ".states";
}

void write_checkpoints(const loop_options& options,
                       const run_settings& settings, first_state& first,
                       peer_config& config) {
  config.checkpoint_every = options.integer("checkpoint-every");
  const auto path = options.text("checkpoint");
  if (path.empty())
    return;
  if (auto tried = try_file(path); !tried)
    throw complaint{"checkpoint: " + tried.error()};
  config.checkpoints = std::make_shared<checkpoint_files>(
      checkpoint_files::places{path, {}, options.integer("checkpoint-keep")});
  if (first.resumed())
    config.checkpoints->resumes(first.resumed_from(), first.whole(settings));
}

unsigned threads_of(const loop_options& options, const run_settings& settings) {
  const auto threads = options.integer("threads");
  if (threads != 0)
    return static_cast<unsigned>(threads);
  // The loop waits for the step, unless updates are delayed.
  return std::max(1u, std::thread::hardware_concurrency()
                          / (settings.delayed_updates() ? 2 : 1));
}

} // namespace

peer_config loop_peer(const loop_options& options, const run_settings& settings,
                      first_state& first, loop_identity& self,
                      std::vector<std::string>& told) {
  peer_config config;
  config.seed = tools::random_seed();
  config.nonce = tools::random_seed;
  config.wall_clock = wall_clock_ms;
  config.listen = options.listened().front();
  config.also_listen.assign(options.listened().begin() + 1,
                            options.listened().end());
  tools::add_seeds(config, options.peers());
  if (!options.text("announce").empty())
    config.announce = *parse_address(options.text("announce"));
  config.micro_batch = 0;
  config.always_computes = true;
  write_checkpoints(options, settings, first, config);
  config.threads = threads_of(options, settings);
  for (auto& sentence : self.take(options))
    told.push_back(std::move(sentence));
  take_identity(options, *self.key(), config);
  accept_invitation(options, first.resumed(), self.folder(), config);
  tools::notice_board notices;
  tools::keep_addresses(config, self.folder(),
                        run_file_name(config.run) + ".peers", notices);
  for (auto& sentence : notices.take())
    told.push_back(std::move(sentence));
  if (options.flag("port-mapping") && !options.flag("insecure"))
    config.mapper = make_port_mapper();
  config.relays_experts = options.flag("relay-experts");
  return config;
}

} // namespace potluck::library
