#include "runtime/artifacts/artifact_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>

#include "runtime/state/charter.hpp"
#include "tests/runtime/artifacts/made_artifact.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace potluck;

namespace {

const std::size_t three_pieces = 2 * artifact_piece_bytes + 77;

bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

struct place {
  support::temporary_directory there;
  artifact_folder folder{there / "artifacts"};
  made_artifact made{"model", three_pieces, 5};

  artifact taken() {
    write_file(there / "model.pt", made.bytes);
    auto x = folder.take("model", there / "model.pt");
    REQUIRE(x);
    return *x;
  }
};

charter run_with(const artifact& x) {
  return with_artifacts(charter{run_settings{}, ""}, {x});
}

} // namespace

TEST_CASE("a user's file is taken, and found by the run's name for it") {
  place p;
  const auto x = p.taken();
  CHECK(x.bytes == three_pieces);
  CHECK(x.content == p.made.it.content);
  CHECK(x.pieces == p.made.it.pieces);
  const auto sums = p.folder.check(x, "me");
  REQUIRE(sums);
  CHECK(*sums == p.made.sums);
  const auto path = p.folder.find(run_with(x), "model");
  REQUIRE(path);
  CHECK(read_file(*path) == p.made.bytes);
  const auto last = p.folder.read(x, 2, sums->at(2));
  CHECK(std::string(reinterpret_cast<const char*>(last.data), last.size)
        == p.made.piece(2));
  CHECK(p.folder.read(x, 3, sums->at(2)).size == 0);
}

TEST_CASE("bytes are kept as an artifact's file, which may be taken again") {
  place p;
  const auto path = p.folder.put(p.made.bytes);
  REQUIRE(path);
  CHECK(*path == p.folder.path_of(p.made.it.content));
  CHECK(read_file(*path) == p.made.bytes);
  REQUIRE(p.folder.take("model", *path));
  const std::filesystem::directory_iterator files{p.folder.path()};
  CHECK(std::distance(begin(files), end(files)) == 1);
  CHECK_FALSE(artifact_folder{*path}.put("x"));
}

TEST_CASE("the identity directory around a new folder is its owner's alone") {
  place p;
  const auto around = p.there / "new/identity";
  REQUIRE(artifact_folder{around + "/artifacts"}.put("x"));
  CHECK(std::filesystem::status(around).permissions()
        == std::filesystem::perms::owner_all);
}

TEST_CASE("what is no artifact is not taken, in a sentence that names it") {
  place p;
  CHECK(contains(p.folder.take("model", p.there / "none").error(), "none"));
  CHECK(contains(p.folder.take("model", p.there / "").error(), "is no file"));
  write_file(p.there / "empty", "");
  CHECK(contains(p.folder.take("model", p.there / "empty").error(),
                 "has no bytes"));
  CHECK(contains(p.folder.take("My model", p.there / "empty").error(),
                 "is no name"));
  write_file(p.there / "large", "x");
  std::filesystem::resize_file(p.there / "large", max_artifact_bytes + 1);
  CHECK(contains(p.folder.take("model", p.there / "large").error(),
                 "at most 256 MiB"));
}

TEST_CASE("one that is missing, cut short or altered is no artifact") {
  place p;
  auto run = run_with(p.made.it);
  CHECK(contains(p.folder.find(run, "model").error(),
                 "; set identity-dir to one with which the run was joined, or "
                 "join it to fetch the file, or with the file: artifact "
                 "model=FILE"));
  CHECK(contains(p.folder.find(run, "words").error(), "no artifact words"));
  CHECK(
      contains(artifact_folder{""}.find(run, "model").error(), "identity-dir"));

  const auto x = p.taken();
  auto bytes = p.made.bytes;
  bytes.pop_back();
  write_file(p.folder.path_of(x.content), bytes);
  CHECK(contains(p.folder.find(run, "model").error(), "cut short"));
  bytes = p.made.bytes;
  bytes[artifact_piece_bytes] ^= 1;
  write_file(p.folder.path_of(x.content), bytes);
  CHECK(contains(p.folder.find(run, "model").error(), "another SHA-256"));
  CHECK(p.folder.read(x, 1, p.made.sums[1]).size == 0);

  SUBCASE("and its sound pieces need not come again") {
    CHECK_FALSE(p.folder.check(x, "me"));
    CHECK_FALSE(std::filesystem::exists(p.folder.path_of(x.content)));
    auto partial = partial_artifact::open(p.folder, x, "me");
    REQUIRE(partial);
    CHECK(partial->sound_pieces(p.made.sums)
          == std::vector<bool>{true, false, true});
  }
}

TEST_CASE("an artifact in pieces is one when they are all there") {
  place p;
  const auto& x = p.made.it;
  {
    auto first = partial_artifact::open(p.folder, x, "me");
    REQUIRE(first);
    REQUIRE(first->write(2, shared(p.made.piece(2))));
  }
  auto again = partial_artifact::open(p.folder, x, "me");
  REQUIRE(again);
  CHECK(again->sound_pieces(p.made.sums)
        == std::vector<bool>{false, false, true});
  CHECK_FALSE(p.folder.check(x, "me"));
  REQUIRE(again->write(0, shared(p.made.piece(0))));
  REQUIRE(again->write(1, shared(p.made.piece(1))));
  REQUIRE(again->finish());
  CHECK(p.folder.check(x, "me"));
  CHECK_FALSE(std::filesystem::exists(p.folder.partial_path(x, "me")));
}

TEST_CASE("a folder that cannot be written is said") {
  place p;
  write_file(p.there / "artifacts", "a file in its place");
  const auto opened = partial_artifact::open(p.folder, p.made.it, "me");
  REQUIRE_FALSE(opened);
  CHECK(contains(opened.error(), "artifacts"));
}

TEST_CASE("to make room the one used longest ago goes first") {
  place p;
  std::vector<artifact> all;
  for (std::uint64_t seed : {1, 2, 3}) {
    write_file(p.there / "x", made_bytes(1000, seed));
    all.push_back(*p.folder.take("x", p.there / "x"));
  }
  const auto now = std::filesystem::file_time_type::clock::now();
  const std::vector<int> hours_ago{2, 3, 1};
  for (std::size_t i = 0; i < all.size(); ++i)
    std::filesystem::last_write_time(p.folder.path_of(all[i].content),
                                     now - std::chrono::hours{hours_ago[i]});
  write_file(p.folder.path() + "/notes", "of somebody else");
  write_file(p.folder.path() + "/taken-abcdef", std::string(1000, 'x'));
  std::filesystem::last_write_time(p.folder.path() + "/taken-abcdef",
                                   now - std::chrono::hours{9});
  const auto here = [&](std::size_t i) {
    return std::filesystem::exists(p.folder.path_of(all[i].content));
  };
  p.folder.make_room({}, 1000, 4000);
  CHECK((here(0) && here(1) && here(2)));
  // What a crash has left counts, too.
  CHECK_FALSE(std::filesystem::exists(p.folder.path() + "/taken-abcdef"));
  p.folder.make_room({}, 1000, 3999);
  CHECK((here(0) && !here(1) && here(2)));
  // The run's own stay.
  p.folder.make_room({all[0].content}, 2000, 2000);
  CHECK((here(0) && !here(2)));
  CHECK(std::filesystem::exists(p.folder.path() + "/notes"));
}
