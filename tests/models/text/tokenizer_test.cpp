#include "models/text/tokenizer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "models/helper_program.hpp"
#include "tests/models/fixture.hpp"

using namespace potluck;
using potluck::test::scratch_folder;
using potluck::test::toy_text;

namespace {

std::unique_ptr<tokenizer> learnt(const std::string& text,
                                  unsigned vocabulary) {
  auto model = tokenizer::learn(text, vocabulary);
  REQUIRE_MESSAGE(model, model.error());
  auto opened = tokenizer::open(*model);
  REQUIRE_MESSAGE(opened, opened.error());
  return std::move(*opened);
}

} // namespace

TEST_CASE("words become pieces, a word at a time") {
  const auto words = learnt(toy_text(1, 500), 60);
  const std::string text = "mana tisu nemusa";
  const auto ids = words->encode(text);
  CHECK(ids.size() < text.size());
  std::vector<std::int32_t> one_by_one;
  for (auto word : {"mana", "tisu", "nemusa"}) {
    const auto part = words->encode(word);
    CHECK_FALSE(part.empty());
    one_by_one.insert(one_by_one.end(), part.begin(), part.end());
  }
  CHECK(ids == one_by_one);
  CHECK(words->encode("tisu mana") != words->encode("mana tisu"));
}

TEST_CASE("learning is a function of the text") {
  const auto text = toy_text(1, 500);
  auto one = tokenizer::learn(text, 60);
  auto two = tokenizer::learn(text, 60);
  auto other = tokenizer::learn(toy_text(2, 500), 60);
  REQUIRE(one);
  REQUIRE(two);
  REQUIRE(other);
  CHECK(*one == *two);
  CHECK(*one != *other);
}

TEST_CASE("a vocabulary is as large as asked, or smaller on little text") {
  CHECK(learnt(toy_text(1, 500), 60)->vocabulary() == 60);
  const auto few = learnt("na ne na ne\n", 2000);
  CHECK(few->vocabulary() < 20);
  CHECK(few->vocabulary() > special_token::count);
  const auto ids = few->encode("ne na");
  CHECK(std::count(ids.begin(), ids.end(), special_token::unknown) == 0);
}

TEST_CASE("a special piece that is written out in a text is that piece, as in "
          "Hugging Face's tokenizer") {
  const auto words
      = learnt(toy_text(1, 500) + "[MASK] [CLS] [SEP] <pad> <unk> <unk>\n", 80);
  auto expected_ids = words->encode("mana");
  expected_ids.push_back(special_token::unknown);
  const auto second = words->encode("tisu");
  expected_ids.insert(expected_ids.end(), second.begin(), second.end());
  CHECK(words->encode("mana <unk> tisu") == expected_ids);
  CHECK(words->encode("mana<unk>tisu") == expected_ids);
  CHECK(words->encode("<pad><unk>[CLS] [SEP][MASK]")
        == std::vector<std::int32_t>{0, 1, 2, 3, 4});
  // Nothing was learnt of them: what they are written with is unknown.
  for (const auto* text : {"<", "[", "M"}) {
    CAPTURE(text);
    const auto ids = words->encode(text);
    CHECK(std::count(ids.begin(), ids.end(), special_token::unknown) == 1);
  }
  for (auto id : words->encode("mana [MASK <unk [cls] unk>"))
    CHECK((id == special_token::unknown || id >= special_token::count));
  const auto ids = words->encode("\xF0\x9F\x8D\xB2");
  CHECK(std::count(ids.begin(), ids.end(), special_token::unknown) == 1);
}

TEST_CASE("two backquotes or apostrophes are a quotation mark, as in Hugging "
          "Face's tokenizer") {
  const auto words = learnt(toy_text(1, 500) + "\"mana\" tisu's\n", 80);
  CHECK(words->encode("``mana'' tisu's") == words->encode("\"mana\" tisu's"));
  CHECK(words->encode("mana'''") == words->encode("mana\"'"));
}

