#include "tools/potluck/front.hpp"

#include <filesystem>
#include <iostream>
#include <stdexcept>

#include <doctest/doctest.h>

#include "tests/support/captured.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace potluck;
using namespace potluck::tools;

namespace {

/// What a command prints on standard error, behind its status.
std::string result_of(const command& chosen,
                      const std::vector<std::string>& words) {
  support::captured said{std::cerr};
  const int status = run_command(chosen, words, "potluck");
  return std::to_string(status) + " " + said.take();
}

} // namespace

TEST_CASE("what a command throws is a complaint and a failure") {
  cli::command_spec spec;
  spec.name = "demo";
  const command throws{spec, [](cli::command_line&, const std::string&) -> int {
                         throw std::runtime_error{"There is no room."};
                       }};
  CHECK(result_of(throws, {}) == "1 potluck: There is no room.\n");
}

TEST_CASE("a key's empty name is a mistake that is named") {
  support::temporary_directory home;
  const std::vector<std::string> there{"--identity-dir", home.path()};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), there.begin(), there.end());
    return words;
  };
  CHECK(result_of(delegate_command(), with({"--key", ""}))
        == "2 potluck: --key: name a file.\n");
  CHECK(result_of(amend_command(), with({"key", "--key="}))
        == "2 potluck: --key: name a file.\n");
  CHECK(result_of(create_command(),
                  with({"zz", "--model", "mnist-ffn", "--peer",
                        std::string(64, '7') + "@h:1", "--organiser-key="}))
        == "2 potluck: --organiser-key: name a file.\n");
}

TEST_CASE("a run is laid down in a new folder with a key from elsewhere") {
  support::temporary_directory home;
  const auto folder = home / "new";
  support::captured quiet{std::cout};
  const auto result = result_of(
      create_command(),
      {"zz", "--model", "mnist-ffn", "--peer", std::string(64, '7') + "@h:1",
       "--organiser-key", home / "elsewhere", "--identity-dir", folder});
  CHECK(result == "0 ");
  CHECK(std::filesystem::exists(folder + "/zz.manifest"));
  CHECK(std::filesystem::status(folder).permissions()
        == std::filesystem::perms::owner_all);
}
