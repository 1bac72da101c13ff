#include "tools/potluck/peer_options.hpp"

#include <algorithm>
#include <chrono>

#include <unistd.h>

#include "runtime/lines/rate.hpp"
#include "runtime/portmap/mapping_keeper.hpp"
#include "tools/potluck/commands.hpp"

namespace potluck::tools {

namespace {

/// Bytes per second below which heartbeats and reports alone would be late:
/// 64 kbit/s.
constexpr double least_cap = 8000;

using cli::option_kind;
using cli::option_spec;

/// Where --listen says, at least one.
expected<std::vector<address>> listened_from(const cli::command_line& options) {
  std::vector<address> result;
  for (auto& text : options.list("listen")) {
    auto where = parse_address(text);
    if (!where)
      return failure{"--listen: " + where.error()};
    result.push_back(*where);
  }
  if (result.empty())
    return failure{"--listen: give an address, for instance 0.0.0.0:7000."};
  return result;
}

} // namespace

std::string identity_directory(const cli::command_line& options) {
  return options.given("identity-dir") ? options.text("identity-dir")
                                       : default_identity_directory();
}

expected<std::filesystem::path> key_file(const cli::command_line& options,
                                         const std::string& name,
                                         const std::string& usual) {
  const std::filesystem::path file
      = options.given(name) ? options.text(name) : usual;
  if (!file.has_filename())
    return failure{"--" + name + ": name a file."};
  return std::filesystem::absolute(file);
}

std::string artifacts_directory(const cli::command_line& options) {
  const auto directory = identity_directory(options);
  return directory.empty() ? "" : directory + "/artifacts";
}

option_spec artifact_option() {
  return {"artifact", option_kind::list, "",
          "A file of up to 256 MiB that the run's trainers need, under this "
          "name: they fetch it from each other before they train, by its "
          "SHA-256. Who joins a run that has it may give its own copy. Repeat "
          "it for up to 16.",
          "NAME=FILE"};
}

expected<own_artifacts> artifacts_from(const cli::command_line& options) {
  own_artifacts result;
  for (const auto& text : options.list("artifact"))
    if (auto added = add_own_artifact(result, text); !added)
      return failure{"--artifact: " + added.error() + "."};
  return result;
}

std::vector<option_spec> network_options(const std::string& listen) {
  return {
      {"listen", option_kind::list, listen,
       "Accept other peers on this address; port 0 takes any free one. Others "
       "are told of the first only; the rest are for those who can reach "
       "nothing else, for instance port 443.",
       "HOST:PORT"},
      {"peer", option_kind::list, "",
       "A peer to contact first; repeat it for more of them. With its id in "
       "front nobody else may answer there.",
       "[ID@]HOST:PORT"},
      {"announce", option_kind::text, "",
       "Tell others to reach this peer here, where they cannot see it "
       "themselves (port forwarding).",
       "HOST:PORT"},
      {"no-port-mapping", option_kind::flag, "",
       "Do not ask the home's router to open a port (NAT-PMP, UPnP) when "
       "nobody "
       "can connect to this peer.",
       ""},
      {"dial-from", option_kind::text, "",
       "Dial others from this address of this machine, where it has several.",
       "HOST"},
      {"max-upload", option_kind::text, "",
       "Send no more than this, for instance 10mbit or 500kB; everything else "
       "at home keeps the rest of the line.",
       "RATE"},
      {"max-download", option_kind::text, "",
       "Receive no more than this, likewise.", "RATE"},
      {"identity-dir", option_kind::text, "",
       "Keep this peer's identity here; every peer on one machine needs its "
       "own (default: potluck in the user's state directory).",
       "DIR"},
      {"insecure", option_kind::flag, "",
       "For measuring on this machine only: neither encrypt nor prove who is "
       "who. Listens on and dials nothing but loopback addresses.",
       ""},
      {"log-json", option_kind::text, "",
       "Append one JSON object a line and event to this file.", "FILE"},
  };
}

option_spec relay_experts_option() {
  return {
      "relay-experts", option_kind::flag, "",
      "Let calls of experts pass through hubs, at their owners' cost, where "
      "the other end allows it as well; else they take direct lines only.",
      ""};
}

expected<double> cap_from(const cli::command_line& options,
                          const std::string& name) {
  auto text = options.text(name);
  if (text.empty())
    return 0.0;
  auto rate = read_rate(text);
  if (!rate)
    return failure{"--" + name + ": " + rate.error()};
  if (*rate < least_cap)
    return failure{"--" + name + ": " + text
                   + " is too little to take part; give it 64kbit at least."};
  return *rate;
}

expected<std::uint64_t> bytes_from(const cli::command_line& options,
                                   const std::string& name,
                                   std::uint64_t otherwise) {
  if (!options.given(name))
    return otherwise;
  auto bytes = read_bytes(options.text(name));
  if (!bytes)
    return failure{"--" + name + ": " + bytes.error()};
  return static_cast<std::uint64_t>(std::min(*bytes, 1e18));
}

std::uint64_t quarter_of_memory() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES))
         * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 4;
}

