#include "tools/potluck/full/demo_text.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "models/text/corpus.hpp"

using namespace potluck;
using namespace potluck::tools;

namespace {

namespace fs = std::filesystem;

/// A folder of its own, with places to look in and one to copy to.
struct machine {
  machine() {
    auto text = (fs::temp_directory_path() / "demo_text_XXXXXX").string();
    REQUIRE(::mkdtemp(text.data()) != nullptr);
    root = text;
  }
  ~machine() {
    fs::remove_all(root);
  }

  void put(const std::string& name, const std::string& content) {
    fs::create_directories((root / name).parent_path());
    std::ofstream{root / name, std::ios::binary} << content;
  }

  text_place place(const std::string& name,
                   std::vector<std::string> beginnings = {}) const {
    return {root / name, std::move(beginnings)};
  }

  expected<gathered_text> gather(const std::vector<text_place>& places,
                                 text_limits limits = {1000, 1, 100}) {
    return gather_text(places, root / "into", limits);
  }

  /// All that was gathered, as a trainer reads it.
  std::string result() const {
    auto text = read_corpus(root / "into");
    return text ? *text : text.error();
  }

  fs::path root;
};

} // namespace

TEST_CASE("texts come in the order of places and paths") {
  machine m;
  m.put("second/a", "three\n");
  m.put("first/b", "two\n");
  m.put("first/a/z", "one\n");
  auto text = m.gather({m.place("first"), m.place("second")});
  REQUIRE(text);
  CHECK(text->files == 3);
  CHECK(text->bytes == 14);
  CHECK(m.result() == "one\ntwo\nthree\n");
}

TEST_CASE("what repeats, links, hides or is no text is left out") {
  machine m;
  m.put("x/a", "text\n");
  m.put("x/b", "text\n");
  m.put("x/.hidden", "hidden\n");
  m.put("x/empty", "");
  m.put("x/program", std::string{"\x7f"
                                 "ELF\0\1\2",
                                 7});
  fs::create_symlink(m.root / "x/a", m.root / "x/c");
  REQUIRE(m.gather({m.place("x"), m.place("no-such-place")}));
  CHECK(m.result() == "text\n");
}

TEST_CASE("only files of the wanted names count, large letters or small") {
  machine m;
  m.put("x/README.Debian", "read\n");
  m.put("x/changelog", "changed\n");
  m.put("x/unread", "skipped\n");
  REQUIRE(m.gather({m.place("x", {"readme", "change"})}));
  CHECK(m.result() == "read\nchanged\n");
}

TEST_CASE("a long file is cut behind a line") {
  machine m;
  m.put("x/a", "12345\n67890\nabcde\n");
  REQUIRE(m.gather({m.place("x")}, {1000, 1, 14}));
  CHECK(m.result() == "12345\n67890\n");
}

TEST_CASE("no file is opened once there is enough") {
  machine m;
  m.put("x/a", "12345\n");
  m.put("x/b", "67890\n");
  m.put("x/c", "abcde\n");
  auto text = m.gather({m.place("x")}, {7, 1, 100});
  REQUIRE(text);
  CHECK(text->files == 2);
}

TEST_CASE("too little text is refused in a sentence that names the mend") {
  machine m;
  m.put("x/a", "12345\n");
  auto text = m.gather({m.place("x")}, {1000, 100, 100});
  REQUIRE_FALSE(text);
  CHECK(text.error().find("--data PATH") != std::string::npos);
  CHECK(text.error().find((m.root / "x").string()) != std::string::npos);
}
