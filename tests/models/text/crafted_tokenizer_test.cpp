/// Tokenizers that a stranger made to do harm: they cost the program that reads
/// them, and nobody else.
#include "models/text/tokenizer.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <unistd.h>

#include "tests/models/fixture.hpp"
#include "tests/support/crafted_tokenizers.hpp"
#include "tests/support/skip.hpp"

using namespace potluck;

namespace {

/// What comes of a tokenizer, and of text that it encodes.
struct fate {
  std::string reason; ///< Why there is none; empty: there is.
  bool opened = false;
  std::vector<std::int32_t> tokens;
};

fate fate_of(const std::string& model, const std::string& text) {
  fate result;
  auto opened = tokenizer::open(model);
  if (!opened) {
    result.reason = opened.error();
    return result;
  }
  result.opened = true;
  try {
    result.tokens = (*opened)->encode(text);
  } catch (const std::runtime_error& x) {
    result.reason = x.what();
  }
  return result;
}

/// Where nothing is read, this says so, and there is nothing to test.
bool can_read() {
  const auto usual = fate_of(support::harmless_tokenizer(), "a");
  if (usual.reason.find("refuses to confine") == std::string::npos) {
    CHECK(usual.reason == "");
    return true;
  }
  support::skip(usual.reason);
  return false;
}

std::string usual_text() {
  std::string text;
  for (int i = 0; i < 50; ++i)
    text += "the quick brown fox aaaa \xC2\xBD caf\xC3\xA9\n";
  return text + std::string(50000, 'a');
}

/// The tokenizers' programs that this process has started.
std::vector<pid_t> programs() {
  std::vector<pid_t> result;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    std::string id, name, state;
    pid_t parent = 0;
    if (file >> id >> name >> state >> parent && parent == ::getpid()
        && name.find("potluck-token") != std::string::npos)
      result.push_back(std::stoi(id));
  }
  return result;
}

} // namespace

TEST_CASE("no crafted tokenizer takes its reader along") {
  if (!can_read())
    return;
  const auto text = usual_text();
  std::size_t dead = 0;
  for (const auto& [what, model] : support::crafted_tokenizers()) {
    CAPTURE(what);
    const auto x = fate_of(model, text);
    CAPTURE(x.reason);
    dead += x.reason.find("made to do harm") != std::string::npos;
    // In a sentence, or its tokens are ones that the model can have.
    CHECK(x.reason.empty() != x.tokens.empty());
    if (!x.reason.empty())
      CHECK(x.reason.back() == '.');
    for (auto token : x.tokens)
      REQUIRE((token >= 0 && token < 100));
    CHECK(programs().empty());
  }
  CHECK(dead >= 3); // Else these are harmless, and prove nothing.
}

TEST_CASE("a piece too long for the parser is told in one sentence") {
  if (!can_read())
    return;
  const auto x
      = fate_of(support::crafted_tokenizers().at("a piece of 200 KB"), "a");
  CHECK_FALSE(x.opened);
  CHECK(x.reason
        == "The tokenizer of this run crashed while it was read: it is "
           "damaged, or was made to do harm; do not join this run.");
}

TEST_CASE("a model that makes much of little does not fill our memory") {
  if (!can_read())
    return;
  const auto model = support::crafted_tokenizers().at(
      "a character map that makes much of little");
  CHECK(fate_of(model, "a").tokens.size() == 60000);
  const auto x = fate_of(model, "a a\n");
  CHECK(x.opened);
  CHECK(x.reason.find("made to do harm") != std::string::npos);
}

TEST_CASE("a tokenizer that dies in use is started again, once") {
  if (!can_read())
    return;
  auto words = tokenizer::open(support::harmless_tokenizer());
  REQUIRE(words);
  const auto tokens = (*words)->encode("some text");
  auto kill_it = [] {
    const auto found = programs();
    REQUIRE(found.size() == 1);
    ::kill(found[0], SIGKILL);
  };
  kill_it();
  CHECK((*words)->encode("some text") == tokens);
  kill_it();
  CHECK_THROWS_WITH((*words)->encode("some text"),
                    doctest::Contains("crashed while it encoded text"));
  CHECK_THROWS((*words)->encode("some text"));
}
