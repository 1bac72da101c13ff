#include "runtime/membership/kept_addresses.hpp"

#include <doctest/doctest.h>

#include "runtime/membership/bootstrap_record.hpp"
#include "runtime/random.hpp"

using namespace potluck;

namespace {

contact at(std::uint8_t number, const std::string& host,
           std::uint16_t port = 7000) {
  contact x;
  x.id.bytes[0] = number;
  x.where = {host, port};
  return x;
}

} // namespace

TEST_CASE("addresses come back from their text, the latest first") {
  kept_addresses a;
  CHECK(a.met(at(1, "one"), 100));
  CHECK(a.met(at(2, "2001:db8::2"), 300));
  CHECK(a.named(at(3, "three"), 900));
  CHECK(a.listens(41234));
  auto b = kept_addresses::read(a.text());
  REQUIRE(b);
  CHECK(b->text() == a.text());
  CHECK(b->port() == 41234);
  CHECK(b->addresses()
        == std::vector<address>{
            {"2001:db8::2", 7000}, {"one", 7000}, {"three", 7000}});
  // Where it was met is better than what is said; and being there is later.
  CHECK_FALSE(b->named(at(1, "elsewhere"), 999));
  b->seen(at(1, "").id, 999);
  CHECK(b->addresses().front().host == "one");
  CHECK_FALSE(b->met(at(1, "one"), 1000));
  CHECK_FALSE(b->met(at(4, "four", 0), 1000));
}

TEST_CASE("at an address there is one peer, and of a peer one address") {
  kept_addresses a;
  a.met(at(1, "one"), 100);
  CHECK(a.met(at(1, "moved"), 200));
  CHECK(a.addresses() == std::vector<address>{{"moved", 7000}});
  CHECK(a.met(at(2, "moved"), 300));
  CHECK(a.size() == 1);
  CHECK_FALSE(a.named(at(3, "moved"), 300));
}

TEST_CASE("the oldest give way, and of bootstraps there are few") {
  kept_addresses a;
  for (std::uint8_t i = 1; i <= 20; ++i)
    a.named(at(i, "b" + std::to_string(i)), 1000);
  CHECK(a.size() == kept_addresses::most_bootstraps);
  for (std::uint8_t i = 100; i < 200; ++i)
    a.met(at(i, "p" + std::to_string(i)), i);
  CHECK(a.size() == kept_addresses::most);
  auto tried = a.addresses();
  CHECK(tried.size()
        == kept_addresses::most_tried + kept_addresses::most_bootstraps);
  CHECK(tried.front().host == "p199");
  CHECK(kept_addresses::read(a.text()));
}

TEST_CASE("a damaged file is refused as a whole, and none crashes the reader") {
  kept_addresses a;
  a.met(at(1, "one"), 100);
  a.listens(9);
  const auto good = a.text();
  const auto id = to_string(at(1, "").id);
  for (auto& bad :
       {std::string{}, std::string{"something else\n"}, good + "peer\n",
        good + "port 8\n", good + "peer " + id + " one:7000 5\n",
        good + "peer 12 two:7000 5\n",
        good + "friend " + to_string(at(2, "").id) + " two:7000 5\n",
        good + "peer " + to_string(at(2, "").id) + " two:0 5\n",
        good + "peer " + to_string(at(2, "").id) + " two:7000 -5\n",
        good + "peer " + to_string(at(2, "").id) + " two:7000 5 6\n",
        good + std::string(kept_addresses::most_bytes, ' ')}) {
    CAPTURE(bad.substr(0, 200));
    auto read = kept_addresses::read(bad);
    REQUIRE_FALSE(read);
    CHECK(read.error().find("is damaged in line ") == 0);
  }
  random_stream random{7};
  for (int i = 0; i < 20000; ++i) {
    auto text = good;
    for (auto n = 1 + random.below(4); n > 0; --n)
      text[random.below(text.size())] = static_cast<char>(random.below(256));
    auto read = kept_addresses::read(text);
    if (read)
      CHECK(read->size() <= kept_addresses::most);
  }
}

TEST_CASE("a bootstrap's record says who it is and where, and nobody else's") {
  auto record = bootstrap_record::of(at(1, "one"));
  auto who = bootstrap_record::read(record);
  REQUIRE(who);
  CHECK(*who == at(1, "one"));
  SUBCASE("under another's name") {
    record.subkey[0] = 2;
  }
  SUBCASE("nowhere") {
    record = bootstrap_record::of(at(1, "one", 0));
  }
  SUBCASE("of a trainer") {
    progress_report x;
    x.id = at(1, "").id;
    x.where = {"one", 1};
    record.value = encode_progress(x);
  }
  SUBCASE("of nobody") {
    record.value = "nonsense";
  }
  CHECK_FALSE(bootstrap_record::read(record));
}