TEST_CASE("lines are encoded one by one") {
  const auto words = learnt(toy_text(1, 500), 60);
  auto both = words->encode("mana tisu\n");
  const auto second = words->encode("nemusa");
  both.insert(both.end(), second.begin(), second.end());
  CHECK(words->encode("mana tisu\n\nnemusa") == both);
}

TEST_CASE("any bytes can be encoded") {
  const auto words = learnt(toy_text(1, 500), 60);
  std::string bytes;
  for (int i = 0; i < 256; ++i)
    bytes += static_cast<char>(i);
  CHECK_FALSE(words->encode(bytes).empty());
  CHECK(words->encode("").empty());
  CHECK(words->encode("\n \n").empty());
}

TEST_CASE("bytes that are no tokenizer are refused in a sentence") {
  auto model = tokenizer::learn(toy_text(1, 500), 60);
  REQUIRE(model);
  for (const auto& bytes :
       {std::string(), std::string("garbage"), std::string(1000, '\xFF'),
        model->substr(0, model->size() / 2), model->substr(0, 40)}) {
    auto opened = tokenizer::open(bytes);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().find("damaged") != std::string::npos);
  }
}

TEST_CASE("a text or vocabulary from which nothing can be learnt is refused") {
  CHECK_FALSE(tokenizer::learn("", 60));
  CHECK_FALSE(tokenizer::learn(" \n\t\n", 60));
  CHECK_FALSE(tokenizer::learn(toy_text(1, 500), 0));
  CHECK_FALSE(tokenizer::learn(toy_text(1, 500), special_token::count));
  auto small = tokenizer::learn(toy_text(1, 500), 9);
  REQUIRE_FALSE(small);
  CHECK(small.error().find("raise the setting") != std::string::npos);
}

TEST_CASE("threads share one tokenizer") {
  const auto words = learnt(toy_text(1, 500), 60);
  const auto text = toy_text(3, 200);
  const auto expected_ids = words->encode(text);
  std::vector<std::vector<std::int32_t>> found(4);
  std::vector<std::thread> threads;
  for (auto& ids : found)
    threads.emplace_back([&] { ids = words->encode(text); });
  for (auto& thread : threads)
    thread.join();
  for (const auto& ids : found)
    CHECK(ids == expected_ids);
}

TEST_CASE("text of many batches is encoded as if it were one") {
  const auto words = learnt(toy_text(1, 500), 60);
  const auto line = toy_text(4, 1);
  const auto one = words->encode(line);
  std::string text;
  std::vector<std::int32_t> expected_ids;
  for (std::size_t i = 0; text.size() < 1200000; ++i) {
    text += line;
    expected_ids.insert(expected_ids.end(), one.begin(), one.end());
  }
  CHECK(words->encode(text) == expected_ids);
}

TEST_CASE("the program is the first of its places that can be executed") {
  scratch_folder folder;
  auto found
      = find_program(tokenizer_program,
                     {folder.path("none"), folder.write("text", "no program"),
                      folder.path(), "/bin/true", "/bin/false"});
  REQUIRE(found);
  CHECK(*found == "/bin/true");
  auto missing = find_program(tokenizer_program, {folder.path("none")});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().find(folder.path("none")) != std::string::npos);
  CHECK(missing.error().find("POTLUCK_TOKENIZER") != std::string::npos);
}

TEST_CASE("a program that is something else reads no tokenizer") {
  ::setenv("POTLUCK_TOKENIZER", "/bin/true", 1);
  CHECK(candidates_for(tokenizer_program)
        == std::vector<std::string>{"/bin/true"});
  auto opened = tokenizer::open("garbage");
  auto model = tokenizer::learn(toy_text(1, 500), 60);
  ::unsetenv("POTLUCK_TOKENIZER");
  REQUIRE_FALSE(opened);
  CHECK(opened.error().find("the same build") != std::string::npos);
  REQUIRE_FALSE(model);
}
