#include "runtime/manifest/checked_text.hpp"

#include <algorithm>

#include <doctest/doctest.h>

using namespace potluck;

namespace {

constexpr std::string_view alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

checked_text read(const std::string& text) {
  return read_checked_text("soup", text);
}

std::string bytes_of(std::size_t count) {
  std::string result;
  for (std::size_t i = 0; i < count; ++i)
    result += static_cast<char>(i * i * 37 + i * 11 + 5);
  return result;
}

/// @param wrong A text with one slip; it is found, and undone.
void check_found(const std::string& wrong, const std::string& meant,
                 const std::string& bytes) {
  if (wrong == meant)
    return;
  const auto x = read(wrong);
  CAPTURE(wrong);
  CAPTURE(x.problem);
  REQUIRE(x.problem != "");
  CHECK(x.at);
  CHECK(x.bytes == bytes);
}

} // namespace

TEST_CASE("the check sum is Bech32m's") {
  // BIP 350, "Test vectors", but for the separator.
  auto x = read_checked_text("a", "A:LQFN3A");
  CHECK(x.problem == "");
  CHECK(x.bytes == "");
  x = read_checked_text("abcdef",
                        "abcdef:l7aum6echk45nj3s0wdvt2fg8x9yrzpqzd3ryx");
  CHECK(x.problem == "");
  CHECK(x.bytes.size() == 20);
  CHECK(x.bytes.substr(0, 4) == "\xff\xbb\xcd\xeb");
  CHECK(to_checked_text("abcdef", x.bytes)
        == "abcdef:l7aum6echk45nj3s0wdvt2fg8x9yrzpqzd3ryx");
}

TEST_CASE("bytes of any length come back, in capitals too") {
  for (std::size_t size = 0; size < 70; ++size) {
    auto text = to_checked_text("soup", bytes_of(size));
    CHECK(read(text).problem == "");
    CHECK(read(text).bytes == bytes_of(size));
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    CHECK(read(text).bytes == bytes_of(size));
  }
}

TEST_CASE("one wrong, missing, surplus or swapped character is found") {
  const auto bytes = bytes_of(20);
  const auto text = to_checked_text("soup", bytes);
  for (std::size_t i = 5; i < text.size(); ++i) {
    for (char c : alphabet) {
      auto wrong = text;
      wrong[i] = c;
      check_found(wrong, text, bytes);
      wrong = text;
      wrong.insert(i, 1, c);
      check_found(wrong, text, bytes);
    }
    auto wrong = text;
    wrong.erase(i, 1);
    check_found(wrong, text, bytes);
    wrong = text;
    if (i + 1 < wrong.size())
      std::swap(wrong[i], wrong[i + 1]);
    check_found(wrong, text, bytes);
  }
  auto wrong = text;
  wrong[10] = wrong[10] == 'q' ? 'p' : 'q';
  CHECK(read(wrong).problem.find("character 11 should be '") == 0);
  wrong = text;
  wrong.erase(20, 1);
  CHECK(read(wrong).problem.find("before character ") == 0);
}

TEST_CASE("any two characters that are swapped or wrong are found") {
  const auto text = to_checked_text("soup", bytes_of(12));
  for (std::size_t i = 5; i < text.size(); ++i)
    for (std::size_t j = i + 1; j < text.size(); ++j) {
      auto wrong = text;
      std::swap(wrong[i], wrong[j]);
      CHECK((wrong == text || read(wrong).problem != ""));
      wrong[i] = wrong[i] == 'q' ? 'p' : 'q';
      CHECK((wrong == text || read(wrong).problem != ""));
    }
}

TEST_CASE("what is no such text is refused, and the place named") {
  const auto text = to_checked_text("soup", bytes_of(20));
  CHECK(read("").problem == "it does not begin with soup:");
  CHECK(read("soap" + text.substr(4)).problem != "");
  CHECK(read("soup:").problem != "");
  CHECK(read("soup:q").problem != "");
  CHECK(read(std::string(most_checked_characters + 1, 'q')).problem
        == "it is longer than any");
  auto wrong = text;
  wrong[9] = 'b';
  CHECK(read(wrong).problem.find("character 10 is none") == 0);
  wrong[9] = 'Q';
  CHECK(read(wrong).problem.find("from character 10 on") == 0);
  wrong[9] = '\n';
  CHECK(read(wrong).problem.find("character 10 is none") == 0);
  for (std::size_t size = 0; size < text.size(); ++size)
    CHECK(read(text.substr(0, size)).problem != "");
  CHECK(read(" " + text).problem != "");
  CHECK(read(text + " ").problem != "");
}
