#include "runtime/experts/expert_records.hpp"

#include <doctest/doctest.h>

#include "runtime/dht/record_store.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

time_point at(duration since) {
  return time_point{} + since;
}

peer_id peer(std::uint8_t n) {
  peer_id x;
  x.bytes[0] = n;
  return x;
}

expert_announcement hosted_by(std::uint8_t n) {
  return {{peer(n), {"10.0.0.1", 7000}}, 3, 4, 5};
}

expert_uid uid(const std::string& text) {
  return *parse_expert_uid(text);
}

} // namespace

TEST_CASE("keys tell runs and names apart") {
  CHECK(expert_key("a", "ffn.1") != expert_key("b", "ffn.1"));
  CHECK(expert_key("a", "ffn") != expert_key("a", "ffn.1"));
  CHECK(expert_key("a/ffn", "1") != expert_key("a", "ffn/1"));
}

TEST_CASE("what hosts publish passes through a store and is read again") {
  record_store store;
  store.store(host_record("r", "ffn.1.2", hosted_by(1)), at(0s));
  store.store(host_record("r", "ffn.1.2", hosted_by(2)), at(0s));
  for (std::uint8_t n : {1, 2})
    CHECK(store.store(prefix_record("r", peer(n), "ffn", {1, 200, 3u * n}),
                      at(0s))
          == record_store::verdict::stored);
  auto hosts = hosts_in(store.find(expert_key("r", "ffn.1.2"), at(1s)));
  REQUIRE(hosts.size() == 2);
  CHECK(hosts[1].host == hosted_by(2).host);
  CHECK(hosts[1].outputs == 4);
  CHECK(coordinates_in(store.find(expert_key("r", "ffn"), at(1s)))
        == std::vector<std::uint32_t>{1, 3, 6, 200});
  // A host that vanished is forgotten after two minutes.
  CHECK(hosts_in(store.find(expert_key("r", "ffn.1.2"), at(121s))).empty());
}

TEST_CASE("malformed and foreign records are ignored") {
  auto good = host_record("r", "ffn.1", hosted_by(1));
  auto other = good;
  other.subkey[0] = 9; // In the name of somebody else.
  auto garbage = good;
  garbage.value = "garbage";
  auto undialable = hosted_by(3);
  undialable.host.where.port = 0;
  CHECK(hosts_in({other, garbage, host_record("r", "ffn.1", undialable), good})
            .size()
        == 1);
  CHECK(coordinates_in({good, prefix_record("r", peer(1), "ffn", {7})})
        == std::vector<std::uint32_t>{7});
}

TEST_CASE("names are due at once, and again at a third of a record's life") {
  announcements a;
  a.add(uid("ffn.1.2"), at(0s));
  a.add(uid("ffn.1.3"), at(0s));
  auto x = a.due(at(0s), 100);
  CHECK(x.uids == std::vector<std::string>{"ffn.1.2", "ffn.1.3"});
  CHECK(x.prefixes.at("ffn") == std::set<std::uint32_t>{1});
  CHECK(x.prefixes.at("ffn.1") == std::set<std::uint32_t>{2, 3});
  CHECK(a.due(at(39s), 100).uids.empty());
  x = a.due(at(40s), 100);
  CHECK(x.uids.size() == 2);
  CHECK(x.prefixes.size() == 2);
}

TEST_CASE("a prefix is published anew for a new coordinate, after a pause") {
  announcements a;
  a.add(uid("ffn.1.2"), at(0s));
  a.due(at(0s), 100);
  a.add(uid("ffn.1.3"), at(1s));
  auto x = a.due(at(1s), 100);
  CHECK(x.uids == std::vector<std::string>{"ffn.1.3"});
  CHECK(x.prefixes.empty());
  x = a.due(at(2s), 100);
  REQUIRE(x.prefixes.size() == 1); // "ffn" says nothing new.
  CHECK(x.prefixes.at("ffn.1") == std::set<std::uint32_t>{2, 3});
}

TEST_CASE("as many as wanted are due at a time, and none is left out") {
  announcements a;
  for (int i = 0; i < 50; ++i)
    a.add(uid("ffn." + std::to_string(i)), at(0s));
  std::set<std::string> seen;
  for (int i = 0; i < 6; ++i) {
    auto x = a.due(at(i * 1s), 10);
    CHECK(x.uids.size() + x.prefixes.size() <= 10);
    seen.insert(x.uids.begin(), x.uids.end());
  }
  CHECK(seen.size() == 50);
}

TEST_CASE("what is withdrawn is published no more") {
  announcements a;
  a.add(uid("ffn.1.2"), at(0s));
  a.add(uid("ffn.2.2"), at(0s));
  a.withdraw(uid("ffn.1.2"));
  a.withdraw(uid("ffn.9.9"));
  auto x = a.due(at(0s), 100);
  CHECK(x.uids == std::vector<std::string>{"ffn.2.2"});
  CHECK(x.prefixes.size() == 2);
  CHECK(x.prefixes.at("ffn") == std::set<std::uint32_t>{2});
}
