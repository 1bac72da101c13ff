#include "models/text/tokenizer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "models/text/tokenizer_library.hpp"
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

TEST_CASE("text survives encoding and decoding") {
  const auto words = learnt(toy_text(1, 500), 60);
  const std::string text = "mana tisu nemusa";
  const auto ids = words->encode(text);
  CHECK(ids.size() < text.size());
  CHECK(words->decode(ids) == text);
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
  CHECK(few->decode(few->encode("ne na")) == "ne na");
}

TEST_CASE("text never encodes to the tokens with a meaning of their own") {
  const auto words
      = learnt(toy_text(1, 500) + "[MASK] [CLS] [SEP] <pad> <unk>\n", 80);
  for (auto id :
       words->encode("mana [MASK] [CLS] [SEP] <pad> \xF0\x9F\x8D\xB2"))
    CHECK((id == special_token::unknown || id >= special_token::count));
  const auto ids = words->encode("\xF0\x9F\x8D\xB2");
  CHECK(std::count(ids.begin(), ids.end(), special_token::unknown) == 1);
}

TEST_CASE("special tokens and numbers out of range decode to nothing") {
  const auto words = learnt(toy_text(1, 500), 60);
  auto ids = words->encode("mana tisu");
  ids.insert(ids.begin(), special_token::begin);
  ids.push_back(special_token::separator);
  ids.push_back(special_token::padding);
  ids.push_back(-1);
  ids.push_back(1000000);
  CHECK(words->decode(ids) == "mana tisu");
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

TEST_CASE("a missing or damaged plugin is reported in a sentence") {
  scratch_folder folder;
  auto missing = open_tokenizer_library({folder.path("libx.so")});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().find(folder.path("libx.so")) != std::string::npos);
  CHECK(missing.error().find("POTLUCK_PLUGIN_DIR") != std::string::npos);
  auto damaged = open_tokenizer_library({folder.write("y.so", "no library")});
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().find("cannot be opened") != std::string::npos);
}

TEST_CASE("a library of another kind is not taken for the plugin") {
  auto other = open_tokenizer_library({"/lib/x86_64-linux-gnu/libm.so.6",
                                       "/lib/aarch64-linux-gnu/libm.so.6",
                                       "/lib64/libm.so.6"});
  REQUIRE_FALSE(other);
}
