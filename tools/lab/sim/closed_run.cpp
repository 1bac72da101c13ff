#include "tools/lab/sim/closed_run.hpp"

#include <stdexcept>

#include "runtime/organiser/kept_amendments.hpp"
#include "runtime/state/run_manifest.hpp"

namespace potluck::simulation {

namespace {

/// So short that a run of some minutes sees renewals.
constexpr std::uint64_t token_ms = 120'000;
constexpr std::uint64_t grant_ms = 86'400'000;

/// Always the same: one seed is one history.
const char organisers_key[]
    = "-----BEGIN PRIVATE KEY-----\n"
      "MC4CAQAwBQYDK2VwBCIEICySLaILfXbyO8obz4KYG3nl8xqNxfiaJgqLXCEVn1Ok\n"
      "-----END PRIVATE KEY-----\n";

const invite_code& code() {
  static const auto all = [] {
    invite_code x;
    x.bytes.fill(7);
    return x;
  }();
  return all;
}

template <class T>
T sound(expected<T> x) {
  if (!x)
    throw std::runtime_error{"run: " + x.error()};
  return std::move(*x);
}

} // namespace

closed_run::closed_run(run_settings& settings, const contact& authority,
                       const shared_signatures& signs)
    : authority_(authority) {
  settings.authority = authority_text(authority);
  const auto organiser = sound(key_pair::parse(organisers_key));
  manifest_ = std::make_unique<const manifest>(
      sound(sign_charter(charter{settings, ""}, organiser)));
  settings = sound(charter_of(*manifest_)).settings();
  auto book = sound(authority_book::open(":memory:"));
  sound(book.add_code(manifest_->id(), code(), 0, authority_book::for_ever,
                      grant_ms));
  authority_desk::settings how;
  how.runs = {manifest_->run()};
  how.signs = signs;
  how.token_ms = token_ms;
  how.grant_ms = grant_ms;
  desk_ = std::make_shared<authority_desk>(std::move(book), std::move(how));
}

void closed_run::equip(peer_config& c) const {
  c.manifests[manifest_->run()] = manifest_->to_bytes();
  c.propose = nullptr;
  if (c.role == role::bootstrap) {
    const auto agreed = sound(charter_of(*manifest_));
    c.passes_for[manifest_->run()]
        = {sound(admission_rules_of(agreed.settings())),
           signers_of(*manifest_, agreed.settings()).keys};
    if (c.self == authority_.id)
      c.authority = authority_office{desk_, c.wall_clock};
    return;
  }
  c.papers.authority = authority_;
  c.papers.claim.code = code();
}

} // namespace potluck::simulation
