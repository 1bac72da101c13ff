#include "runtime/state/artifact_list.hpp"

#include <doctest/doctest.h>

#include "runtime/state/run_manifest.hpp"

using namespace potluck;

namespace {

artifact some(const std::string& name, std::uint64_t bytes = 100) {
  artifact x;
  x.name = name;
  x.bytes = bytes;
  x.content = sha256(name);
  x.pieces = sha256(name + " in pieces");
  return x;
}

bool refused(const std::string& text, const std::string& sentence) {
  const auto read = read_artifacts_text(text);
  INFO(text);
  CHECK_FALSE(read);
  return !read && read.error().find(sentence) != std::string::npos;
}

} // namespace

TEST_CASE("a list of artifacts survives its text") {
  const auto text
      = to_artifacts_text({some("model"), some("words", max_artifact_bytes)});
  const auto read = read_artifacts_text(text);
  REQUIRE(read);
  REQUIRE(read->size() == 2);
  CHECK(read->at(0).name == "model");
  CHECK(read->at(0).content == some("model").content);
  CHECK(read->at(1).bytes == max_artifact_bytes);
  CHECK(read->at(1).pieces == some("words").pieces);
  CHECK(read->at(1).piece_count() == 4096);
  CHECK(read_artifacts_text("")->empty());
}

TEST_CASE("what is no list of artifacts is refused with the reason") {
  const auto line = to_artifacts_text({some("model")});
  CHECK(refused("model 100\n", "a line of the list"));
  CHECK(refused(to_artifacts_text({some("model", 0)}), "has no bytes"));
  CHECK(refused(to_artifacts_text({some("model", max_artifact_bytes + 1)}),
                "at most 256 MiB"));
  CHECK(refused(to_artifacts_text({some("Model")}), "is no name of a file"));
  CHECK(refused(line + line, "not in the order"));
  CHECK(refused(to_artifacts_text({some("words"), some("model")}),
                "not in the order"));
  CHECK(refused(line.substr(0, line.size() - 1), "canonical"));
  CHECK(refused("model 0100 " + line.substr(10), "canonical"));
  CHECK(refused(line + "\n", "a line of the list"));
  CHECK(refused(std::string(5000, 'x'), "too long"));
  auto twin = some("words");
  twin.content = some("model").content;
  CHECK(refused(to_artifacts_text({some("model"), twin}), "the same file"));
  artifact_list many;
  for (char c = 'a'; c < 'a' + 17; ++c)
    many.push_back(some(std::string{c}));
  CHECK(refused(to_artifacts_text(many), "at most 16 artifacts"));
}

TEST_CASE("a charter and its manifest list artifacts, and no nonsense") {
  run_settings settings;
  settings.run = "poems";
  const charter plain{settings, ""};
  CHECK(artifacts_of(plain).empty());
  const auto x = with_artifacts(plain, {some("model")});
  CHECK(x.digest() != plain.digest());
  CHECK(with_artifacts(x, {}).digest() == plain.digest());
  REQUIRE(artifact_of(x, "model"));
  CHECK(artifact_of(x, "model")->content == some("model").content);
  CHECK_FALSE(artifact_of(x, "words"));
  const auto read = charter::from_bytes(x.to_bytes());
  REQUIRE(read);
  CHECK(artifacts_of(*read).size() == 1);
  const auto signed_by = sign_charter(x, key_pair::generate());
  REQUIRE(signed_by);
  CHECK(artifacts_of(*charter_of(*signed_by)).size() == 1);

  const charter wrong{settings, charter_files{{artifacts_file, "model\n"}}};
  CHECK_FALSE(charter::from_bytes(wrong.to_bytes()));
}

TEST_CASE("only the list of pieces that an artifact names is its list") {
  auto x = some("model", artifact_piece_bytes + 1);
  const piece_sums sums{sha256("one"), sha256("two")};
  x.pieces = sha256(to_bytes(sums));
  CHECK(read_piece_sums(x, to_bytes(sums)) == sums);
  CHECK_FALSE(read_piece_sums(x, to_bytes({sums[1], sums[0]})));
  CHECK_FALSE(read_piece_sums(x, to_bytes(sums) + "x"));
  CHECK_FALSE(read_piece_sums(x, ""));
}
