#include "models/text/training_sentences.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace potluck;

TEST_CASE("long lines are cut behind a space and lose nothing") {
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += "word" + std::to_string(i) + " ";
  std::string whole;
  for_each_sentence(text, 40, [&](std::string_view x) {
    CHECK(x.size() <= 40);
    CHECK(x.back() == ' ');
    whole += x;
  });
  CHECK(whole == text);
}

TEST_CASE("a cut never falls inside a character") {
  std::string text;
  for (int i = 0; i < 50; ++i)
    text += "\xE2\x82\xAC";
  std::string whole;
  for (std::size_t longest : {4u, 5u, 6u, 7u, 10u}) {
    whole.clear();
    for_each_sentence(text, longest, [&](std::string_view x) {
      CHECK(x.size() % 3 == 0);
      CHECK(x.size() <= longest);
      whole += x;
    });
    CHECK(whole == text);
  }
}

TEST_CASE("cutting ends on bytes that are no UTF-8") {
  const std::string text(100, '\x80');
  std::size_t bytes = 0;
  for_each_sentence(text, 7, [&](std::string_view x) {
    CHECK(x.size() <= 7);
    bytes += x.size();
  });
  CHECK(bytes == text.size());
}

TEST_CASE("a short text is taken whole but for its blank lines") {
  const auto found = training_sentences("one\n\n  \ntwo\r\nthree");
  REQUIRE(found.size() == 3);
  CHECK(found[0] == "one");
  CHECK(found[2] == "three");
}

TEST_CASE("a sample of a long text is within its limit and spread evenly") {
  std::string text;
  for (int i = 0; i < 10000; ++i)
    text += "line " + std::to_string(10000 + i) + "\n";
  const auto found = training_sentences(text, 10000);
  std::size_t bytes = 0;
  std::size_t first_half = 0;
  for (auto x : found) {
    bytes += x.size();
    first_half
        += static_cast<std::size_t>(x.data() - text.data()) < text.size() / 2;
  }
  CHECK(bytes <= 10000);
  CHECK(bytes > 9900);
  CHECK(first_half * 2 >= found.size() - 2);
  CHECK(first_half * 2 <= found.size() + 2);
}
