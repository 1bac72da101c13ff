#include "tools/lab/netlab/lab_words.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace potluck::netlab;

namespace {

using words = std::vector<std::string>;

lab_words example() {
  lab_words x;
  x.name = "trainer";
  x.log = "/out/trainer.jsonl";
  x.dir = "/out/trainer";
  x.host = "home-1";
  x.address_of = [](const std::string& host) {
    return host == "home-1" ? "11.0.0.1" : host == "seed" ? "11.0.1.1" : "";
  };
  x.ipv6_address_of = [](const std::string& host) {
    return host == "seed" ? "3fff:0:101::1" : "";
  };
  x.network = [](unsigned port) {
    return words{"--listen=11.0.0.1:" + std::to_string(port), "--more"};
  };
  return x;
}

words filled(const words& x) {
  auto result = fill_in(x, example());
  REQUIRE_MESSAGE(result, (result ? "" : result.error()));
  return *result;
}

std::string refusal(const std::string& word) {
  auto result = fill_in({word}, example());
  return result ? "accepted" : result.error();
}

} // namespace

TEST_CASE("placeholders become what they stand for") {
  CHECK(filled({"a", "--log={log}", "{dir}", "{name}:{name}"})
        == words{"a", "--log=/out/trainer.jsonl", "/out/trainer",
                 "trainer:trainer"});
  CHECK(filled({"{address}", "{address:seed}:7000"})
        == words{"11.0.0.1", "11.0.1.1:7000"});
}

TEST_CASE("an IPv6 address before a colon stands in brackets") {
  CHECK(filled({"{address6:seed}", "--peer={address6:seed}:7000",
                "[{address6:seed}]:1"})
        == words{"3fff:0:101::1", "--peer=[3fff:0:101::1]:7000",
                 "[3fff:0:101::1]:1"});
  CHECK(refusal("{address6}").find("no IPv6") != std::string::npos);
  CHECK(refusal("{address6:home}").find("no host") != std::string::npos);
}

TEST_CASE("the network's options are words of their own") {
  CHECK(filled({"join", "{network:7000}", "x"})
        == words{"join", "--listen=11.0.0.1:7000", "--more", "x"});
  CHECK(filled({""}) == words{""});
}

TEST_CASE("other braces stay as they are") {
  for (const std::string x : {"{}", "{\"a\": 1}", "${name}", "{name", "{Name}",
                              "f() { true; }", "{1}", "{6}"})
    CHECK(filled({x}) == words{x});
}

TEST_CASE("what is no placeholder is refused with the ones there are") {
  CHECK(refusal("{adress}").find("{address:HOST}") != std::string::npos);
  CHECK(refusal("{log:x}").find("stands for nothing") != std::string::npos);
  CHECK(refusal("{address:home}").find("no host") != std::string::npos);
  for (auto x : {"{network}", "{network:}", "{network:0}", "{network:65536}",
                 "--x={network:7000}", "{network:7x}"})
    CHECK(refusal(x).find("word of its own") != std::string::npos);
}
