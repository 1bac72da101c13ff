#include "runtime/manifest/run_key.hpp"

#include <doctest/doctest.h>

using namespace potluck;

namespace {

run_id some_id() {
  run_id id;
  for (std::size_t i = 0; i < id.bytes.size(); ++i)
    id.bytes[i] = static_cast<std::uint8_t>(0x3f + 7 * i);
  return id;
}

} // namespace

TEST_CASE("a created run's key has its name and its id, a trial's the name") {
  const auto key = run_key("poems", some_id());
  CHECK(id_in(key) == some_id());
  CHECK(name_in(key) == "poems");
  CHECK(shown_run(key) == "poems (3f464d54)");
  CHECK(run_file_name(key) == "poems-3f464d545b626970");
  CHECK(id_in("poems").empty());
  CHECK(name_in("poems") == "poems");
  CHECK(shown_run("poems") == "poems");
  CHECK(run_file_name("verse/poems") == "verse_poems");
  CHECK(run_key(std::string(max_run_name, 'x'), some_id()).size()
        == max_run_key);
}

TEST_CASE("what is nearly a key is a trial's name") {
  const auto key = run_key("poems", some_id());
  auto capitals = key;
  for (char& c : capitals)
    if (c >= 'a' && c <= 'f')
      c = static_cast<char>(c - 'a' + 'A');
  for (const auto& text : {key.substr(0, key.size() - 1), key + "0",
                           key.substr(5), "two words" + key.substr(5), capitals,
                           std::string{"poems@"}, std::string{}}) {
    CAPTURE(text);
    CHECK(id_in(text).empty());
    CHECK(name_in(text) == text);
  }
}

TEST_CASE("a run's name looks like nothing but itself") {
  for (auto name : {"poems", "a", "Poems-2026_v1.2", "9lives"})
    CHECK(problem_with_run_name(name) == "");
  CHECK(problem_with_run_name(std::string(max_run_name, 'x')) == "");
  for (const auto& name :
       {std::string{}, std::string(max_run_name + 1, 'x'), std::string{".x"},
        std::string{"-x"}, std::string{"a/b"}, std::string{"a b"},
        std::string{"a@b"}, std::string{"a\nb"}, std::string{"a\x1b[2J"},
        std::string{"a\x7f"}, std::string{"a\u0085"}, // C1
        std::string{"a\u202ebc"},                     // from right to left
        std::string{"caf\u00e9"}, std::string{"a\0b", 3}}) {
    CAPTURE(name);
    CHECK(problem_with_run_name(name) != "");
  }
}
