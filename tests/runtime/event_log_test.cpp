#include "runtime/event_log.hpp"

#include <doctest/doctest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/runtime/state/some_state.hpp"

using namespace potluck;
using nlohmann::json;

TEST_CASE("an event is one line with its name and time first") {
  event x{"step",
          {{"step", std::uint64_t{18446744073709551615u}},
           {"change", std::int64_t{-3}},
           {"loss", 6.25},
           {"island", false},
           {"peer", std::string("a \"quoted\"\nname")}}};
  CHECK(to_json(x, 1.5)
        == "{\"event\":\"step\",\"time\":1.5,\"step\":18446744073709551615,"
           "\"change\":-3,\"loss\":6.25,\"island\":false,"
           "\"peer\":\"a \\\"quoted\\\"\\nname\"}");
}

TEST_CASE("numbers that JSON lacks become null") {
  event x{"step",
          {{"nan", std::numeric_limits<double>::quiet_NaN()},
           {"infinity", -std::numeric_limits<double>::infinity()}}};
  auto line = json::parse(to_json(x, 0));
  CHECK(line["nan"].is_null());
  CHECK(line["infinity"].is_null());
}

TEST_CASE("a text that is not UTF-8 still makes a line of JSON") {
  auto line = to_json({"join", {{"peer", std::string("\xff\xfe")}}}, 0);
  CHECK(json::parse(line)["peer"] == "\xef\xbf\xbd\xef\xbf\xbd");
}

TEST_CASE("a log is appended to and readable at once") {
  scratch_directory scratch;
  auto path = scratch.file("events.jsonl");
  for (int run = 0; run < 2; ++run) {
    auto log = event_log::open(path);
    REQUIRE(bool(log));
    for (int i = 0; i < 3; ++i) {
      REQUIRE(
          bool(log->write({"step", {{"step", std::int64_t{i}}}}, run + 0.5)));
      auto text = read_all(path);
      REQUIRE(text.back() == '\n');
    }
  }
  std::istringstream lines(read_all(path));
  std::string line;
  for (int i = 0; i < 6; ++i) {
    REQUIRE(bool(std::getline(lines, line)));
    auto read = json::parse(line);
    CHECK(read["event"] == "step");
    CHECK(read["time"] == (i < 3 ? 0.5 : 1.5));
    CHECK(read["step"] == i % 3);
  }
  CHECK(!std::getline(lines, line));
}

TEST_CASE("a log that cannot be opened or written is named") {
  scratch_directory scratch;
  auto log = event_log::open(scratch.file("missing/events.jsonl"));
  REQUIRE(!log);
  CHECK(log.error().find("missing/events.jsonl") != std::string::npos);
  auto full = event_log::open("/dev/full");
  REQUIRE(bool(full));
  auto done = full->write({"step", {}}, 0);
  REQUIRE(!done);
  CHECK(done.error().find("/dev/full") != std::string::npos);
}
