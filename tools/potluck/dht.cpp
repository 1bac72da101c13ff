/// `potluck dht`: what the DHT holds, for people.

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <optional>

#include "messages/codec.hpp"
#include "runtime/dht/record_rules.hpp"
#include "runtime/manifest/invitation.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/created_run.hpp"
#include "tools/potluck/dht_visit.hpp"
#include "tools/potluck/peer_options.hpp"

namespace potluck::tools {

namespace {

struct named_kind {
  const char* name;
  record_kind kind;
};
constexpr named_kind kinds[] = {
    {"progress", record_kind::progress},
    {"bootstrap", record_kind::bootstrap},
    {"expert-host", record_kind::expert_host},
    {"replica", record_kind::replica},
    {"host-notice", record_kind::host_notice},
    {"coordinates", record_kind::coordinates},
};

std::string name_of(record_kind x) {
  for (auto& k : kinds)
    if (k.kind == x)
      return k.name;
  return "unknown";
}

/// The 64 hex digits of a point, or a text whose digest is the key.
record_key key_from(const std::string& text) {
  if (auto key = parse_id<record_key>(text))
    return *key;
  return key_of(text);
}

std::string hex(const std::string& bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string result;
  for (unsigned char x : bytes) {
    result += digits[x >> 4];
    result += digits[x & 15];
  }
  return result;
}

std::optional<std::string> bytes_from(const std::string& text) {
  std::string result;
  if (text.size() % 2 != 0)
    return std::nullopt;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    unsigned value = 0;
    char rest = 0;
    const auto two = text.substr(i, 2);
    if (two.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos
        || std::sscanf(two.c_str(), "%x%c", &value, &rest) != 1)
      return std::nullopt;
    result += static_cast<char>(value);
  }
  return result;
}

std::string seconds_text(std::int64_t ms) {
  return std::to_string(ms / 1000) + "." + std::to_string(ms % 1000 / 100)
         + " s";
}

/// What the owner says, in a few words. Nothing of it is free text.
std::string told_by(const dht_record& x) {
  const auto at = [](const address& where) {
    return where.host.empty() || where.port == 0 ? std::string{"nowhere"}
                                                 : to_string(where);
  };
  if (auto report = decode_progress(x.value))
    return to_string(report->role) + " at " + at(report->where)
           + (report->role == role::bootstrap
                  ? ""
                  : ", step " + std::to_string(report->step) + ", "
                        + to_string(report->phase));
  if (x.kind == record_kind::expert_host || x.kind == record_kind::replica)
    if (auto hosted = decode_announcement(x.value))
      return "at " + at(hosted->host.where) + ", version "
             + std::to_string(hosted->version);
  return hex(x.value);
}

std::string line_of(const seen_record& seen, const dht_finding& found) {
  const auto& x = seen.record;
  const auto age = std::max<std::int64_t>(
      0, static_cast<std::int64_t>(wall_clock_ms())
             - static_cast<std::int64_t>(x.seal.number));
  peer_id owner;
  std::copy(x.subkey.begin(), x.subkey.end(), owner.bytes.begin());
  std::string paths;
  for (auto path : seen.paths)
    paths += " " + std::to_string(path);
  return short_name(owner) + "  " + name_of(x.kind) + ": " + told_by(x)
         + "; signed " + seconds_text(age) + " ago, lives "
         + seconds_text(static_cast<std::int64_t>(x.lives_ms))
         + " more; named by " + std::to_string(seen.nodes) + " of "
         + std::to_string(found.answers)
         + (paths.empty() ? "" : ", paths" + paths);
}

int show(const dht_finding& found, const std::string& what) {
  for (auto& x : found.records)
    std::cout << line_of(x, found) << "\n";
  std::cout << found.records.size()
            << (found.records.size() == 1 ? " record" : " records") << " of "
            << what << ", as " << found.answers << " of " << found.asked
            << " nodes say" << std::endl;
  return found.answers == 0 ? failed : all_well;
}

expected<dht_record> record_from(const std::vector<std::string>& words) {
  dht_record x;
  x.key = key_from(words[1]);
  for (auto& k : kinds)
    if (words[2] == k.name)
      x.kind = k.kind;
  const auto* rule = rule_of(x.kind);
  if (rule == nullptr)
    return failure{"'" + words[2]
                   + "' is no kind of records; write progress, bootstrap, "
                     "expert-host, replica, host-notice or coordinates."};
  auto value = bytes_from(words[3]);
  if (!value)
    return failure{"'" + words[3]
                   + "' is no value; write its bytes as pairs of hex digits, "
                     "as 0102ff."};
  x.value = std::move(*value);
  x.lives_ms = static_cast<std::uint32_t>(rule->longest_life.count());
  return x;
}

int run_dht(cli::command_line& options, const std::string&) {
  const auto& words = options.positionals();
  const auto verb = words.empty() ? "" : words[0];
  const auto wanted = verb == "get" || verb == "peers" ? 2u
                      : verb == "put"                  ? 4u
                                                       : 0u;
  if (wanted == 0 || words.size() != wanted)
    return complain("Say `potluck dht get KEY`, `potluck dht peers RUN` or "
                    "`potluck dht put KEY KIND HEX`.");
  auto seeds = seeds_from(options);
  if (!seeds)
    return complain(seeds.error());
  std::string run_key;
  if (verb == "peers") {
    if (is_invitation(words[1])) {
      auto to = read_invitation(words[1]);
      if (!to)
        return complain(to.error());
      seeds->insert(seeds->end(), to->contacts.begin(), to->contacts.end());
    }
    auto named = run_named(words[1], identity_directory(options));
    if (!named)
      return complain(named.error());
    run_key = named->run;
  }
  if (seeds->empty())
    return complain("Name a peer of the DHT with --peer HOST:PORT.");
  uv_transport_options how;
  how.insecure = options.flag("insecure");
  std::optional<held_identity> who;
  std::optional<dht_record> record;
  if (verb == "put") {
    auto x = record_from(words);
    if (!x)
      return complain(x.error());
    record = std::move(*x);
    peer_config config;
    auto held = take_identity(options, how, config);
    if (!held)
      return complain(held.error());
    who = std::move(*held);
    how.key = who->key;
  } else {
    how.key = key_pair::generate();
  }
  dht_visitor visitor{how};
  if (auto there = visitor.enter(*seeds); !there)
    return complain(there.error(), failed);
  if (record) {
    auto kept = visitor.put(std::move(*record));
    if (!kept)
      return complain(kept.error());
    std::cout << *kept << (*kept == 1 ? " node keeps" : " nodes keep")
              << " it, signed by " << short_name(how.key->id()) << std::endl;
    return *kept == 0 ? failed : all_well;
  }
  if (verb == "peers")
    return show(visitor.get(key_of("run/" + run_key)),
                "run '" + shown_run(run_key) + "'");
  return show(visitor.get(key_from(words[1])), "'" + words[1] + "'");
}

} // namespace

command dht_command() {
  cli::command_spec spec;
  spec.name = "dht";
  spec.summary = "Look into the DHT: who is announced, by whom, how long ago";
  spec.usage = "potluck dht get KEY | peers RUN | put KEY KIND HEX "
               "--peer HOST:PORT [OPTION]...";
  spec.positionals = 4;
  for (auto& x : network_options())
    if (x.name == "peer" || x.name == "identity-dir" || x.name == "insecure")
      spec.options.push_back(x);
  spec.notes
      = "KEY is 64 hex digits, or the text that they are the digest of, as "
        "'bootstraps' and\n'run/NAME'. RUN is an invitation or a run's name. "
        "`put` signs with the identity's\nkey, and what it stores lives as "
        "long as records of its KIND do, a few minutes at most.\n"
        "Exit status: 0; 1 when no node answers or keeps the record.\n";
  return {spec, run_dht};
}

} // namespace potluck::tools
