#include "runtime/state/identity.hpp"

#include <doctest/doctest.h>
#include <optional>
#include <sys/stat.h>

#include "tests/runtime/state/some_state.hpp"

using namespace potluck;

namespace {

/// Draws a new id at each call, and counts the calls.
struct dice {
  int rolls = 0;
  random_stream chance{1};

  std::function<peer_id()> draw() {
    return [this] {
      ++rolls;
      return chance.draw<peer_id>();
    };
  }
};

unsigned mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777;
}

bool says(const expected<identity>& x, const std::string& what) {
  return !x && x.error().find(what) != std::string::npos;
}

} // namespace

TEST_CASE("an identity lasts from start to start") {
  scratch_directory scratch;
  auto directory = scratch.file("home/potluck");
  dice chance;
  peer_id first;
  {
    auto mine = identity::open(directory, chance.draw());
    REQUIRE(bool(mine));
    first = mine->id();
    CHECK(!first.empty());
  }
  auto again = identity::open(directory, chance.draw());
  REQUIRE(bool(again));
  CHECK(again->id() == first);
  CHECK(chance.rolls == 1);
}

TEST_CASE("an identity is its owner's only") {
  scratch_directory scratch;
  for (const auto& directory : {scratch.file("home"), scratch.file("house/")}) {
    dice chance;
    REQUIRE(bool(identity::open(directory, chance.draw())));
    CHECK(mode_of(directory) == 0700);
    CHECK(mode_of(directory + "/identity") == 0600);
    CHECK(mode_of(directory + "/lock") == 0600);
  }
}

TEST_CASE("an identity is held by one at a time") {
  scratch_directory scratch;
  auto directory = scratch.file("home");
  dice chance;
  {
    auto mine = identity::open(directory, chance.draw());
    REQUIRE(bool(mine));
    auto moved = std::move(*mine);
    auto refused = identity::open(directory, chance.draw());
    REQUIRE(!refused);
    CHECK(refused.error()
          == "identity directory " + directory
                 + " is in use by another potluck; give this one its own with "
                   "--identity-dir");
  }
  CHECK(bool(identity::open(directory, chance.draw())));
}

TEST_CASE("a malformed identity is named and left alone") {
  scratch_directory scratch;
  auto file = scratch.file("identity");
  dice chance;
  for (const std::string& content :
       {std::string(""), std::string("\n"), std::string(63, 'a'),
        std::string(65, 'a'), std::string(64, 'g'), std::string(64, '0'),
        std::string(100000, 'a')}) {
    write_all(file, content);
    CHECK(says(identity::open(scratch.path(), chance.draw()), file));
    CHECK(read_all(file) == content);
  }
  CHECK(chance.rolls == 0);
  write_all(file, std::string(64, 'a'));
  CHECK(bool(identity::open(scratch.path(), chance.draw())));
}

TEST_CASE("an identity that cannot be read or made is named") {
  scratch_directory scratch;
  dice chance;
  write_all(scratch.file("file"), "");
  CHECK(says(identity::open(scratch.file("file/home"), chance.draw()),
             "file/home"));
  CHECK(says(identity::open(scratch.file("file"), chance.draw()), "file/lock"));
  std::filesystem::create_directories(scratch.file("home/identity"));
  CHECK(says(identity::open(scratch.file("home"), chance.draw()),
             "home/identity"));
}
