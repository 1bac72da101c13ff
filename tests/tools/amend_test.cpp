#include <iostream>

#include <doctest/doctest.h>

#include "runtime/identity/identity.hpp"
#include "runtime/organiser/kept_amendments.hpp"
#include "runtime/state/atomic_file.hpp"
#include "runtime/state/run_manifest.hpp"
#include "tests/support/captured.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/created_run.hpp"

using namespace potluck;
using namespace potluck::tools;

namespace {

/// The organiser's folder of run `poems`, whose only known peer is not there.
struct organiser_at_home {
  support::temporary_directory folder;
  manifest poems;

  organiser_at_home() : poems(lay_down()) {
    const auto bytes = poems.to_bytes();
    REQUIRE(replace_file(manifest_path(folder.path(), "poems"),
                         {{bytes.data(), bytes.size()}}));
  }

  manifest lay_down() const {
    run_settings settings;
    settings.run = "poems";
    const auto key = unwrap(identity::key_in(folder.path(), "organiser"));
    return unwrap(sign_charter({settings, ""}, key));
  }

  /// @returns The exit status; `said` is what it complains of.
  int amend(std::vector<std::string> words) {
    for (const auto* x : {"--run=poems", "--peer=127.0.0.1:9", "--insecure",
                          "--listen=127.0.0.1:0"})
      words.push_back(x);
    words.push_back("--identity-dir=" + folder.path());
    const auto chosen = amend_command();
    auto parsed = cli::parse_command(chosen.spec, words);
    REQUIRE_FALSE(parsed.exit_code);
    support::captured heard{std::cerr};
    const auto status = chosen.run(parsed.config, "potluck");
    said = heard.take();
    return status;
  }

  std::string said;
};

} // namespace

TEST_CASE("what signs an amendment is refused while another one is at it") {
  organiser_at_home x;
  const auto other
      = lock_amendments(amendments_path(x.folder.path(), x.poems.run()));
  REQUIRE(other);
  const std::string sentence = "potluck: Another `potluck amend` of this run "
                               "is at work here; wait for it, or end it.\n";
  CHECK(x.amend({"steps", "5000"}) == users_mistake);
  CHECK(x.said == sentence);
  CHECK(x.amend({"sign", "some.amendment"}) == users_mistake);
  CHECK(x.said == sentence);
}
