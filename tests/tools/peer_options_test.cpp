#include "tools/potluck/peer_options.hpp"

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <sstream>

#include <doctest/doctest.h>

#include "tests/support/captured.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace potluck;
using namespace potluck::tools;

namespace {

/// What the words say, or the sentence about them.
expected<peer_config> read(std::vector<std::string> words) {
  cli::command_spec spec;
  spec.name = "bootstrap";
  spec.options = network_options("0.0.0.0:7000");
  std::ostringstream out, err;
  auto parsed = cli::parse_command(spec, words, out, err);
  REQUIRE_MESSAGE(!parsed.exit_code, err.str());
  peer_config config;
  auto how = fill_network(parsed.config, config);
  if (!how)
    return failure{how.error()};
  return config;
}

/// The user has neither a home nor a state directory.
struct homeless {
  homeless() {
    for (auto& [name, value] : before) {
      if (const auto* is = std::getenv(name))
        value = is;
      ::unsetenv(name);
    }
  }
  ~homeless() {
    for (auto& [name, value] : before)
      if (value)
        ::setenv(name, value->c_str(), 1);
  }
  std::pair<const char*, std::optional<std::string>> before[2]
      = {{"HOME", {}}, {"XDG_STATE_HOME", {}}};
};

expected<held_identity> identity_from(std::vector<std::string> words) {
  cli::command_spec spec;
  spec.name = "bootstrap";
  spec.options = network_options("0.0.0.0:7000");
  std::ostringstream out, err;
  auto parsed = cli::parse_command(spec, words, out, err);
  REQUIRE_MESSAGE(!parsed.exit_code, err.str());
  peer_config config;
  return take_identity(parsed.config, {}, config);
}

} // namespace

TEST_CASE("a peer listens where it is told, the first address being its own") {
  const auto usual = read({});
  REQUIRE(usual);
  CHECK(usual->listen == address{"0.0.0.0", 7000});
  CHECK(usual->also_listen.empty());
  const auto several = read({"--listen", "0.0.0.0:7001", "--listen=[::]:7001",
                             "--listen", "0.0.0.0:443"});
  REQUIRE(several);
  CHECK(several->listen == address{"0.0.0.0", 7001});
  CHECK(several->also_listen
        == std::vector<address>{{"::", 7001}, {"0.0.0.0", 443}});
  const auto wrong = read({"--listen=0.0.0.0:7001", "--listen=nowhere"});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().find("--listen: ") == 0);
}

TEST_CASE("a first contact may be pinned to the id that has to answer") {
  const std::string id(64, '7');
  const auto both
      = read({"--peer", id + "@seed.example.org:7000", "--peer", "h:1"});
  REQUIRE(both);
  CHECK(both->seeds
        == std::vector<address>{{"seed.example.org", 7000}, {"h", 1}});
  REQUIRE(both->pins.size() == 1);
  CHECK(to_string(both->pins.at({"seed.example.org", 7000})) == id);
  for (auto& wrong : {std::string{"7@h:1"}, std::string(64, '0') + "@h:1",
                      id + "@h", id + "@h:0", std::string{"@h:1"}})
    CHECK_FALSE(read({"--peer", wrong}));
}

TEST_CASE("a peer without a home has a temporary identity, and says so") {
  homeless user;
  support::captured said{std::cerr};
  const auto it = identity_from({});
  REQUIRE(it);
  CHECK(it->key);
  CHECK(it->directory.empty());
  CHECK(said.take()
        == "potluck: Using a temporary identity, since neither HOME nor "
           "XDG_STATE_HOME is set; name a folder with --identity-dir.\n");
  support::temporary_directory home;
  const auto kept = identity_from({"--identity-dir", home / "mine"});
  REQUIRE(kept);
  CHECK(kept->directory == home / "mine");
  CHECK(said.take().empty());
}

TEST_CASE("an empty name of the identity's folder is refused") {
  const auto it = identity_from({"--identity-dir="});
  REQUIRE_FALSE(it);
  CHECK(it.error() == "--identity-dir: name a folder.");
}

TEST_CASE("a key's file is where it is named to be, and has a name") {
  const auto key_of = [](const std::vector<std::string>& words) {
    cli::command_spec spec;
    spec.name = "delegate";
    spec.options = {{"key", cli::option_kind::text, "", "Where.", "FILE"}};
    std::ostringstream out, err;
    auto parsed = cli::parse_command(spec, words, out, err);
    REQUIRE_MESSAGE(!parsed.exit_code, err.str());
    return key_file(parsed.config, "key", "/home/me/person");
  };
  CHECK(*key_of({}) == "/home/me/person");
  CHECK(*key_of({"--key", "/mine"}) == "/mine");
  CHECK(*key_of({"--key", "mine"}) == std::filesystem::absolute("mine"));
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"--key", ""}, {"--key="}, {"--key", "folder/"}}) {
    const auto none = key_of(words);
    REQUIRE_FALSE(none);
    CHECK(none.error() == "--key: name a file.");
  }
}
