#include "tools/potluck/options.hpp"

#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include "tests/support/temporary_directory.hpp"

using namespace potluck;

namespace {

/// What a command prints whose file misspells its only option, and its status.
struct misled {
  int status = 0;
  std::string out, err;

  explicit misled(std::vector<std::string> words) {
    const support::temporary_directory folder;
    std::ofstream{folder / "file.ini"} << "taget-batch=1\n";
    words.push_back("--config-file=" + folder / "file.ini");
    cli::command_spec spec;
    spec.name = "join";
    spec.options = {{"target-batch", cli::option_kind::integer, "256",
                     "Samples a step.", "NUMBER"}};
    std::ostringstream to_out, to_err;
    const auto parsed = cli::parse_command(spec, words, to_out, to_err);
    REQUIRE(parsed.exit_code);
    status = *parsed.exit_code;
    out = to_out.str();
    err = to_err.str();
  }
};

} // namespace

TEST_CASE("help is shown beside a file that is refused") {
  CHECK(misled{{}}.status == 2);
  for (const std::string word : {"--help", "-h", "--long-help"}) {
    const misled x{{word}};
    CHECK(x.status == 0);
    CHECK(x.err.empty());
    CHECK(x.out.find("--target-batch=NUMBER") != std::string::npos);
    CHECK((x.out.find("--scheduler.max-threads") != std::string::npos)
          == (word == "--long-help"));
  }
}
