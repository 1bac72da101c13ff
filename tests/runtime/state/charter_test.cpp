#include "runtime/state/charter.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>

#include "runtime/random.hpp"
#include "runtime/state/charter_fields.hpp"

using namespace potluck;

namespace {

std::string problem_after(void (*change)(run_settings&)) {
  run_settings settings;
  change(settings);
  return problem_with(settings);
}

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

TEST_CASE("the default settings can make a model") {
  CHECK(problem_with(run_settings{}).empty());
}

TEST_CASE("every setting survives being printed and read") {
  auto original = unusual_settings();
  original.own.erase("model"); // That no peer without the model can read.
  run_settings copy;
  for (const auto& line : to_table(original)) {
    CAPTURE(line.name);
    CHECK(bool(assign(copy, line.name, line.value)));
  }
  CHECK(to_table(copy) == to_table(original));
  CHECK(copy.learning_rate == original.learning_rate);
  CHECK(copy.clip_radius == original.clip_radius);
  CHECK(copy.seed == original.seed);
}

TEST_CASE("reals are printed in their shortest form") {
  run_settings x;
  x.learning_rate = 0.00176;
  for (const auto& line : to_table(x))
    if (line.name == "learning-rate")
      CHECK(line.value == "0.00176");
}

TEST_CASE("an assignment outside the limits changes nothing and says why") {
  run_settings x;
  const std::pair<const char*, const char*> refused[] = {
      {"target-batch", "0"},
      {"target-batch", "4294967297"},
      {"target-batch", "12a"},
      {"target-batch", "-1"},
      {"target-batch", ""},
      {"target-batch", " 1"},
      {"group-size", "129"},
      {"group-size", "4294967298"},
      {"steps", "18446744073709551616"},
      {"learning-rate", "0"},
      {"learning-rate", "inf"},
      {"learning-rate", "nan"},
      {"learning-rate", "1e999"},
      {"beta1", "1"},
      {"epsilon", "0"},
      {"optimizer", "lion-tamer"},
      {"averaging", "Exact"},
      {"chunk-values", "255"},
      {"chunk-values", "4194305"},
      {"run", ""},
      {"run", "two\nlines"},
      {"no-such-setting", "1"},
  };
  auto before = to_table(x);
  for (auto [name, value] : refused) {
    const auto shown_name = name;
    CAPTURE(shown_name);
    const auto shown_value = value;
    CAPTURE(shown_value);
    auto done = assign(x, name, value);
    REQUIRE(!done);
    CHECK(done.error().find(name) != std::string::npos);
  }
  CHECK(to_table(x) == before);
}

TEST_CASE("a first state is its digest, or follows from the seed") {
  run_settings x;
  CHECK(x.initial_digest().empty());
  x.initial = "000102030405060708090a0b0c0d0e0f";
  CHECK(problem_with(x).empty());
  CHECK(to_string(x.initial_digest()) == x.initial);
  x.initial = "seeds";
  CHECK(problem_with(x).find("initial is 'seeds'") == 0);
}

TEST_CASE("settings that cannot make a model are named") {
  CHECK(problem_after([](run_settings& x) {
          x.optimizer = "lion-tamer";
        }).find("optimizer")
        == 0);
  CHECK(problem_after([](run_settings& x) {
          x.own["optimizer"]["beta1"] = "1";
        }).find("beta1")
        == 0);
  CHECK(
      problem_after([](run_settings& x) { x.own["optimizer"]["beta3"] = "1"; })
      == "the optimizer lamb has no setting beta3");
  CHECK(problem_after([](run_settings& x) { x.steps = 0; }).find("steps") == 0);
  CHECK(problem_after([](run_settings& x) {
          x.steps = 10;
          x.warmup_steps = 11;
        }).find("warmup-steps")
        == 0);
  CHECK(problem_after([](run_settings& x) {
          x.learning_rate = std::nan("");
        }).find("learning-rate")
        == 0);
  CHECK(problem_after([](run_settings& x) {
          x.run = std::string(130, 'x');
        }).find("run")
        == 0);
}

TEST_CASE(
    "redrawn groups go with what can average parameters, and an exact run "
    "says nothing of them") {
  auto with = [](auto change) {
    run_settings x;
    x.averaging_method = "moshpit";
    change(x);
    return problem_with(x);
  };
  CHECK(with([](auto&) {}).empty());
  CHECK(with([](auto& x) { x.aggregator = "median"; }).empty());
  CHECK(with([](auto& x) {
          x.updates = "delayed";
        }).find("averaging moshpit needs updates synchronous")
        == 0);
  for (auto packing : {"float16", "bfloat16", "int8", "auto"})
    CHECK(with([&](auto& x) {
            x.packing = packing;
          }).find("averaging moshpit needs packing float32")
          == 0);
  CHECK(with([](auto& x) {
          x.part_norm = 1;
        }).find("averaging moshpit needs part-norm 0")
        == 0);
  CHECK(with([](auto& x) {
          x.reserve = 1;
        }).find("averaging moshpit needs reserve 0")
        == 0);
  CHECK(with([](auto& x) {
          x.averaging_method = "gossip";
        }).find("averaging must be one of exact, moshpit")
        == 0);
  auto written = [](const run_settings& x) {
    auto table = to_table(x);
    return std::any_of(table.begin(), table.end(),
                       [](auto& line) { return line.name == "averaging"; });
  };
  run_settings x;
  CHECK_FALSE(x.redraws_groups());
  CHECK_FALSE(written(x));
  auto silent = charter::from_bytes(charter(x, "").to_bytes());
  REQUIRE(bool(silent));
  CHECK(silent->settings().averaging_method == "exact");
  x.averaging_method = "moshpit";
  CHECK(written(x));
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

TEST_CASE("differences are named for a person") {
  run_settings here, there;
  CHECK(differences(to_table(here), to_table(there)).empty());
  there.target_batch = 512;
  CHECK(differences(to_table(here), to_table(there))
        == "target-batch is 256 here and 512 there");
  CHECK(differences({{"a", "1"}}, {{"b", "2\x1b[2J"}})
        == "a is 1 here and missing there; b is missing here and 2?[2J there");
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
