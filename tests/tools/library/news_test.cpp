#include "tools/library/news.hpp"

#include <fstream>

#include <doctest/doctest.h>

#include "tests/support/temporary_directory.hpp"
#include "tools/library/complaint.hpp"

using namespace potluck;
using namespace potluck::library;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t ample = 1 << 20;

event numbered(std::uint64_t number) {
  return {"step", {{"step", number}}};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("events come in their order, once") {
  news x;
  CHECK_FALSE(x.next(ample, 0s));
  x.hear(numbered(1));
  x.hear(numbered(2));
  CHECK(contains(x.next(ample, 0s).value(), "\"step\":1"));
  CHECK(contains(x.next(ample, 0s).value(), "\"step\":2"));
  CHECK_FALSE(x.next(ample, 0s));
}

TEST_CASE("an event that does not fit stays for the next call") {
  news x;
  x.hear(numbered(1));
  const auto length = x.next(0, 0s).value().size();
  CHECK(x.next(length, 0s)); // Its end has no room.
  CHECK(x.next(length + 1, 0s));
  CHECK_FALSE(x.next(ample, 0s));
}

TEST_CASE("of what nobody asks for the oldest is dropped") {
  news x;
  for (std::uint64_t i = 0; i <= news::most_events; ++i)
    x.hear(numbered(i));
  CHECK(contains(x.next(ample, 0s).value(), "\"step\":1}"));
}

TEST_CASE("how a peer stands follows from what is heard") {
  news x;
  x.hear(event{"listening", {{"address", std::string{"here:7"}}}});
  x.hear(event{"state_progress", {{"percent", 25.0}}});
  CHECK(x.look().address == "here:7");
  CHECK(x.look().progress == 0.25);
  CHECK_FALSE(x.look().finished);
  x.hear(event{"finished", {}});
  CHECK(x.look().finished);
  CHECK_FALSE(x.look().over);
}

TEST_CASE("why a peer failed stays what it was") {
  news x;
  x.fail("no such file");
  x.hear(peer_over{"something else"});
  CHECK(x.look().problem == "no such file");
}

TEST_CASE("a peer wants to end before it has ended") {
  news x;
  CHECK_FALSE(x.wait_for_end(0s, true));
  x.hear(peer_over{});
  CHECK(x.wait_for_end(0s, true));
  CHECK_FALSE(x.wait_for_end(0s, false));
  x.close();
  CHECK(x.wait_for_end(0s, false));
}

TEST_CASE("events go to a file, too, where one can be written") {
  support::temporary_directory where;
  news x;
  CHECK_THROWS_AS(x.write_to(where / "no such folder/log"), complaint);
  x.write_to(where / "log");
  x.hear(numbered(5));
  std::string line;
  std::ifstream log{where / "log"};
  REQUIRE(std::getline(log, line));
  CHECK(contains(line, "\"step\":5"));
}
