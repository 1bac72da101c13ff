#include "runtime/organiser/kept_amendments.hpp"

#include <filesystem>

#include <doctest/doctest.h>

#include "messages/limits.hpp"
#include "tests/runtime/organiser/signed_amendments.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace potluck;
using namespace potluck::amendments;

namespace {

using verdict = amendment_book::verdict;

amendment_book fresh() {
  return {run(), {organiser().public_half()}};
}

} // namespace

TEST_CASE("amendments are taken in order, each once") {
  auto book = fresh();
  const auto first = bytes(of(1, pause_run{}, 5));
  const auto second = bytes(of(2, resume_run{}));
  const auto gap = book.take(second);
  CHECK(gap.is == verdict::gap);
  CHECK(gap.sentence.find("1 is not here") != std::string::npos);
  CHECK(book.latest() == 0);
  CHECK(book.take(first).is == verdict::accepted);
  CHECK(book.take(second).is == verdict::accepted);
  CHECK(book.take(first).is == verdict::known);
  CHECK(book.latest() == 2);
  CHECK(book.after(0).size() == 2);
  CHECK(book.after(1).at(0).bytes == second);
  CHECK(book.after(2).empty());
  CHECK(book.after(~std::uint64_t{0}).empty());
}

TEST_CASE("of two that the organiser signs under one number the first stays") {
  auto book = fresh();
  CHECK(book.take(bytes(of(1, pause_run{}, 5))).is == verdict::accepted);
  const auto second = book.take(bytes(of(1, finish_run{}, 5)));
  CHECK(second.is == verdict::contradicts);
  CHECK(second.sentence.find("the first one holds") != std::string::npos);
  CHECK(std::holds_alternative<pause_run>(book.all().at(0).change));
  CHECK(book.take(bytes(of(1, finish_run{}, 5), key_pair::generate())).is
        == verdict::wrong);
}

TEST_CASE("a message takes only so many, and the rest comes with the next") {
  auto book = fresh();
  for (std::uint64_t i = 1; i <= max_amendments + 3; ++i)
    REQUIRE(book.take(bytes(of(i, pause_run{}, i))).is == verdict::accepted);
  CHECK(book.after(0).size() == max_amendments);
  CHECK(book.after(max_amendments).size() == 3);
}

TEST_CASE("a book is written and read, and a damaged one as far as it goes") {
  auto book = fresh();
  book.take(bytes(of(1, pause_run{}, 5)));
  book.take(bytes(of(2, resume_run{})));
  const auto file = book.to_bytes();
  auto again = fresh();
  CHECK(again.read(file).empty());
  CHECK(again.latest() == 2);
  for (std::size_t size = 0; size < file.size(); ++size) {
    auto part = fresh();
    const auto problem = part.read(file.substr(0, size));
    CHECK(part.latest() < 2);
    CHECK((problem.empty() ? part.latest() * 151 + 8 : 0) <= file.size());
  }
  auto changed = file;
  changed[file.size() - 10] ^= 1;
  auto half = fresh();
  CHECK_FALSE(half.read(changed).empty());
  CHECK(half.latest() == 1);
  CHECK_FALSE(fresh().read("something else").empty());
}

TEST_CASE("kept amendments are there at the next start, and damage is named") {
  support::temporary_directory folder;
  const auto path = amendments_path(folder.path(), "poems");
  auto book = fresh();
  CHECK(read_amendments(path, book).empty()); // There is no file.
  book.take(bytes(of(1, pause_run{}, 5)));
  REQUIRE(keep_amendments(path, book));
  auto again = fresh();
  CHECK(read_amendments(path, again).empty());
  CHECK(again.latest() == 1);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  auto damaged = fresh();
  CHECK(read_amendments(path, damaged) == path + " is cut short");
}
