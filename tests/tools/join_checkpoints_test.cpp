#include "tools/potluck/join_checkpoints.hpp"

#include <filesystem>
#include <sstream>

#include <doctest/doctest.h>

#include "runtime/state/checkpoint.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/tiny_trainer.hpp"
#include "tools/potluck/created_run.hpp"
#include "tools/potluck/settings_options.hpp"
#include "tools/potluck/starting_point.hpp"

using namespace potluck;
using namespace potluck::tools;

namespace {

cli::parsed_command read(const std::vector<std::string>& words) {
  cli::command_spec spec;
  spec.name = "join";
  spec.options = checkpoint_options();
  spec.options.push_back(from_option());
  for (auto& option : settings_options())
    spec.options.push_back(option);
  std::ostringstream out, err;
  auto parsed = cli::parse_command(spec, words, out, err);
  REQUIRE_MESSAGE(!parsed.exit_code, err.str());
  return parsed;
}

/// A peer that has a checkpoint of this step of a trial with ten.
struct resumer {
  explicit resumer(std::uint64_t step) {
    training_state held;
    held.step = step;
    for (auto* values :
         {&held.parameters, &held.first_moment, &held.second_moment})
      values->resize(4);
    REQUIRE(save_checkpoint(file, trial, held));
  }
  std::string resumes(std::vector<std::string> words) {
    words.insert(words.begin(), {"--resume", file});
    auto done = resume(read(words).config, std::nullopt, config, notices);
    return done ? "" : done.error();
  }

  support::temporary_directory where;
  std::string file = where / "old.checkpoint";
  charter trial = tiny_charter(10, 64);
  peer_config config;
  notice_board notices;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a peer goes on with the run and the state of a checkpoint") {
  resumer x{3};
  REQUIRE(x.resumes({}).empty());
  REQUIRE(x.config.state);
  CHECK(x.config.state->step == 3);
  CHECK(x.config.run == x.trial.settings().run);
  REQUIRE(x.config.known);
  CHECK(x.config.known->digest() == x.trial.digest());
}

TEST_CASE("a trial that is over needs more steps") {
  resumer x{10};
  CHECK(contains(x.resumes({}), "go on with it by --steps NUMBER"));
  CHECK_FALSE(x.config.state);
  REQUIRE(x.resumes({"--steps", "20"}).empty());
  CHECK(x.config.known->settings().steps == 20);
}

TEST_CASE("a run is either gone on with, or begun") {
  resumer x{3};
  CHECK(contains(x.resumes({"--from", x.file}), "leave one of them out"));
}

TEST_CASE("what is no checkpoint is not resumed") {
  resumer x{3};
  std::filesystem::resize_file(x.file, 30);
  CHECK_FALSE(x.resumes({}).empty());
  CHECK_FALSE(x.config.state);
}

TEST_CASE("checkpoints lie with the identity, or where they are told to") {
  support::temporary_directory home;
  peer_config config;
  notice_board notices;
  REQUIRE(place_checkpoints(read({}).config, home.path(), "poems", config,
                            notices));
  REQUIRE(config.checkpoints);
  CHECK(config.checkpoints->path() == home / "poems.checkpoint");
  REQUIRE(place_checkpoints(read({"--checkpoint", home / "mine"}).config,
                            home.path(), "poems", config, notices));
  CHECK(config.checkpoints->path() == home / "mine");
  CHECK(notices.take().empty());
}

TEST_CASE("the progress of an earlier start is spared and named, unless it is "
          "gone on with") {
  resumer x{3};
  auto& config = x.config;
  auto& notices = x.notices;
  const auto own = x.where / "poems.checkpoint";
  std::filesystem::rename(x.file, own);
  x.file = own;
  const auto place = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--checkpoint-keep", "1"});
    REQUIRE(place_checkpoints(read(words).config, x.where.path(), "poems",
                              config, notices));
    config.checkpoints->begin(x.trial);
  };
  SUBCASE("begun anew") {
    config.run = x.trial.settings().run;
    place({});
    CHECK(notices.take()
          == std::vector<std::string>{
              own
              + ".3 holds step 3 of this run, and stays; if nobody else holds "
                "a later one, --resume "
              + own + ".3 goes on with it."});
    training_state other;
    other.step = 1;
    other.parameters = other.first_moment = other.second_moment = {1, 2, 3, 4};
    REQUIRE(config.checkpoints->save(other).problem == "");
    const auto spared = load_checkpoint(own + ".3");
    REQUIRE_MESSAGE(spared, spared.error());
    CHECK(spared->state.step == 3);
    CHECK(load_checkpoint(own)->state.step == 1);
  }
  SUBCASE("gone on with") {
    REQUIRE(x.resumes({}).empty());
    place({"--resume", own});
    CHECK(notices.take().empty());
  }
  SUBCASE("of another run") {
    config.run = "another";
    place({});
    CHECK(notices.take().empty());
  }
  SUBCASE("in the way of whose name something else is") {
    config.run = x.trial.settings().run;
    std::filesystem::create_directory(own + ".3");
    auto placed = place_checkpoints(read({}).config, x.where.path(), "poems",
                                    config, notices);
    REQUIRE_FALSE(placed);
    CHECK(contains(placed.error(), "move one of them away"));
  }
}

TEST_CASE("without an identity's folder and a name none are written, and that "
          "is said") {
  peer_config config;
  notice_board notices;
  REQUIRE(place_checkpoints(read({}).config, "", "poems", config, notices));
  CHECK(config.checkpoints == nullptr);
  const auto said = notices.take();
  REQUIRE(said.size() == 1);
  CHECK(contains(said[0], "No checkpoint is written: "));
  CHECK(contains(said[0], "name a file with --checkpoint."));
}

TEST_CASE("that a checkpoint cannot be written is said before hours are lost") {
  support::temporary_directory home;
  peer_config config;
  notice_board notices;
  auto placed = place_checkpoints(
      read({"--checkpoint", home / "no such folder/mine"}).config, home.path(),
      "poems", config, notices);
  REQUIRE_FALSE(placed);
  CHECK(contains(placed.error(), "--checkpoint: "));
}

TEST_CASE("who created a run from parameters begins with them") {
  support::temporary_directory home;
  peer_config config;
  config.run = "tiny";
  REQUIRE(take_first_state(home.path(), config));
  CHECK_FALSE(config.state);
  training_state first;
  first.parameters = first.first_moment = first.second_moment = {1, 2, 3};
  const auto path = first_state_path(home.path(), config.run);
  REQUIRE(save_checkpoint(path, tiny_charter(10, 64), first));
  REQUIRE(take_first_state(home.path(), config));
  REQUIRE(config.state);
  CHECK(config.state->parameters == first.parameters);
}
