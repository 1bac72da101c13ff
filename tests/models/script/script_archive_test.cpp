#include "models/script/script_archive.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "runtime/random.hpp"
#include "tests/models/script/made_scripts.hpp"

using namespace potluck;
using test::mentions;
using test::scripts;

namespace {

/// A copy of words.pt in which Python's zipfile changes one part.
std::string changed(const std::string& part, const std::string& expression) {
  test::scratch_folder folder;
  const auto program = folder.write("change.py", R"(
import sys, zipfile
old, new, part, expression = sys.argv[1:]
with zipfile.ZipFile(old) as a, zipfile.ZipFile(new, "w") as b:
    for name in a.namelist():
        data = a.read(name)
        if name.endswith(part):
            data = eval(expression)
        if data is not None:
            b.writestr(name, data, zipfile.ZIP_DEFLATED)
)");
  const auto to = folder.path("changed");
  const auto command = "/usr/bin/python3 " + program + " "
                       + scripts().path("words.pt") + " " + to + " " + part
                       + " '" + expression + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  std::ifstream file{to, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::string problem_with(const std::string& bytes,
                         const script_limits& most = {}) {
  const auto result = checked_archive(bytes, most);
  return result ? "" : result.error();
}

} // namespace

TEST_CASE("what PyTorch writes passes, and once more to the same bytes") {
  if (!scripts().there())
    return;
  for (auto name : {"words", "masked", "digits"}) {
    const auto once = checked_archive(scripts().bytes(name));
    REQUIRE(once);
    const auto twice = checked_archive(*once);
    REQUIRE(twice);
    CHECK(*twice == *once);
    CHECK_FALSE(mentions(*once, "debug_pkl"));
  }
}

TEST_CASE("a scripted __setstate__ is refused before it can run") {
  if (!scripts().there())
    return;
  CHECK(
      mentions(problem_with(scripts().bytes("WritingAtOnce")), "__setstate__"));
}

TEST_CASE("classes of C++ are refused in code and in values") {
  if (!scripts().there())
    return;
  CHECK(mentions(
      problem_with(changed("linear.py", "data + b\"# torch.classes.x\"")),
      "torch.classes"));
  const std::string from = "b\"c__torch__\\n\"";
  for (auto kind : {"b\"c__torch__.torch.classes.a\\n\"", "b\"cos\\n\"",
                    "b\"cbuiltins\\n\""})
    CHECK(mentions(problem_with(changed("/data.pkl", "data.replace(" + from
                                                         + ", " + kind + ")")),
                   "holds a value of the kind"));
}

TEST_CASE("what is no archive, lacks a part or has one twice is refused") {
  if (!scripts().there())
    return;
  for (const auto& bytes : {std::string{}, std::string{"PK"},
                            std::string(4096, 'x'), test::toy_text(1, 100)})
    CHECK(mentions(problem_with(bytes), "is no TorchScript file"));
  CHECK(mentions(problem_with(changed("/data.pkl", "None")), "data.pkl"));
  CHECK(mentions(problem_with(changed("/data.pkl", "data[:-1]")), "too soon"));
  CHECK(mentions(problem_with(changed("/data.pkl", "b\"\\x93.\"")),
                 "does not write"));
}

TEST_CASE("limits hold for parts, sizes and nesting") {
  if (!scripts().there())
    return;
  const auto bytes = scripts().bytes("words");
  CHECK(problem_with(bytes) == "");
  script_limits few;
  few.records = 5;
  CHECK(mentions(problem_with(bytes, few), "more than 5 parts"));
  script_limits small;
  small.bytes = 1000;
  CHECK(mentions(problem_with(bytes, small), "larger than"));
  script_limits short_code;
  short_code.code_bytes = 100;
  CHECK(mentions(problem_with(bytes, short_code), "of code"));
  CHECK(mentions(problem_with(changed("linear.py", "b\"(\" * 300")), "nested"));
  CHECK(mentions(problem_with(changed("/data.pkl", "b\"(\" * 300")), "nested"));
  // A megabyte of zeros for a kilobyte, thrice as often as is allowed.
  const auto bomb = changed("linear.py", "b\" \" * (20 << 20)");
  CHECK(bomb.size() < (1 << 20));
  CHECK(mentions(problem_with(bomb), "of code"));
}

TEST_CASE("a file that is cut short or damaged anywhere is refused or sound") {
  if (!scripts().there())
    return;
  const auto bytes = scripts().bytes("masked");
  for (std::size_t size = 0; size < bytes.size(); size += 7)
    CHECK_FALSE(checked_archive(std::string_view{bytes}.substr(0, size)));
  random_stream chance(1);
  int sound = 0;
  for (int i = 0; i < 3000; ++i) {
    auto damaged = bytes;
    for (int flips = 0; flips < 3; ++flips)
      damaged[chance.below(damaged.size())]
          = static_cast<char>(chance.below(256));
    if (const auto result = checked_archive(damaged)) {
      ++sound;
      CHECK(checked_archive(*result));
    }
  }
  CHECK(sound > 0);
}
