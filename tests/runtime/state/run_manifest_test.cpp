#include "runtime/state/run_manifest.hpp"

#include <doctest/doctest.h>

#include "runtime/state/charter_fields.hpp"

using namespace potluck;

namespace {

const key_pair& organiser() {
  static const auto key = key_pair::generate();
  return key;
}

charter draft() {
  run_settings x;
  x.run = "poems";
  x.model = "mnist";
  x.own["model"]["layers"] = "7";
  x.own["data"]["mask-probability"] = "0.25";
  x.own["experts"]["experts-per-sample"] = "2";
  x.target_batch = 1234;
  x.learning_rate = 0.003;
  x.updates = "delayed";
  x.seed = 99;
  return {x, charter_files{{"tokenizer", "the tokenizer"},
                           {"layout", "weight 2x3 decays\n"}}};
}

manifest signed_draft() {
  return unwrap(sign_charter(draft(), organiser()));
}

expected<charter> of(std::vector<manifest_section> sections) {
  return charter_of(
      unwrap(manifest::sign("poems", std::move(sections), organiser())));
}

} // namespace

TEST_CASE("a charter goes through its manifest, and is then of that run") {
  const auto x = signed_draft();
  auto back = charter_of(x);
  REQUIRE(back);
  auto meant = draft().settings();
  meant.run = x.run();
  meant.own["optimizer"] = draft().settings().own.at("optimizer");
  CHECK(to_table(back->settings()) == to_table(meant));
  CHECK(back->settings().own == meant.own);
  CHECK(back->tokenizer() == "the tokenizer");
  CHECK(back->files() == draft().files());
  CHECK(back->digest() != draft().digest());
  // As a checkpoint keeps it.
  auto kept = charter::from_bytes(back->to_bytes());
  REQUIRE(kept);
  CHECK(kept->settings().run == x.run());
}

TEST_CASE("every setting stands in a section, each section once") {
  const auto x = signed_draft();
  std::size_t lines = 0;
  for (auto& section : x.sections())
    if (section.name.find("file-") != 0)
      for (char c : section.bytes)
        lines += c == '\n';
  std::size_t written = 0;
  for (auto& field : charter_fields()) {
    CHECK(field.section != "");
    written += field.written(draft().settings());
  }
  for (auto& [section, own] : draft().settings().own) {
    CHECK_FALSE(own.empty());
    written += own.size();
  }
  CHECK(lines + 1 == written); // But the name, which is the manifest's.
}

TEST_CASE("bytes are a created run's charter if they are its manifest") {
  const auto x = signed_draft();
  CHECK(read_charter(x.run(), x.to_bytes()));
  // Of another organiser, of the same name; without any; no manifest at all.
  const auto other = unwrap(sign_charter(draft(), key_pair::generate()));
  CHECK_FALSE(read_charter(x.run(), other.to_bytes()));
  CHECK_FALSE(read_charter(x.run(), draft().to_bytes()));
  CHECK_FALSE(read_charter(x.run(), charter_of(x)->to_bytes()));
  CHECK_FALSE(read_charter(x.run(), "rubbish"));
  CHECK_FALSE(read_charter(run_key("prose", x.id()), x.to_bytes()));
  // In a trial the name is all that there is.
  CHECK(read_charter("poems", draft().to_bytes()));
  CHECK_FALSE(read_charter("prose", draft().to_bytes()));
  CHECK_FALSE(read_charter("poems", x.to_bytes()));
}

TEST_CASE("sections that this version does not know are refused") {
  auto sections = signed_draft().sections();
  REQUIRE(of(sections));
  auto more = sections;
  more.push_back({"diffusion", "noise=3\n"});
  CHECK_FALSE(of(more));
  more.back().bytes = "";
  CHECK_FALSE(of(more));
  more.back() = {"file-", "bytes"};
  CHECK_FALSE(of(more));
  more.back() = {"file-words", "bytes"};
  CHECK(of(more));
  more.back().bytes = "";
  CHECK_FALSE(of(more));
  auto fewer = sections;
  fewer.erase(fewer.begin());
  CHECK_FALSE(of(fewer));
  auto swapped = sections;
  std::swap(swapped[0], swapped[1]);
  CHECK_FALSE(of(swapped));
  // Of the run, where no kind's setting stands.
  REQUIRE(sections[0].name == "model");
  for (auto& text : {"Noise=3\n", "layers\n", "layers=7", "layers=\n",
                     "layers=\xff\n", "layers=7\n", "run=prose\n",
                     "mask-probability=0.25\n", "target-batch=1234\n"}) {
    CAPTURE(text);
    auto changed = sections;
    changed[0].bytes += text;
    CHECK_FALSE(of(changed));
  }
}

TEST_CASE("a charter without its manifest is held against its run's id") {
  const auto x = unwrap(charter_of(signed_draft()));
  CHECK(is_of_its_run(x, organiser().public_half()));
  CHECK_FALSE(
      is_of_its_run({x.settings(), "another"}, organiser().public_half()));
  auto files = x.files();
  files["layout"] += "bias 3 fixed\n";
  CHECK_FALSE(is_of_its_run({x.settings(), files}, organiser().public_half()));
  auto changed = x.settings();
  changed.own["model"]["layers"] = "8";
  CHECK_FALSE(is_of_its_run({changed, x.files()}, organiser().public_half()));
  CHECK_FALSE(is_of_its_run(x, key_pair::generate().public_half()));
  // A trial has no id to be held against.
  CHECK_FALSE(is_of_its_run(draft(), organiser().public_half()));
}
