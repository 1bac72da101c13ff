#include "runtime/state/charter.hpp"

#include <doctest/doctest.h>
#include <limits>

#include "runtime/random.hpp"

using namespace potluck;

namespace {

run_settings unusual_settings() {
  run_settings x;
  x.run = "bengali = better";
  x.target_batch = std::uint64_t{1} << 32;
  x.learning_rate = 0.1 + 0.2;
  x.clip_radius = 0.98765432101234567;
  x.own["model"] = {{"layers", "7"}, {"formula", "a = b.c, d"}};
  x.own["optimizer"] = {{"beta2", "0.5"}};
  x.seed = std::numeric_limits<std::uint64_t>::max();
  x.steps = 125000;
  x.warmup_steps = 5000;
  return x;
}

} // namespace

TEST_CASE("how groups are drawn survives a charter's bytes, said or not") {
  run_settings x;
  auto silent = charter::from_bytes(charter(x, "").to_bytes());
  REQUIRE(bool(silent));
  CHECK(silent->settings().averaging_method == "exact");
  x.averaging_method = "moshpit";
  auto copy = charter::from_bytes(charter(x, "tokenizer").to_bytes());
  REQUIRE(bool(copy));
  CHECK(copy->settings().redraws_groups());
}

TEST_CASE("a charter survives its bytes") {
  std::string tokenizer("model\0with\nzero=bytes", 21);
  charter original(unusual_settings(), tokenizer);
  auto copy = charter::from_bytes(original.to_bytes());
  REQUIRE(bool(copy));
  CHECK(copy->digest() == original.digest());
  CHECK(copy->tokenizer() == tokenizer);
  CHECK(copy->table() == original.table());
  CHECK(copy->table().back().name == "file-tokenizer");
}

TEST_CASE("a charter carries small files by name") {
  const charter original(
      unusual_settings(),
      charter_files{{"tokenizer", "words"}, {"layout", "w 2x3 decays\n"}});
  auto copy = charter::from_bytes(original.to_bytes());
  REQUIRE(bool(copy));
  CHECK(copy->digest() == original.digest());
  CHECK(copy->files() == original.files());
  CHECK(copy->file("layout") == "w 2x3 decays\n");
  CHECK(copy->tokenizer() == "words");
  CHECK(copy->file("vocabulary").empty());
  // Whoever has another file is told which one.
  const charter other(
      unusual_settings(),
      charter_files{{"tokenizer", "words"}, {"layout", "w 3x2 decays\n"}});
  CHECK(other.digest() != original.digest());
  CHECK(differences(original.table(), other.table()).find("file-layout is ")
        == 0);
  const charter none(unusual_settings(), "");
  CHECK(none.files().empty());
  CHECK(differences(none.table(), original.table())
            .find("file-layout is missing here and ")
        == 0);
}

TEST_CASE("files that no charter may have are refused") {
  auto refused = [](const charter_files& files) {
    const auto problem = problem_with(files);
    const auto read
        = charter::from_bytes(charter(run_settings{}, files).to_bytes());
    CHECK(problem.empty() == bool(read));
    return problem;
  };
  CHECK(refused({{"a", "1"}, {"b-2", std::string(15u << 20, 'x').substr(1)}})
        == "");
  CHECK(refused({{"a", std::string((15u << 20) + 1, 'x')}})
        == "the files are too large: a charter has at most 16 files and 15 MiB "
           "of them");
  for (auto name : {"", "Layout", "a/b", "a b", "a.b", "\x1b[2J",
                    "twenty-eight-letters-is-more"})
    CHECK(refused({{name, "x"}}).find("is no name of a file")
          != refused({}).npos);
  charter_files many;
  for (int i = 0; i < 16; ++i)
    many["file" + std::to_string(i)] = "x";
  CHECK(refused(many) == "");
  many["one-more"] = "x";
  CHECK(refused(many) != "");
}

