#include "runtime/organiser/kept_amendments.hpp"

#include <fstream>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/support/temporary_directory.hpp"

using namespace potluck;

TEST_CASE("one process at a time amends a run, and the next one after it") {
  support::temporary_directory there;
  const auto path = amendments_path(there / "new", "soup");
  {
    const auto first = lock_amendments(path);
    REQUIRE(first);
    const auto second = lock_amendments(path);
    REQUIRE_FALSE(second);
    CHECK(second.error()
          == "Another `potluck amend` of this run is at work here; wait for "
             "it, or end it.");
    CHECK(lock_amendments(amendments_path(there / "new", "salad")));
  }
  CHECK(lock_amendments(path));
  struct ::stat about = {};
  REQUIRE(::stat((there / "new").c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0700);
}

TEST_CASE("a book that cannot be locked is refused with its path") {
  support::temporary_directory there;
  std::ofstream{there / "file"} << "x";
  const auto lock = lock_amendments(there / "file/all.amendments");
  REQUIRE_FALSE(lock);
  CHECK(lock.error().find("file/all.amendments.lock") != std::string::npos);
}
