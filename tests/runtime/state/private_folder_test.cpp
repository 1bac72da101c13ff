#include "runtime/state/private_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_directory.hpp"

using namespace potluck;
namespace fs = std::filesystem;

TEST_CASE("a private folder is its owner's only; those around it are not") {
  const support::temporary_directory where;
  for (const auto* name : {"a/b/c", "d/", "e"}) {
    const std::string path = where / name;
    CHECK(make_private_folder(path));
    CHECK((fs::status(path).permissions() & fs::perms::all)
          == fs::perms::owner_all);
  }
  CHECK(fs::status(where / "a").permissions() != fs::perms::owner_all);
  CHECK(make_private_folder(where / "e")); // It is there.
}

TEST_CASE("a private folder below a file is a sentence") {
  const support::temporary_directory where;
  const std::string file = where / "file";
  std::ofstream{file} << "x";
  const auto made = make_private_folder(file + "/a/b");
  REQUIRE_FALSE(made);
  CHECK(made.error().find("cannot make the folder " + file + "/a/b: ") == 0);
}