TEST_CASE("files come in one order, once, and none without bytes") {
  const auto with = [](const std::string& files, char count) {
    auto bytes = charter(run_settings{}, "").to_bytes();
    bytes[16] = count;
    return bool(charter::from_bytes(bytes + files));
  };
  const std::string a("\1a\1\0\0\0x", 7), b("\1b\1\0\0\0y", 7);
  const std::string empty("\1c\0\0\0\0", 6);
  CHECK(with(a + b, 2));
  CHECK_FALSE(with(b + a, 2));
  CHECK_FALSE(with(a + a, 2));
  CHECK_FALSE(with(a + b, 1));
  CHECK_FALSE(with(a + b, 3));
  CHECK_FALSE(with(a + b + empty, 3));
  // However many it says: nothing is set aside for them.
  CHECK_FALSE(with(a + b, '\xff'));
}

TEST_CASE("the digest covers every setting and the tokenizer") {
  charter original(run_settings{}, "tokenizer");
  CHECK(charter().digest().empty());
  CHECK(charter(run_settings{}, "Tokenizer").digest() != original.digest());
  const auto other = unusual_settings();
  run_settings changed;
  changed.run = other.run;
  CHECK(charter(changed, "tokenizer").digest() != original.digest());
  changed = run_settings{};
  changed.chunk_values += 1;
  CHECK(charter(changed, "tokenizer").digest() != original.digest());
}

TEST_CASE("no prefix and no single changed byte passes for the charter") {
  charter original(run_settings{}, "some tokenizer");
  auto bytes = original.to_bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK(!charter::from_bytes(bytes.substr(0, size)));
  CHECK(!charter::from_bytes(bytes + "x"));
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      auto changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      auto read = charter::from_bytes(changed);
      if (read)
        CHECK(read->digest() != original.digest());
    }
}

TEST_CASE("a charter's files are counted before they are read") {
  auto bytes = charter(run_settings{}, "").to_bytes();
  constexpr std::uint32_t many = 1'000'000;
  for (std::uint32_t i = 0; i < many; ++i) {
    bytes += '\3';
    for (int digit = 0; digit < 3; ++digit)
      bytes += static_cast<char>(i >> 8 * digit);
    bytes += std::string(4, '\0');
  }
  for (int byte = 0; byte < 4; ++byte) // Behind the magic and two numbers.
    bytes[16 + byte] = static_cast<char>(many >> 8 * byte);
  const auto read = charter::from_bytes(bytes);
  REQUIRE_FALSE(read);
  CHECK(read.error() == "the charter's sizes are too large");
}

TEST_CASE("a charter read from damaged bytes is valid or refused") {
  const auto original = charter(run_settings{}, "tokenizer").to_bytes();
  random_stream chance(11);
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    auto bytes = original;
    for (auto edits = chance.below(4) + 1; edits > 0; --edits) {
      auto at = chance.below(bytes.size());
      auto length = chance.below(bytes.size() - at + 1) / 8;
      std::string noise(chance.below(12), '\0');
      for (char& c : noise)
        c = original[chance.below(original.size())];
      bytes.replace(at, length, noise);
      if (bytes.empty())
        bytes = "x";
    }
    auto read = charter::from_bytes(bytes);
    if (!read)
      continue;
    ++accepted;
    CHECK(problem_with(read->settings()).empty());
    CHECK(read->to_bytes() == bytes);
  }
  // Edits inside a value or the tokenizer may well make another charter.
  CHECK(accepted < 3000);
}

TEST_CASE("settings of a model that a peer does not know are kept as text") {
  const charter original(unusual_settings(), "");
  auto copy = charter::from_bytes(original.to_bytes());
  REQUIRE(bool(copy));
  CHECK(copy->settings().own == original.settings().own);
  CHECK(copy->settings().own.at("model").at("formula") == "a = b.c, d");
  auto other = unusual_settings();
  other.own["model"]["layers"] = "8";
  CHECK(charter(other, "").digest() != original.digest());
  CHECK(differences(to_table(other), copy->table())
            .find("layers is 8 here and 7 there")
        != std::string::npos);
}

