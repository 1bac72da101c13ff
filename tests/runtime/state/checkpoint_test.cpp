#include "runtime/state/checkpoint.hpp"

#include <cmath>
#include <csignal>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <map>
#include <sys/file.h>
#include <sys/resource.h>

#include "messages/codec.hpp"
#include "runtime/state/atomic_file.hpp"
#include "runtime/state/file_descriptor.hpp"
#include "runtime/state/setting_kinds.hpp"
#include "tests/runtime/history/signed_world.hpp"
#include "tests/runtime/state/some_state.hpp"

using namespace potluck;

namespace {

charter some_charter() {
  run_settings settings;
  settings.run = "torn";
  return charter(settings, "tokenizer bytes");
}

charter charter_of(const std::string& optimizer) {
  run_settings settings;
  settings.optimizer = optimizer;
  if (optimizer == "sgd")
    REQUIRE(bool(assign(settings, {{"momentum", "0"}})));
  complete(settings, built_in_families());
  return charter(settings, "");
}

/// So that a checkpoint with two moments of `values` parameters is whole again.
void mend_trailer(std::string& bytes, std::size_t values) {
  const auto part = values * sizeof(float);
  const auto front = bytes.size() - digest::size - 3 * part;
  std::string all;
  const auto add
      = [&](const digest& x) { all.append(x.bytes.begin(), x.bytes.end()); };
  add(digest_of(bytes.data(), front));
  for (std::size_t i = 0; i < 3; ++i)
    add(digest_of(bytes.data() + front + i * part, part));
  const auto sum = digest_of(all.data(), all.size());
  std::copy(sum.bytes.begin(), sum.bytes.end(), bytes.end() - digest::size);
}

/// The same in an earlier format, of a checkpoint without signed steps and with
/// two moments of `values` parameters.
std::string of_format(char version, std::string bytes, std::size_t values) {
  bytes[8] = version;
  bytes.erase(32, 8); // The length of the signed steps.
  mend_trailer(bytes, values);
  return bytes;
}

bool says(const expected<checkpoint>& x, const std::string& what) {
  return !x && x.error().find(what) != std::string::npos;
}

/// No file may grow beyond `bytes` while it lives: a disk that fills up.
class small_disk {
public:
  explicit small_disk(rlim_t bytes) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~small_disk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

private:
  rlimit before_;
  void (*handler_)(int);
};

} // namespace

TEST_CASE("a checkpoint brings back charter and state") {
  scratch_directory scratch;
  auto state = some_state(1000, 3);
  remember_digest(state);
  REQUIRE(bool(save_checkpoint(scratch.file("c"), some_charter(), state)));
  auto loaded = load_checkpoint(scratch.file("c"));
  REQUIRE(bool(loaded));
  CHECK(loaded->charter.digest() == some_charter().digest());
  CHECK(loaded->charter.tokenizer() == "tokenizer bytes");
  CHECK(to_bytes(loaded->state) == to_bytes(state));
  CHECK(loaded->state.recent == state.recent);
  CHECK(!std::filesystem::exists(scratch.file("c.partial")));
}

TEST_CASE("a checkpoint cut off anywhere is refused") {
  scratch_directory scratch;
  auto path = scratch.file("c");
  REQUIRE(bool(save_checkpoint(path, some_charter(), some_state(100, 3))));
  auto whole = read_all(path);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    write_all(path, whole.substr(0, size));
    CAPTURE(size);
    REQUIRE(says(load_checkpoint(path), "truncated"));
  }
  write_all(path, "");
  CHECK(says(load_checkpoint(path), "not a checkpoint"));
  write_all(path, whole + "x");
  CHECK(says(load_checkpoint(path), "damaged"));
  write_all(path, whole);
  CHECK(bool(load_checkpoint(path)));
}

