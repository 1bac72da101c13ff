#include "runtime/state/checkpoint_files.hpp"

#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <set>
#include <sys/resource.h>

#include "runtime/state/checkpoint.hpp"
#include "tests/runtime/state/some_state.hpp"

using namespace potluck;

namespace {

charter of_run(const std::string& name) {
  run_settings settings;
  settings.run = name;
  settings.steps = 100;
  settings.warmup_steps = 1;
  return charter(settings, "tokenizer bytes");
}

training_state state_at(std::uint64_t step) {
  auto state = some_state(50, step);
  state.step = step;
  state.recent.clear();
  remember_digest(state);
  return state;
}

checkpoint_files keeping(const std::string& path, std::size_t count) {
  return checkpoint_files{checkpoint_files::places{path, {}, count}};
}

/// Writes the states of these steps, a second apart.
void write(checkpoint_files& files, std::initializer_list<std::uint64_t> steps,
           const std::string& run = "kept") {
  static auto time = std::filesystem::file_time_type::clock::now();
  files.begin(of_run(run));
  for (auto step : steps) {
    REQUIRE(files.save(state_at(step)).problem == "");
    std::filesystem::last_write_time(files.path(),
                                     time += std::chrono::seconds{1});
  }
}

/// File names in the folder.
std::set<std::string> names_in(const scratch_directory& folder) {
  std::set<std::string> result;
  for (const auto& x : std::filesystem::directory_iterator(folder.path()))
    result.insert(x.path().filename());
  return result;
}

std::uint64_t step_in(const std::string& path) {
  auto loaded = load_checkpoint(path);
  REQUIRE_MESSAGE(loaded, loaded.error());
  return loaded->state.step;
}

using names = std::set<std::string>;

} // namespace

TEST_CASE("the newest checkpoints are kept, and the newest of them has the "
          "name that was asked for") {
  scratch_directory scratch;
  auto files = keeping(scratch.file("c"), 3);
  write(files, {10, 20, 30, 40, 45});
  CHECK(names_in(scratch) == names{"c", "c.30", "c.40"});
  CHECK(step_in(scratch.file("c")) == 45);
  CHECK(step_in(scratch.file("c.40")) == 40);
  CHECK(step_in(scratch.file("c.30")) == 30);
}

TEST_CASE("one checkpoint is kept where one is asked for") {
  scratch_directory scratch;
  auto files = keeping(scratch.file("c"), 1);
  write(files, {10, 20});
  CHECK(names_in(scratch) == names{"c"});
}

TEST_CASE("what was written last is the newest, also behind a roll-back") {
  scratch_directory scratch;
  auto files = keeping(scratch.file("c"), 2);
  write(files, {10, 90, 20, 30});
  CHECK(names_in(scratch) == names{"c", "c.20"});
  CHECK(step_in(scratch.file("c")) == 30);
}

TEST_CASE("a file that is resumed is never removed") {
  scratch_directory scratch;
  {
    auto files = keeping(scratch.file("c"), 3);
    write(files, {10, 20, 30});
  }
  SUBCASE("the newest") {
    auto files = keeping(scratch.file("c"), 1);
    files.resumes(scratch.file("c"), state_at(30));
    write(files, {40, 50});
    CHECK(names_in(scratch) == names{"c", "c.30"});
    CHECK(step_in(scratch.file("c.30")) == 30);
  }
  SUBCASE("an older one") {
    auto files = keeping(scratch.file("c"), 2);
    files.resumes(scratch.file("c.10"), state_at(10));
    write(files, {11, 12, 13});
    // Nor later ones, until the run has got there again.
    CHECK(names_in(scratch) == names{"c", "c.10", "c.12", "c.20", "c.30"});
    write(files, {20, 31});
    CHECK(names_in(scratch) == names{"c", "c.10", "c.20"});
  }
  SUBCASE("not even by another of the same step") {
    auto files = keeping(scratch.file("c"), 3);
    files.resumes(scratch.file("c.10"), state_at(10));
    auto other = state_at(10);
    other.parameters[0] += 1;
    files.begin(of_run("kept"));
    REQUIRE(files.save(other).problem == "");
    write(files, {11});
    auto kept = load_checkpoint(scratch.file("c.10"));
    REQUIRE(kept);
    CHECK(to_bytes(kept->state) == to_bytes(state_at(10)));
  }
}

TEST_CASE("what an earlier start left stays where training begins anew") {
  scratch_directory scratch;
  {
    auto files = keeping(scratch.file("c"), 3);
    write(files, {70, 80, 90});
  }
  for (std::size_t keep : {1, 3}) {
    CAPTURE(keep);
    auto files = keeping(scratch.file("c"), keep);
    const auto left = files.spare("kept");
    REQUIRE(left);
    CHECK(left->step == (keep == 1 ? 90 : 20));
    CHECK(left->path == scratch.file(keep == 1 ? "c.90" : "c.20"));
    write(files, {5, 10, 20});
    CHECK(step_in(scratch.file("c")) == 20);
    for (auto step : {70, 80, 90})
      CHECK(step_in(scratch.file("c." + std::to_string(step))) == step);
  }
}