TEST_CASE("a kind's settings are short texts with names of their own") {
  const auto refused = [](const std::string& section, const std::string& name,
                          const std::string& value) {
    run_settings x;
    x.own[section][name] = value;
    const auto problem = problem_with(x);
    const auto read = charter::from_bytes(charter(x, "").to_bytes());
    CHECK(problem.empty() == bool(read));
    return !problem.empty();
  };
  CHECK_FALSE(refused("model", "layers", "7"));
  CHECK_FALSE(refused("data", "text-7", std::string(255, '~')));
  CHECK(refused("data", "text", std::string(256, '~')));
  CHECK(refused("model", "layers", ""));
  CHECK(refused("model", "layers", "7\n8=9"));
  CHECK(refused("model", "layers", "7\x1b[2J"));
  CHECK(refused("model", "layers", "\xc3\xa4"));
  CHECK(refused("model", "", "7"));
  CHECK(refused("model", "Layers", "7"));
  CHECK(refused("model", "lay.ers", "7"));
  CHECK(refused("model", "lay ers", "7"));
  CHECK(refused("model", std::string(33, 'x'), "7"));
  CHECK(refused("diffusion", "noise", "7"));
  CHECK(refused("", "noise", "7"));
  // Every run has one, and it is no model's.
  CHECK(refused("model", "steps", "7"));
  // In two sections at once.
  run_settings twice;
  twice.own["model"]["layers"] = twice.own["data"]["layers"] = "7";
  CHECK(problem_with(twice) == "layers is there twice");
  run_settings many;
  for (int i = 0; i < 64; ++i)
    many.own["model"]["x" + std::to_string(i)] = "1";
  CHECK(problem_with(many).empty());
  many.own["data"]["y"] = "1";
  CHECK_FALSE(problem_with(many).empty());
}

TEST_CASE("a charter says all that its optimizer goes by") {
  const charter x(run_settings{}, "");
  CHECK(x.settings().own.at("optimizer").at("beta2") == "0.999");
  auto bytes = x.to_bytes();
  const std::string line = "optimizer.beta2=0.999\n";
  const auto at = bytes.find(line);
  REQUIRE(at != std::string::npos);
  bytes.erase(at, line.size());
  const auto size = static_cast<unsigned char>(bytes[12])
                    + (static_cast<unsigned char>(bytes[13]) << 8)
                    - static_cast<int>(line.size());
  bytes[12] = static_cast<char>(size & 255);
  bytes[13] = static_cast<char>(size >> 8);
  CHECK_FALSE(charter::from_bytes(bytes));
}

TEST_CASE("a charter has one form in bytes only") {
  auto bytes = charter(run_settings{}, "").to_bytes();
  auto at = bytes.find("beta1=0.9");
  REQUIRE(at != std::string::npos);
  bytes.replace(at, 9, "beta1=.90");
  CHECK(!charter::from_bytes(bytes));
}

TEST_CASE("a setting that older versions lack is written only when it is "
          "used") {
  run_settings plain;
  CHECK(charter(plain, "").to_bytes().find("updates") == std::string::npos);
  auto delayed = plain;
  delayed.updates = "delayed";
  charter original(delayed, "");
  CHECK(original.digest() != charter(plain, "").digest());
  auto copy = charter::from_bytes(original.to_bytes());
  REQUIRE(bool(copy));
  CHECK(copy->settings().delayed_updates());
  CHECK_FALSE(charter::from_bytes(charter(plain, "").to_bytes())
                  ->settings()
                  .delayed_updates());
  CHECK(differences(to_table(plain), to_table(delayed))
        == "updates is synchronous here and delayed there");
  CHECK(differences(to_table(delayed), to_table(plain))
        == "updates is delayed here and synchronous there");
  // What its absence says is not said in any other way.
  auto bytes = charter(plain, "").to_bytes();
  const std::string line = "updates=synchronous\n";
  auto at = bytes.find("seed=");
  REQUIRE(at != std::string::npos);
  bytes.insert(at, line);
  auto size = static_cast<unsigned char>(bytes[12])
              + (static_cast<unsigned char>(bytes[13]) << 8) + line.size();
  bytes[12] = static_cast<char>(size & 255);
  bytes[13] = static_cast<char>(size >> 8);
  auto refused = charter::from_bytes(bytes);
  REQUIRE(!refused);
  CHECK(refused.error().find("canonical") != std::string::npos);
}
