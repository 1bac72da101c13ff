#include "runtime/identity/identity.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <filesystem>
#include <iterator>
#include <sys/stat.h>
#include <thread>
#include <vector>

#include "tests/runtime/state/some_state.hpp"

using namespace potluck;

namespace {

unsigned mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777;
}

bool says(const expected<identity>& x, const std::string& what) {
  return !x && x.error().find(what) != std::string::npos;
}

/// Writes a file that only its owner may read, as keys are.
void write_secret(const std::string& path, const std::string& content) {
  write_all(path, content);
  REQUIRE(chmod(path.c_str(), 0600) == 0);
}

} // namespace

TEST_CASE("an identity lasts from start to start") {
  scratch_directory scratch;
  auto directory = scratch.file("home/potluck");
  peer_id first;
  {
    auto mine = identity::open(directory);
    REQUIRE(bool(mine));
    first = mine->id();
    CHECK(!first.empty());
  }
  auto again = identity::open(directory);
  REQUIRE(bool(again));
  CHECK(again->id() == first);
  auto other = identity::open(scratch.file("elsewhere"));
  REQUIRE(bool(other));
  CHECK(other->id() != first);
}

TEST_CASE("an identity is its owner's only") {
  scratch_directory scratch;
  for (const auto& directory : {scratch.file("home"), scratch.file("house/")}) {
    REQUIRE(bool(identity::open(directory)));
    CHECK(mode_of(directory) == 0700);
    CHECK(mode_of(directory + "/identity") == 0600);
    CHECK(mode_of(directory + "/lock") == 0600);
  }
}

TEST_CASE("all who first use a key at one moment get the same") {
  for (int round = 0; round < 20; ++round) {
    scratch_directory scratch;
    const auto directory = scratch.file("home");
    std::vector<peer_id> got(16);
    std::atomic<std::size_t> ready{0};
    std::vector<std::thread> all;
    for (auto& id : got)
      all.emplace_back([&] {
        ++ready;
        while (ready < got.size())
          std::this_thread::yield();
        if (auto key = identity::key_in(directory, "person"))
          id = key->id();
      });
    for (auto& x : all)
      x.join();
    const auto kept = key_pair::parse(read_all(directory + "/person"));
    REQUIRE(kept);
    for (const auto& id : got)
      CHECK(id == kept->id());
    CHECK(mode_of(directory + "/person") == 0600);
    CHECK(std::distance(std::filesystem::directory_iterator{directory}, {})
          == 1);
  }
}

TEST_CASE("an identity is held by one at a time") {
  scratch_directory scratch;
  auto directory = scratch.file("home");
  {
    auto mine = identity::open(directory);
    REQUIRE(bool(mine));
    auto moved = std::move(*mine);
    auto refused = identity::open(directory);
    REQUIRE(!refused);
    CHECK(refused.error()
          == "identity directory " + directory
                 + " is in use by another potluck; give this one an "
                   "identity-dir of its own");
  }
  CHECK(bool(identity::open(directory)));
}

TEST_CASE("a malformed identity is named and left alone") {
  scratch_directory scratch;
  auto file = scratch.file("identity");
  auto whole = key_pair::generate().pem();
  for (const std::string& content :
       {std::string(""), std::string("\n"), std::string(63, 'a'),
        std::string(64, 'a'), std::string(65, 'a'), std::string(64, 'g'),
        std::string(64, '0'), std::string(100000, 'a'),
        whole.substr(0, whole.size() / 2), whole.substr(10),
        std::string(100000, ' ') + whole}) {
    CAPTURE(content.size());
    write_secret(file, content);
    auto refused = identity::open(scratch.path());
    CHECK(says(refused, file + " holds no private key, or a part of one"));
    CHECK(says(refused, "remove it to get a new one"));
    CHECK(read_all(file) == content);
  }
  write_secret(file, whole);
  CHECK(bool(identity::open(scratch.path())));
}

TEST_CASE("a key that others may read is refused, and stays") {
  scratch_directory scratch;
  REQUIRE(bool(identity::open(scratch.path())));
  auto file = scratch.file("identity");
  auto before = read_all(file);
  for (unsigned mode : {0644, 0640, 0604, 0620, 0601}) {
    CAPTURE(mode);
    REQUIRE(chmod(file.c_str(), mode) == 0);
    CHECK(says(identity::open(scratch.path()), "run chmod 600 on it"));
  }
  REQUIRE(chmod(file.c_str(), 0644) == 0);
  CHECK(says(identity::open(scratch.path()), "(mode 0644)"));
  CHECK(read_all(file) == before);
  REQUIRE(chmod(file.c_str(), 0400) == 0);
  CHECK(bool(identity::open(scratch.path())));
}

TEST_CASE("an identity that cannot be read or made is named") {
  scratch_directory scratch;
  write_all(scratch.file("file"), "");
  CHECK(says(identity::open(scratch.file("file/home")), "file/home"));
  CHECK(says(identity::open(scratch.file("file")), "file/lock"));
  std::filesystem::create_directories(scratch.file("home/identity"));
  CHECK(says(identity::open(scratch.file("home")), "home/identity"));
}