expected<std::vector<contact>> seeds_from(const cli::command_line& options) {
  std::vector<contact> seeds;
  for (auto& text : options.list("peer")) {
    auto who = parse_contact(text);
    if (!who)
      return failure{"--peer: " + who.error()};
    seeds.push_back(std::move(*who));
  }
  return seeds;
}

expected<uv_transport_options> fill_network(const cli::command_line& options,
                                            peer_config& config) {
  auto listen = listened_from(options);
  if (!listen)
    return failure{listen.error()};
  config.listen = listen->front();
  config.also_listen.assign(listen->begin() + 1, listen->end());
  auto seeds = seeds_from(options);
  if (!seeds)
    return failure{seeds.error()};
  add_seeds(config, *seeds);
  if (options.given("announce")) {
    auto where = parse_address(options.text("announce"));
    if (!where)
      return failure{"--announce: " + where.error()};
    config.announce = *where;
  }
  uv_transport_options how;
  how.dial_from = options.text("dial-from");
  if (!how.dial_from.empty() && !is_numeric_host(how.dial_from))
    return failure{"--dial-from: '" + how.dial_from
                   + "' is no numeric address, as 192.0.2.7 is."};
  auto upload = cap_from(options, "max-upload");
  auto download = cap_from(options, "max-download");
  if (!upload || !download)
    return failure{upload ? download.error() : upload.error()};
  how.max_upload = *upload;
  how.max_download = *download;
  how.insecure = options.flag("insecure");
  config.seed = random_seed();
  config.nonce = random_seed;
  config.wall_clock = wall_clock_ms;
  if (!options.flag("no-port-mapping"))
    config.mapper = make_port_mapper();
  return how;
}

expected<held_identity> take_identity(const cli::command_line& options,
                                      uv_transport_options how,
                                      peer_config& config) {
  held_identity result;
  const auto directory = identity_directory(options);
  if (directory.empty() && options.given("identity-dir"))
    return failure{"--identity-dir: name a folder."};
  if (directory.empty()) {
    complain("Using a temporary identity, since neither HOME nor "
             "XDG_STATE_HOME is set; name a folder with --identity-dir.");
  } else {
    auto held = identity::open(directory);
    if (held) {
      result.key = held->key();
      result.directory = directory;
      result.lock = std::move(*held);
    } else if (options.given("identity-dir")) {
      return failure{held.error()};
    } else {
      complain("Using a temporary identity, since " + held.error());
    }
  }
  if (!result.key)
    result.key = key_pair::generate();
  config.self = result.key->id();
  config.signs = signatures_of(*result.key);
  how.key = result.key;
  config.make_transport = [how] { return make_uv_transport(how); };
  return result;
}

} // namespace potluck::tools
