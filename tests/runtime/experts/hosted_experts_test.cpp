#include "runtime/experts/hosted_experts.hpp"
#include "runtime/membership/restart_budget.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

using names = std::vector<std::string>;

expert_uid uid(const std::string& x) {
  return *parse_expert_uid(x);
}

/// Two experts that are made and saved, the second from another host.
struct two {
  two() {
    CHECK(all.add(uid("ffn.1"), false));
    CHECK(all.add(uid("ffn.2"), true));
    CHECK(all.made("ffn.1", {3, 4}, 5, 1));
    CHECK(all.made("ffn.2", {3, 4}, 7, 2));
  }
  hosted_experts all;
  time_point now{};
};

} // namespace

TEST_CASE("an expert is here once, and ready when it is made") {
  hosted_experts all;
  CHECK(all.find("ffn.1") == nullptr);
  CHECK_FALSE(all.made("ffn.1", {3, 4}, 5, 1));
  CHECK(all.add(uid("ffn.1"), false));
  CHECK_FALSE(all.add(uid("ffn.1"), true));
  REQUIRE(all.find("ffn.1") != nullptr);
  CHECK_FALSE(all.find("ffn.1")->ready);
  CHECK_FALSE(all.find("ffn.1")->adopted);
  CHECK(all.made("ffn.1", {3, 4}, 5, 2));
  CHECK(all.find("ffn.1")->ready);
  CHECK(all.find("ffn.1")->term == 2);
  CHECK(all.ready() == 1);
  CHECK(all.updates() == 5);
}

TEST_CASE("what has learnt since it was saved is unsaved") {
  two x;
  CHECK(x.all.unsaved().empty());
  x.all.computed("ffn.2", 8);
  CHECK(x.all.unsaved() == names{"ffn.2"});
  x.all.saved("ffn.2", 8);
  CHECK(x.all.unsaved().empty());
  CHECK(x.all.updates() == 13);
}

TEST_CASE("an expert that crashes is made again, but not for ever") {
  two x;
  for (std::size_t i = 0; i < limits::expert_restarts; ++i) {
    CHECK(x.all.crashed("ffn.1", x.now));
    REQUIRE(x.all.find("ffn.1") != nullptr);
    CHECK_FALSE(x.all.find("ffn.1")->ready);
  }
  CHECK_FALSE(x.all.crashed("ffn.1", x.now));
  CHECK(x.all.find("ffn.1") == nullptr);
  CHECK(x.all.find("ffn.2") != nullptr);
  // It may be made anew, with what is left of its budget.
  CHECK(x.all.add(uid("ffn.1"), false));
  CHECK_FALSE(x.all.crashed("ffn.1", x.now + 1s));
  CHECK(x.all.add(uid("ffn.1"), false));
  CHECK(x.all.crashed("ffn.1", x.now + 2 * duration{limits::restart_window}));
}

TEST_CASE("an expert that another host has is not here any more") {
  two x;
  CHECK(x.all.withdraw("ffn.1"));
  CHECK_FALSE(x.all.withdraw("ffn.1"));
  CHECK_FALSE(x.all.withdraw("ffn.3"));
  CHECK(x.all.find("ffn.1") == nullptr);
  // Its module may have been on its way.
  CHECK_FALSE(x.all.made("ffn.1", {3, 4}, 5, 1));
  CHECK(x.all.ready() == 1);
}

TEST_CASE(
    "a host that leaves hands over what is saved and does not learn, each "
    "expert once, and is gone when all are somewhere") {
  two x;
  x.all.computed("ffn.2", 8);
  CHECK(x.all.to_hand_over("").empty()); // It does not leave yet.
  CHECK_FALSE(x.all.gone());
  x.all.leave();
  CHECK(x.all.to_hand_over("ffn.1").empty());
  CHECK(x.all.to_hand_over("") == names{"ffn.1"});
  CHECK(x.all.to_hand_over("").empty());
  x.all.saved("ffn.2", 8);
  CHECK(x.all.to_hand_over("") == names{"ffn.2"});
  SUBCASE("nobody remembers what was offered") {
    x.all.offer_again();
    CHECK(x.all.to_hand_over("") == names{"ffn.1", "ffn.2"});
  }
  x.all.withdraw("ffn.1");
  CHECK_FALSE(x.all.gone());
  x.all.handed_over("ffn.2"); // Nobody takes it.
  CHECK(x.all.gone());
  CHECK_FALSE(x.all.gone());
}

TEST_CASE("a host that leaves does not wait for what cannot be saved or has "
          "crashed") {
  two x;
  x.all.not_saved("ffn.1"); // Another save may go well.
  CHECK(x.all.ready() == 2);
  x.all.leave();
  x.all.computed("ffn.1", 9);
  x.all.not_saved("ffn.1");
  CHECK(x.all.ready() == 1);
  CHECK_FALSE(x.all.crashed("ffn.2", x.now));
  CHECK(x.all.to_hand_over("").empty());
  CHECK(x.all.gone());
}

TEST_CASE("the records of experts say their shapes, updates and terms") {
  two x;
  announcements due;
  for (auto& [name, e] : x.all.all())
    due.add(e.name, x.now);
  peer_id self;
  self.bytes[31] = 1;
  const contact host{self, {"10.0.0.1", 1000}};
  auto records = x.all.records("soup", host, due.due(x.now, 9));
  REQUIRE(records.size() == 3);
  auto said = hosts_in({records[1]});
  REQUIRE(said.size() == 1);
  CHECK(said[0].host.id == self);
  CHECK(said[0].inputs == 3);
  CHECK(said[0].outputs == 4);
  CHECK(said[0].version == 7);
  CHECK(said[0].term == 2);
  CHECK(coordinates_in({records[2]}) == std::vector<std::uint32_t>{1, 2});
}