TEST_CASE("a flipped bit anywhere is noticed") {
  scratch_directory scratch;
  auto path = scratch.file("c");
  REQUIRE(bool(save_checkpoint(path, some_charter(), some_state(20, 3))));
  auto whole = read_all(path);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    auto spoilt = whole;
    spoilt[i] = static_cast<char>(spoilt[i] ^ (1 << i % 8));
    write_all(path, spoilt);
    CAPTURE(i);
    REQUIRE(!load_checkpoint(path));
  }
}

TEST_CASE("a sentence says why a checkpoint cannot be read") {
  scratch_directory scratch;
  auto path = scratch.file("c");
  CHECK(says(load_checkpoint(path), "No such file"));
  CHECK(says(load_checkpoint(scratch.path()), "is not a file"));
  write_all(path, "{\"some\": \"JSON that is longer than the header\"}");
  CHECK(says(load_checkpoint(path), "not a checkpoint"));
  REQUIRE(bool(save_checkpoint(path, some_charter(), some_state(20, 3))));
  auto whole = read_all(path);
  whole[8] = 4;
  write_all(path, whole);
  CHECK(says(load_checkpoint(path), "format 4"));
}

TEST_CASE("a checkpoint has the moments that the run's optimizer keeps") {
  scratch_directory scratch;
  const auto path = scratch.file("c");
  std::size_t last = 0;
  for (const auto& [moments, optimizer] :
       std::map<unsigned, std::string>{{0, "sgd"}, {1, "lion"}, {2, "adam"}}) {
    const auto shown = optimizer;
    CAPTURE(shown);
    const auto agreed = charter_of(optimizer);
    const auto state = some_state(1000, 3, moments);
    REQUIRE(bool(save_checkpoint(path, agreed, state)));
    const auto loaded = load_checkpoint(path);
    REQUIRE_MESSAGE(loaded, loaded.error());
    CHECK(to_bytes(loaded->state) == to_bytes(state));
    CHECK(loaded->state.recent == state.recent);
    const auto size = read_all(path).size();
    if (last != 0)
      CHECK(std::abs(static_cast<double>(size - last) - 4000) < 100);
    last = size;
  }
}

TEST_CASE("a checkpoint brings back what proves its history") {
  scratch_directory scratch;
  const auto path = scratch.file("c");
  const std::vector<signed_step> history{
      history_peers::made_step(2, {1, 2}),
      history_peers::signed_by({1, 3}, 3, {1, 2, 3})};
  REQUIRE(bool(save_checkpoint(path, some_charter(), some_state(20, 3),
                               local_disk(), history)));
  const auto loaded = load_checkpoint(path);
  REQUIRE_MESSAGE(loaded, loaded.error());
  CHECK(to_bytes(loaded->state) == to_bytes(some_state(20, 3)));
  CHECK(encode(history_reply{0, {}, loaded->history})
        == encode(history_reply{0, {}, history}));
  // A list that no peer would take from another is none of a checkpoint.
  const auto backwards = std::vector<signed_step>{history[1], history[0]};
  REQUIRE(bool(save_checkpoint(path, some_charter(), some_state(20, 3),
                               local_disk(), backwards)));
  CHECK(says(load_checkpoint(path), "in no order"));
  CHECK(bool(read_checkpoint_summary(path)));
}

TEST_CASE("a checkpoint of the format before has no history") {
  scratch_directory scratch;
  const auto path = scratch.file("c");
  const auto state = some_state(50, 3);
  REQUIRE(bool(save_checkpoint(path, some_charter(), state)));
  write_all(path, of_format(2, read_all(path), 50));
  const auto loaded = load_checkpoint(path);
  REQUIRE_MESSAGE(loaded, loaded.error());
  CHECK(to_bytes(loaded->state) == to_bytes(state));
  CHECK(loaded->history.empty());
  const auto summary = read_checkpoint_summary(path);
  REQUIRE(summary);
  CHECK(summary->charter.digest() == some_charter().digest());
  CHECK(summary->step == state.step);
}

