#include "runtime/artifacts/own_artifacts.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "tests/runtime/artifacts/made_artifact.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace potluck;

namespace {

struct place {
  place() {
    write_file(there / "a", "one");
    write_file(there / "b", "another");
  }
  own_artifacts named(const std::string& name, const std::string& file) const {
    return {{name, there / file}};
  }
  support::temporary_directory there;
  artifact_folder folder{there / "artifacts"};
  const charter plain{run_settings{}, ""};
};

} // namespace

TEST_CASE("a user names artifacts as NAME=FILE") {
  place p;
  own_artifacts all;
  CHECK(add_own_artifact(all, "model=" + (p.there / "a")));
  CHECK(all == p.named("model", "a"));
  for (const auto& [text, problem] :
       {std::pair<std::string, std::string>{p.there / "a", "write NAME=FILE"},
        {"model=" + (p.there / "b"), "twice"},
        {"words=" + (p.there / "none"), "cannot read"},
        {"=" + (p.there / "a"), "is no name"}}) {
    const auto added = add_own_artifact(all, text);
    const auto shown = text;
    CAPTURE(shown);
    REQUIRE_FALSE(added);
    CHECK(added.error().find(problem) != std::string::npos);
  }
  CHECK(all.size() == 1);
}

TEST_CASE("a founder's files are listed, and copies of them kept") {
  place p;
  const auto run = with_own_artifacts(p.plain, p.named("model", "a"), p.folder);
  REQUIRE(run);
  const auto path = p.folder.find(*run, "model");
  REQUIRE(path);
  CHECK(read_file(*path) == "one");
  CHECK(with_own_artifacts(p.plain, {}, p.folder)->digest()
        == p.plain.digest());
}

TEST_CASE("what a draft lists stays listed, if it is on this machine") {
  place p;
  const auto first
      = with_own_artifacts(p.plain, p.named("model", "a"), p.folder);
  REQUIRE(first);
  const auto both = with_own_artifacts(*first, p.named("words", "b"), p.folder);
  REQUIRE(both);
  CHECK(artifacts_of(*both).size() == 2);
  const auto other
      = with_own_artifacts(*first, p.named("model", "b"), p.folder);
  REQUIRE(other);
  CHECK(artifact_of(*other, "model")->content == sha256("another"));
  std::filesystem::remove(p.folder.path_of(sha256("one")));
  const auto lost = with_own_artifacts(*first, {}, p.folder);
  REQUIRE_FALSE(lost);
  CHECK(lost.error().find("model=FILE") != std::string::npos);
}

TEST_CASE("a file that is not the run's is refused, and leaves no copy") {
  place p;
  const auto run = with_own_artifacts(p.plain, p.named("model", "a"), p.folder);
  REQUIRE(run);
  const artifact_folder mine{p.there / "mine"};
  CHECK(take_own_artifacts(*run, p.named("model", "a"), mine));
  CHECK(mine.has(sha256("one")));
  const auto wrong = take_own_artifacts(*run, p.named("model", "b"), mine);
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().find("leave it out") != std::string::npos);
  CHECK_FALSE(mine.has(sha256("another")));
  CHECK_FALSE(take_own_artifacts(*run, p.named("words", "a"), mine));
}
