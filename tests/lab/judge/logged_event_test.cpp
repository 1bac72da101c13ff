#include "tools/lab/judge/logged_event.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

#include <doctest/doctest.h>

#include "runtime/event_log.hpp"

using namespace potluck;
using namespace potluck::tools;

TEST_CASE("an event is read as it was written") {
  event written{"step",
                {{"step", std::uint64_t{7}},
                 {"loss", 6.5},
                 {"orderly", true},
                 {"digest", std::string{"ab\"c"}}}};
  auto x = parse_event(to_json(written, 12.5));
  REQUIRE(x);
  CHECK(x->name == "step");
  CHECK(x->time == 12.5);
  CHECK(x->count("step") == 7);
  CHECK(x->number("loss") == 6.5);
  CHECK(x->number("orderly") == 1);
  CHECK(x->text("digest") == "ab\"c");
  CHECK(x->text("step") == "");
  CHECK(x->count("digest") == 0);
}

TEST_CASE("a number that is not finite is no number") {
  auto x = parse_event(to_json({"step", {{"loss", 0.0 / 0.0}}}, 0));
  REQUIRE(x);
  CHECK_FALSE(has(*x, "loss"));
}

TEST_CASE("a line that is no event is nothing") {
  for (auto line : {"", "{", "[1]", "3", "{\"time\":1}", "{\"event\":1}"})
    CHECK_FALSE(parse_event(line));
}

TEST_CASE("a log is followed from before it exists, by whole lines") {
  char path[] = "/tmp/logged_event_XXXXXX";
  auto fd = ::mkstemp(path);
  REQUIRE(fd >= 0);
  ::close(fd);
  std::remove(path);
  log_tail tail{path};
  CHECK(tail.news().empty());
  std::ofstream out{path};
  out << "{\"event\":\"a\"}\n{\"event\":\"b\"" << std::flush;
  auto news = tail.news();
  REQUIRE(news.size() == 1);
  CHECK(news[0].name == "a");
  CHECK(tail.news().empty());
  out << "}\nnonsense\n{\"event\":\"c\"}\n" << std::flush;
  news = tail.news();
  REQUIRE(news.size() == 2);
  CHECK(news[0].name == "b");
  CHECK(news[1].name == "c");
  std::remove(path);
}
