#include "tools/potluck/peer_options.hpp"

#include <sstream>

#include <doctest/doctest.h>

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
