#include "tools/potluck/admission_options.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>

#include "messages/limits.hpp"
#include "runtime/organiser/kept_amendments.hpp"
#include "runtime/state/atomic_file.hpp"
#include "runtime/state/run_manifest.hpp"

namespace potluck::tools {

namespace {

using cli::option_kind;

/// At most `most` bytes of a file; nothing where there is none.
std::string first_bytes(const std::string& path, std::size_t most) {
  std::ifstream file{path, std::ios::binary};
  std::string bytes(most, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(most));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

} // namespace

std::vector<cli::option_spec> admission_options() {
  return {
      {"claim", option_kind::text, "",
       "What the run's authority wants to know, a log-in for instance, is in "
       "this file (2048 bytes at most).",
       "FILE"},
      {"delegation", option_kind::text, "",
       "This machine is of somebody whom the authority admits: what `potluck "
       "delegate` has printed for it.",
       "TEXT"},
  };
}

expected<admission_rules> rules_of(const manifest& x) {
  auto what = charter_of(x);
  return what ? admission_rules_of(what->settings())
              : expected<admission_rules>{failure{what.error()}};
}

std::vector<contact> contacts_of(const invitation& x) {
  auto result = x.contacts;
  if (!x.authority.id.empty()
      && std::find(result.begin(), result.end(), x.authority) == result.end())
    result.push_back(x.authority);
  return result;
}

admission_papers papers_for(const named_run& run, const std::string& directory,
                            const std::string& as) {
  admission_papers result;
  if (run.invited) {
    result.authority = run.invited->authority;
    result.claim.code = run.invited->code;
  } else if (run.manifest) {
    if (auto rules = rules_of(*run.manifest))
      result.authority = rules->authority;
  }
  if (directory.empty() || result.authority.id.empty())
    return result;
  result.path = directory + "/" + run_file_name(run.run)
                + (as.empty() ? "" : "." + as) + ".admission";
  result.kept = read_kept_admission(
      first_bytes(result.path, kept_admission::most_bytes));
  return result;
}

expected<bool> fill_papers(const cli::command_line& options,
                           const invitation& to, const std::string& directory,
                           peer_config& config) {
  config.papers = papers_for({to.run(), {}, to}, directory, "");
  auto& claim = config.papers.claim;
  if (options.given("claim")) {
    const auto path = options.text("claim");
    claim.words = first_bytes(path, max_claim_words + 1);
    if (claim.words.empty() || claim.words.size() > max_claim_words)
      return failure{"--claim: " + path + " must be a file of 1 to "
                     + std::to_string(max_claim_words) + " bytes."};
  }
  if (options.given("delegation")) {
    auto of = read_delegation(options.text("delegation"));
    if (!of)
      return failure{"--delegation: " + of.error()};
    if (of->machine != config.self)
      return failure{"--delegation: it is for machine " + to_string(of->machine)
                     + ", and this one is " + to_string(config.self)
                     + "; have one made with `potluck delegate "
                     + to_string(config.self) + "`."};
    claim.of = std::move(*of);
  }
  return true;
}

passed_run passed(const named_run& x) {
  if (x.manifest)
    if (auto agreed = charter_of(*x.manifest))
      if (auto rules = admission_rules_of(agreed->settings()))
        return {*rules, signers_of(*x.manifest, agreed->settings()).keys};
  if (x.invited && !x.invited->authority.id.empty())
    return {{admission_rules::mode::token, x.invited->authority, true},
            {x.invited->organiser}};
  return {};
}

expected<std::chrono::milliseconds> read_life(const std::string& text) {
  std::uint64_t number = 0;
  const auto end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, number);
  const std::string unit{rest, end};
  const std::uint64_t seconds = unit == "s"     ? 1
                                : unit == "min" ? 60
                                : unit == "h"   ? 3600
                                : unit == "d"   ? 86400
                                                : 0;
  constexpr std::uint64_t most = 100 * 366 * std::uint64_t{86400};
  if (problem != std::errc{} || seconds == 0 || number == 0
      || number > most / seconds)
    return failure{"'" + text
                   + "' is no length of time; write 90s, 30min, 12h or 7d."};
  return std::chrono::milliseconds{1000 * number * seconds};
}

} // namespace potluck::tools
