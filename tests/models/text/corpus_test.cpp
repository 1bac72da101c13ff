#include "models/text/corpus.hpp"

#include <doctest/doctest.h>

#include "tests/models/fixture.hpp"

using namespace potluck;
using potluck::test::scratch_folder;

namespace {

bool mentions(const std::string& sentence, const std::string& part) {
  return sentence.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a text file is read as it is, without its byte order mark") {
  scratch_folder folder;
  const auto path
      = folder.write("a.txt", "\xEF\xBB\xBFgr\xC3\xBC\xC3\x9F dich\n");
  auto text = read_corpus(path);
  REQUIRE(text);
  CHECK(*text == "gr\xC3\xBC\xC3\x9F dich\n");
}

TEST_CASE("a folder's texts come in the order of their paths") {
  scratch_folder folder;
  folder.write("b.txt", "second");
  folder.write("c/d.txt", "third\n");
  folder.write("a.txt", "first\n");
  auto text = read_corpus(folder.path());
  REQUIRE(text);
  CHECK(*text == "first\nsecond\nthird\n");
}

TEST_CASE("a folder's archives, links, hidden and empty files are left out") {
  scratch_folder folder;
  const auto path = folder.write("text", "words\n");
  folder.write("archive", std::string("\x1F\x8B\x08\x00\x00", 5));
  folder.write("latin", std::string(20, 'a') + "\xE4\xF6\xFC");
  folder.write(".hidden", "no\n");
  folder.write(".git/notes", "no\n");
  folder.write("empty", "");
  std::filesystem::create_symlink(path, folder.path("link"));
  auto text = read_corpus(folder.path());
  REQUIRE(text);
  CHECK(*text == "words\n");
}

TEST_CASE("what cannot be read as text is refused in a sentence") {
  scratch_folder folder;
  auto reason = [](const std::string& path) {
    auto text = read_corpus(path);
    REQUIRE_FALSE(text);
    return text.error();
  };
  CHECK(mentions(reason(folder.path("nowhere")), "no file or folder"));
  CHECK(mentions(reason(""), "no file or folder"));
  CHECK(mentions(reason(folder.write("empty", "")), "is empty"));
  CHECK(mentions(reason(folder.write("zeros", std::string(9, '\0'))),
                 "not UTF-8"));
  CHECK(
      mentions(reason(folder.write("bytes", "\xC0\xFF\xFA abc")), "not UTF-8"));
  CHECK(mentions(reason(folder.write("wide", "\xFF\xFEh\x01")), "UTF-16"));
  CHECK(mentions(reason("/dev/null"), "neither a file nor a folder"));
  std::filesystem::create_directory(folder.path("hollow"));
  CHECK(mentions(reason(folder.path("hollow")), "holds no text"));
}

TEST_CASE("a text beyond the limit is refused, one at the limit is not") {
  scratch_folder folder;
  const auto path = folder.write("d/x", std::string(1000, 'x'));
  folder.write("d/y", std::string(499, 'y') + "\n");
  CHECK(read_corpus(path, 1000));
  CHECK_FALSE(read_corpus(path, 999));
  CHECK(read_corpus(folder.path("d"), 1501));
  CHECK_FALSE(read_corpus(folder.path("d"), 1400));
}

TEST_CASE("a few strange bytes do not make a text binary") {
  std::string text(1000, 'a');
  for (int i = 0; i < 10; ++i)
    text[static_cast<std::size_t>(i) * 90] = '\xE9';
  CHECK(kind_of_text(text) == text_kind::text);
  text[950] = '\xE9';
  CHECK(kind_of_text(text) == text_kind::binary);
}

TEST_CASE("only well-formed sequences count as UTF-8") {
  CHECK(kind_of_text("\xE2\x82\xAC\xF0\x9F\x8D\xB2") == text_kind::text);
  for (const char* wrong : {"\xC1\x81", "\xE0\x9F\x80", "\xED\xA0\x80",
                            "\xF4\x90\x80\x80", "\xF0\x9F\x8D", "\x80"})
    CHECK(kind_of_text(wrong) == text_kind::binary);
}
