#include "runtime/experts/expert_uid.hpp"

#include <doctest/doctest.h>

using namespace potluck;

namespace {

std::vector<std::string> names(const std::string& pattern,
                               const std::vector<std::uint32_t>& grid) {
  auto uids = experts_of_pattern(pattern, grid);
  REQUIRE_MESSAGE(uids, uids.error());
  std::vector<std::string> result;
  for (auto& x : *uids)
    result.push_back(to_string(x));
  return result;
}

} // namespace

TEST_CASE("a uid comes back from its text, and knows its prefixes") {
  for (auto text : {"ffn.3.12", "a.0", "my-layer_2.255.0.1.9"}) {
    auto x = parse_expert_uid(text);
    REQUIRE_MESSAGE(x, x.error());
    CHECK(to_string(*x) == text);
  }
  CHECK(prefixes_of(*parse_expert_uid("ffn.3.12.7"))
        == std::vector<std::string>{"ffn", "ffn.3", "ffn.3.12"});
  CHECK(prefixes_of(*parse_expert_uid("ffn.3"))
        == std::vector<std::string>{"ffn"});
}

TEST_CASE("what is no uid is refused with a sentence") {
  for (auto text :
       {"", ".", "ffn", "ffn.", ".3", "ffn.-1", "ffn.03", "ffn.256", "ffn.3 ",
        "ffn.1.2.3.4.5", "FFN.1", "f n.1", "ffn.99999999999999999999",
        "abcdefghijklmnopqrstuvwxyzabcdefg.1", "ffn..1", "../x.1"}) {
    CAPTURE(text);
    auto x = parse_expert_uid(text);
    CHECK(!x);
    if (!x)
      CHECK(!x.error().empty());
  }
}

TEST_CASE("a pattern means every expert of its ranges, in order") {
  CHECK(names("ffn.1-2.*", {4, 3})
        == std::vector<std::string>{"ffn.1.0", "ffn.1.1", "ffn.1.2", "ffn.2.0",
                                    "ffn.2.1", "ffn.2.2"});
  CHECK(names("ffn.7", {8}) == std::vector<std::string>{"ffn.7"});
  CHECK(names("ffn.0-15.*", {16, 16}).size() == 256);
  CHECK(names("t.*.*", {256, 256}).size() == 65536);
}

TEST_CASE("a pattern off the grid or beyond the limit is refused") {
  for (auto pattern :
       {"ffn", "ffn.1", "ffn.1.2.3", "ffn.16.0", "ffn.0-16.0", "ffn.3-1.0",
        "ffn.1-2-3.0", "ffn.-.0", "ffn.**.0", "ffn.1-.0", "FFN.*.*"}) {
    CAPTURE(pattern);
    CHECK(!experts_of_pattern(pattern, {16, 16}));
  }
  auto many = experts_of_pattern("t.*.*.*", {256, 256, 2});
  REQUIRE(!many);
  CHECK(many.error().find("131072") != std::string::npos);
}

TEST_CASE("a grid has one to four sizes") {
  CHECK(*parse_expert_grid("16x16") == std::vector<std::uint32_t>{16, 16});
  CHECK(*parse_expert_grid("256") == std::vector<std::uint32_t>{256});
  for (auto text : {"", "x", "16x", "0x4", "257", "1x1x1x1x1", "4X4", "4 x4"}) {
    CAPTURE(text);
    CHECK(!parse_expert_grid(text));
  }
}
