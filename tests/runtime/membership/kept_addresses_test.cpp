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

TEST_CASE("nobody has others forgotten by what it says") {
  kept_addresses a;
  for (std::uint8_t i = 1; i <= 50; ++i)
    a.met(at(i, "p" + std::to_string(i)), 100);
  CHECK_FALSE(a.claimed(at(100, "p1"), 200)); // Another is there already.
  for (std::uint8_t i = 100; i < 200; ++i)
    CHECK(a.claimed(at(i, "liar", i), 200));
  for (std::uint8_t i = 200; i < 250; ++i)
    CHECK(a.named(at(i, "liar", i), 200));
  const auto text = a.text();
  for (std::uint8_t i = 1; i <= 50; ++i)
    CHECK(text.find(to_string(at(i, "").id)) != std::string::npos);
  // Those that answered are tried first,
  const auto tried = a.addresses();
  for (std::size_t i = 0; i < kept_addresses::most_tried; ++i)
    CHECK(tried[i].host != "liar");
  // and push the others out.
  for (std::uint8_t i = 51; i <= kept_addresses::most_peers; ++i)
    CHECK(a.met(at(i, "p" + std::to_string(i)), 300));
  CHECK(a.text().find("claim ") == std::string::npos);
  CHECK(a.size() == kept_addresses::most);
  CHECK_FALSE(a.claimed(at(100, "liar"), 400));
}

TEST_CASE("a peer that says where it is may move, and is believed once met") {
  kept_addresses a;
  CHECK(a.claimed(at(1, "one"), 100));
  CHECK_FALSE(a.claimed(at(1, "one"), 200));
  CHECK(a.text().find("claim ") != std::string::npos);
  CHECK(a.met(at(1, "one"), 300));
  CHECK_FALSE(a.claimed(at(1, "one"), 400));
  CHECK(a.text().find("peer ") != std::string::npos);
  CHECK(a.claimed(at(1, "one", 9), 500));
  CHECK(a.addresses() == std::vector<address>{{"one", 9}});
  // Another that does answer there is there.
  CHECK(a.met(at(2, "one", 9), 600));
  CHECK(a.size() == 1);
  auto b = kept_addresses::read(a.text());
  REQUIRE(b);
  CHECK(b->text() == a.text());
}

TEST_CASE(
    "the latest bootstraps stay, and those that nobody met for weeks go") {
  kept_addresses a;
  for (std::uint8_t i = 1; i <= 20; ++i)
    CHECK(a.named(at(i, "b" + std::to_string(i)), i));
  CHECK(a.size() == kept_addresses::most_bootstraps);
  CHECK(a.addresses().front().host == "b20");
  CHECK(a.claimed(at(30, "c"), 30));
  CHECK(a.met(at(31, "p"), 31));
  CHECK(a.named(at(40, "new"), 31 + kept_addresses::hearsay_life));
  CHECK(a.addresses() == std::vector<address>{{"p", 7000}, {"new", 7000}});
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
  // Nor one that has too many of a kind.
  std::string many = "potluck addresses 1\n";
  for (std::uint8_t i = 1; i <= kept_addresses::most_bootstraps + 1; ++i) {
    CHECK(kept_addresses::read(many));
    many += "bootstrap " + to_string(at(i, "").id) + " b" + std::to_string(i)
            + ":7000 5\n";
  }
  CHECK_FALSE(kept_addresses::read(many));
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
