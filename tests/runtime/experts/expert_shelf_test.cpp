#include "runtime/experts/expert_shelf.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/support/temporary_directory.hpp"

using namespace potluck;

namespace {

using bytes = std::vector<std::uint8_t>;

} // namespace

TEST_CASE("a shelf gives back what was put there last") {
  support::temporary_directory directory;
  for (auto place : {std::string{}, directory / "experts"}) {
    CAPTURE(place);
    expert_shelf shelf{place};
    auto none = shelf.get("ffn.1");
    REQUIRE(none);
    CHECK(none->bytes.empty());
    CHECK(shelf.uids().empty());
    REQUIRE(shelf.put("ffn.1", {1, 2, {1, 2, 3}}));
    REQUIRE(shelf.put("ffn.2", {1, 0, {9}}));
    REQUIRE(shelf.put("ffn.1", {7, 1ull << 40, {4, 5}}));
    CHECK(shelf.get("ffn.1")->bytes == bytes{4, 5});
    CHECK(shelf.get("ffn.1")->term == 7);
    CHECK(shelf.get("ffn.1")->version == 1ull << 40);
    CHECK(shelf.get("ffn.2")->bytes == bytes{9});
    CHECK(shelf.uids() == std::vector<std::string>{"ffn.1", "ffn.2"});
    shelf.remove("ffn.2");
    CHECK(shelf.get("ffn.2")->bytes.empty());
    CHECK(shelf.uids() == std::vector<std::string>{"ffn.1"});
  }
  // Of the one on disk, another process finds it.
  expert_shelf later{directory / "experts"};
  CHECK(later.get("ffn.1")->bytes == bytes{4, 5});
}

TEST_CASE("a damaged or foreign file is refused by name") {
  support::temporary_directory directory;
  expert_shelf shelf{directory / "x"};
  REQUIRE(shelf.put("ffn.1", {1, 1, bytes(100, 7)}));
  auto path = directory / "x/ffn.1.expert";
  std::ifstream in{path, std::ios::binary};
  std::string all{std::istreambuf_iterator<char>{in}, {}};
  auto write = [&](const std::string& text) {
    std::ofstream{path, std::ios::binary | std::ios::trunc} << text;
  };
  for (std::size_t size : {0, 3, 20, 60}) {
    CAPTURE(size);
    write(all.substr(0, size));
    auto x = shelf.get("ffn.1");
    REQUIRE(!x);
    CHECK(x.error().find(path) != std::string::npos);
  }
  auto flipped = all;
  flipped[80] ^= 1;
  write(flipped);
  CHECK(!shelf.get("ffn.1"));
  write(all);
  CHECK(shelf.get("ffn.1"));
  std::ofstream{directory / "x/ffn.2.expert", std::ios::binary} << all;
  CHECK(!shelf.get("ffn.2"));
}

TEST_CASE("a directory that cannot be made is named") {
  expert_shelf shelf{"/proc/nothing/here"};
  auto x = shelf.put("ffn.1", {1, 1, {1}});
  REQUIRE(!x);
  CHECK(x.error().find("/proc/nothing/here") != std::string::npos);
}
