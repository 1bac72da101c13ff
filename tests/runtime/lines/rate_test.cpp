#include "runtime/lines/rate.hpp"

#include <doctest/doctest.h>

using namespace potluck;

TEST_CASE("a rate with a unit is bytes per second") {
  const std::pair<const char*, double> known[]{
      {"10mbit", 1.25e6}, {"10 Mbit/s", 1.25e6}, {"800kbit/s", 1e5},
      {"64000bit", 8000}, {"1gbit", 125e6},      {"2.5Gbit/s", 312.5e6},
      {"500kB", 5e5},     {"2MB/s", 2e6},        {"1GB", 1e9},
      {"1500B/s", 1500},  {"0.5mbit", 62500},    {"1e3 kbit", 125e3}};
  for (const auto& [text, bytes] : known) {
    const auto shown = text;
    CAPTURE(shown);
    auto x = read_rate(text);
    REQUIRE(x);
    CHECK(*x == bytes);
  }
}

TEST_CASE("what is no rate is refused with an example") {
  for (const char* text :
       {"", "10", "mbit", "10mbits", "10mb", "10 m bit", "-1mbit", "0mbit",
        "infmbit", "nan mbit", "1e400kB", "1e308GB", "10mbit/h", "10mbit /s",
        "10/s", "0x10kB"}) {
    CAPTURE(text);
    auto x = read_rate(text);
    REQUIRE(!x);
    CHECK(x.error().find("10mbit") != std::string::npos);
  }
}

TEST_CASE("a size with a unit is bytes, and what is none is refused") {
  CHECK(*read_bytes("500GB") == 5e11);
  CHECK(*read_bytes("1.5 TB") == 1.5e12);
  CHECK(*read_bytes("64kB") == 64e3);
  for (const char* text : {"", "500", "GB", "1GB/s", "-1GB", "0MB", "1Gbit"}) {
    CAPTURE(text);
    CHECK(!read_bytes(text));
  }
}