TEST_CASE("a file that is spared is not replaced by one of the same step") {
  scratch_directory scratch;
  auto other = state_at(10);
  other.parameters[0] += 1;
  {
    auto files = keeping(scratch.file("c"), 1);
    files.begin(of_run("kept"));
    REQUIRE(files.save(other).problem == "");
  }
  auto files = keeping(scratch.file("c"), 1);
  REQUIRE(files.spare("kept"));
  write(files, {10, 20});
  CHECK(names_in(scratch) == names{"c", "c.10"});
  auto kept = load_checkpoint(scratch.file("c.10"));
  REQUIRE(kept);
  CHECK(to_bytes(kept->state) == to_bytes(other));
}

TEST_CASE("files of many starts do not pile up where each goes on later") {
  scratch_directory scratch;
  for (std::uint64_t begin = 100; begin <= 900; begin += 100) {
    auto files = keeping(scratch.file("c"), 3);
    REQUIRE(files.spare("kept"));
    write(files, {begin, begin + 10, begin + 20, begin + 30});
  }
  CHECK(names_in(scratch) == names{"c", "c.830", "c.910", "c.920"});
}

TEST_CASE("nothing is spared where there is no progress of the run") {
  scratch_directory scratch;
  auto files = keeping(scratch.file("c"), 3);
  const auto spares_nothing = [&] {
    const auto left = files.spare("kept");
    return left && left->path.empty();
  };
  CHECK(spares_nothing());
  write(files, {0});
  CHECK(spares_nothing());
  write_all(scratch.file("c"), "notes of mine");
  CHECK(spares_nothing());
  write(files, {10}, "another");
  CHECK(spares_nothing());
  CHECK(names_in(scratch) == names{"c"});
  // A file of somebody else's is not given up for it.
  write(files, {20});
  write_all(scratch.file("c.20"), "more");
  const auto left = files.spare("kept");
  REQUIRE_FALSE(left);
  CHECK(left.error().find("c.20 is something else") != std::string::npos);
  CHECK(read_all(scratch.file("c.20")) == "more");
}

TEST_CASE("files that are not this run's checkpoints are left alone") {
  scratch_directory scratch;
  {
    auto files = keeping(scratch.file("c"), 3);
    write(files, {1, 2, 3}, "another");
  }
  write_all(scratch.file("c.7"), "notes of mine");
  write_all(scratch.file("c.8x"), "more");
  auto files = keeping(scratch.file("c"), 2);
  write(files, {10, 20, 30, 40});
  const auto here = names_in(scratch);
  for (auto name : {"c", "c.1", "c.2", "c.30", "c.7", "c.8x"})
    CHECK_MESSAGE(here.count(name) == 1, std::string{name});
  CHECK(here.count("c.10") == 0);
  CHECK(here.count("c.20") == 0);
}

TEST_CASE("a power cut at any byte leaves the newest whole checkpoint at its "
          "name") {
  scratch_directory scratch;
  auto files = keeping(scratch.file("c"), 2);
  write(files, {10, 20});
  const auto size = std::filesystem::file_size(scratch.file("c"));
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit usual{};
  getrlimit(RLIMIT_FSIZE, &usual);
  for (rlim_t cut = 0; cut < size; ++cut) {
    auto limit = usual;
    limit.rlim_cur = cut;
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto done = files.save(state_at(30));
    setrlimit(RLIMIT_FSIZE, &usual);
    CAPTURE(cut);
    REQUIRE(done.problem.find(scratch.file("c")) != std::string::npos);
    REQUIRE(step_in(scratch.file("c")) == 20);
    // What a machine leaves behind that had no time to tidy up.
    write_all(scratch.file("c.partial"), std::string(cut, 'x'));
  }
  std::signal(SIGXFSZ, before);
  write(files, {30});
  CHECK(step_in(scratch.file("c")) == 30);
  CHECK(step_in(scratch.file("c.20")) == 20);
  CHECK(names_in(scratch) == names{"c", "c.20"});
}

TEST_CASE("a state is written when its peer leaves, if it may be and is not "
          "there yet") {
  scratch_directory scratch;
  auto files = keeping(scratch.file("c"), 3);
  const auto held = state_at(7);
  files.may_be_saved(held.recent.front());
  CHECK_FALSE(files.lacks(held)); // Nobody knows of which run.
  files.begin(of_run("kept"));
  CHECK(files.lacks(held));
  CHECK_FALSE(files.lacks(state_at(8))); // One peer's word alone.
  auto stepped = held;
  ++stepped.step;
  remember_digest(stepped);
  CHECK(files.lacks(stepped)); // Made from that one.
  CHECK(files.save(held).problem == "");
  CHECK_FALSE(files.lacks(held));

  auto next = keeping(scratch.file("c"), 3);
  next.resumes(scratch.file("c"), held);
  next.begin(of_run("kept"));
  next.may_be_saved(held.recent.front());
  CHECK_FALSE(next.lacks(held)); // It lies there.
}

TEST_CASE("a summary says what the state is, and reads none of it") {
  scratch_directory scratch;
  auto files = keeping(scratch.file("c"), 1);
  write(files, {10});
  auto bytes = read_all(scratch.file("c"));
  bytes[bytes.size() - 20] ^= 1; // In the state.
  write_all(scratch.file("c"), bytes);
  auto found = read_checkpoint_summary(scratch.file("c"));
  REQUIRE_MESSAGE(found, found.error());
  CHECK(found->step == 10);
  CHECK(found->values == 50);
  CHECK(found->history_samples == 3456);
  CHECK(found->file_bytes == bytes.size());
  CHECK(found->charter.settings().run == "kept");
  write_all(scratch.file("d"), "no checkpoint");
  CHECK_FALSE(read_checkpoint_summary(scratch.file("d")));
}