TEST_CASE("a checkpoint of before loses the moments that nothing reads") {
  scratch_directory scratch;
  const auto path = scratch.file("c");
  const auto agreed = charter_of("lion");
  REQUIRE(bool(save_checkpoint(path, agreed, some_state(50, 3))));
  write_all(path, of_format(1, read_all(path), 50));
  const auto loaded = load_checkpoint(path);
  REQUIRE_MESSAGE(loaded, loaded.error());
  CHECK(to_bytes(loaded->state) == to_bytes(some_state(50, 3, 1)));
  CHECK(loaded->state.recent
        == std::vector<digest>{digest_of_state(loaded->state)});
}

TEST_CASE("a checkpoint with too few moments is refused in a sentence") {
  scratch_directory scratch;
  const auto path = scratch.file("c");
  REQUIRE(bool(save_checkpoint(path, charter_of("adam"), some_state(5, 3, 1))));
  CHECK(says(load_checkpoint(path), "has 1 moments"));
}

TEST_CASE("a full disk keeps the old checkpoint") {
  scratch_directory scratch;
  auto path = scratch.file("c");
  auto old = some_state(100, 3);
  REQUIRE(bool(save_checkpoint(path, some_charter(), old)));
  auto larger = some_state(800000, 4);
  for (rlim_t bytes :
       {rlim_t{0}, rlim_t{100}, rlim_t{100000}, rlim_t{5000001}}) {
    small_disk disk(bytes);
    auto done = save_checkpoint(path, some_charter(), larger);
    REQUIRE(!done);
    CHECK(done.error().find(path) != std::string::npos);
    CHECK(!std::filesystem::exists(path + ".partial"));
  }
  auto loaded = load_checkpoint(path);
  REQUIRE(bool(loaded));
  CHECK(digest_of_state(loaded->state) == digest_of_state(old));
}

TEST_CASE("what cannot be written to is known before the first checkpoint") {
  scratch_directory scratch;
  auto refused = [&](const std::string& path) {
    auto tried = try_file(path);
    return !tried && tried.error().find(path) != std::string::npos;
  };
  const auto path = scratch.file("c");
  SUBCASE("a good place is as before") {
    CHECK(bool(try_file(path)));
    CHECK(!std::filesystem::exists(path));
    write_all(path, "old");
    CHECK(bool(try_file(path)));
    CHECK(read_all(path) == "old");
  }
  SUBCASE("no folder") {
    CHECK(refused(scratch.file("missing/c")));
  }
  SUBCASE("a file instead of the folder") {
    write_all(path, "");
    CHECK(refused(path + "/c"));
  }
  SUBCASE("a folder instead of the file") {
    std::filesystem::create_directory(path);
    CHECK(refused(path));
  }
  SUBCASE("a full disk") {
    small_disk disk(0);
    CHECK(refused(path));
  }
  CHECK(!std::filesystem::exists(path + ".partial"));
}

TEST_CASE("what a crashed writer left behind does not matter") {
  scratch_directory scratch;
  auto path = scratch.file("c");
  write_all(path + ".partial", std::string(100000, 'x'));
  REQUIRE(bool(save_checkpoint(path, some_charter(), some_state(100, 3))));
  CHECK(bool(load_checkpoint(path)));
}

TEST_CASE("two processes do not write one checkpoint at once") {
  scratch_directory scratch;
  auto path = scratch.file("c");
  write_all(path + ".partial", "");
  file_descriptor other(open((path + ".partial").c_str(), O_RDONLY));
  REQUIRE(flock(other.get(), LOCK_EX) == 0);
  auto done = save_checkpoint(path, some_charter(), some_state(100, 3));
  REQUIRE(!done);
  CHECK(done.error().find("another process") != std::string::npos);
}

TEST_CASE("a checkpoint that cannot be placed is a failure") {
  scratch_directory scratch;
  auto state = some_state(10, 3);
  CHECK(!save_checkpoint(scratch.file("missing/c"), some_charter(), state));
  std::filesystem::create_directory(scratch.file("directory"));
  CHECK(!save_checkpoint(scratch.file("directory"), some_charter(), state));
  CHECK(!std::filesystem::exists(scratch.file("directory.partial")));
}
