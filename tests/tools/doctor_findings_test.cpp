/// What the doctor makes of what it has seen.
#include "tools/potluck/doctor_findings.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace potluck;
using namespace potluck::tools;
using grade = finding::grade;

namespace {

peer_facts well() {
  peer_facts x;
  x.where = {"seed.example.org", 7000};
  x.addresses = {"203.0.113.7"};
  x.connected = x.welcomed = true;
  x.said = hello{};
  x.said->role = role::bootstrap;
  x.round_trip = 0.0213;
  return x;
}

bool mentions(const finding& f, const std::string& text) {
  return (f.what + " " + f.remedy).find(text) != std::string::npos;
}

} // namespace

TEST_CASE("the worst finding is the status") {
  std::vector<finding> all{{"a", grade::good, "x", ""},
                           {"b", grade::unknown, "x", ""}};
  CHECK(status_of(all) == 0);
  all.push_back({"c", grade::degraded, "x", "y"});
  CHECK(status_of(all) == 1);
  all.push_back({"d", grade::fatal, "x", "y"});
  CHECK(status_of(all) == 2);
}

TEST_CASE("a finding is a line with its remedy, or an object") {
  const std::vector<finding> all{{"disk", grade::degraded, "full", "make room"},
                                 {"p\x1b[2J", grade::good, "\xff", ""}};
  CHECK(as_lines(all).rfind("WORSE disk: full -> make room\n", 0) == 0);
  CHECK(as_lines(all).find('\x1b') == std::string::npos);
  auto json = nlohmann::json::parse(as_json(all));
  CHECK(json.at("status") == 1);
  CHECK(json.at("findings").at(0).at("grade") == "degraded");
  CHECK(json.at("findings").at(0).at("remedy") == "make room");
}

TEST_CASE("what a peer answers is told, with what mends it") {
  auto x = well();
  SUBCASE("all is well") {
    auto f = of_peers({x}).at(0);
    CHECK(f.how == grade::good);
    CHECK(f.topic == "peer seed.example.org:7000");
    CHECK(mentions(f, "bootstrap"));
    CHECK(mentions(f, "203.0.113.7"));
  }
  SUBCASE("the clocks differ") {
    x.clock_behind = -3700.0;
    auto f = of_peers({x}).at(0);
    CHECK(f.how == grade::degraded);
    CHECK(mentions(f, "3700 s"));
    CHECK(mentions(f, "timedatectl"));
  }
  SUBCASE("it answers, and says nothing of itself") {
    x.said.reset();
    auto f = of_peers({x}).at(0);
    CHECK(f.how == grade::fatal);
    CHECK(mentions(f, "nothing"));
  }
  x.welcomed = false;
  SUBCASE("its name is unknown") {
    x.unresolved = "Name or service not known";
    CHECK(mentions(of_peers({x}).at(0), "Name or service"));
  }
  SUBCASE("nobody is there") {
    x.connected = false;
    x.closed = "connection refused";
    CHECK(mentions(of_peers({x}).at(0), "firewall"));
  }
  SUBCASE("it is of another release") {
    x.said->version = protocol_version + 1;
    CHECK(mentions(of_peers({x}).at(0), "same release"));
  }
  SUBCASE("it refuses") {
    x.refusal = "This peer trains run 'soup', not 'salad'.";
    CHECK(mentions(of_peers({x}).at(0), "soup"));
  }
  SUBCASE("it is something else") {
    x.said.reset();
    CHECK(mentions(of_peers({x}).at(0), "nothing"));
  }
  if (!x.welcomed) {
    CHECK(of_peers({x}).at(0).how == grade::fatal);
    // One peer is enough to take part.
    auto both = of_peers({x, well()});
    CHECK(both.at(0).how == grade::degraded);
    CHECK(both.at(1).how == grade::good);
  }
}

TEST_CASE("without a peer there is nothing to say of one") {
  auto all = of_peers({});
  CHECK(all.at(0).how == grade::unknown);
  CHECK(mentions(all.at(0), "--peer"));
}

TEST_CASE("how others get here is told, and of which kind the router is") {
  reach_facts x;
  x.where = {"203.0.113.1", 7000};
  SUBCASE("nobody was there to try") {
    CHECK(of_reach(x).at(0).how == grade::unknown);
    CHECK(of_reach(x).size() == 2);
    x.mapping = port_mapping{{"203.0.113.1", 7000}, {}, "UPnP", ""};
    CHECK(of_reach(x).back().how == grade::good);
    x.mapping.reset();
  }
  x.asked = true;
  SUBCASE("all can") {
    x.kind = reach::open;
    CHECK(of_reach(x).at(0).how == grade::good);
    CHECK(of_reach(x).size() == 2);
  }
  SUBCASE("it is not certain") {
    CHECK(of_reach(x).at(0).how == grade::unknown);
    x.mapping = port_mapping{{"203.0.113.1", 7000}, {}, "UPnP", ""};
    CHECK(of_reach(x).back().how == grade::unknown);
    CHECK(mentions(of_reach(x).back(), "nobody has tried it"));
  }
  SUBCASE("a router opened a port") {
    x.kind = reach::mapped;
    x.mapping = port_mapping{{"203.0.113.1", 7000}, {}, "UPnP", ""};
    CHECK(of_reach(x).back().how == grade::good);
  }
  SUBCASE("nobody can") {
    x.reachable = false;
    CHECK(of_reach(x).at(0).how == grade::degraded);
    CHECK(mentions(of_reach(x).at(0), "forward TCP port 7000"));
    CHECK(mentions(of_reach(x).at(1), "two"));
    SUBCASE("but meet halfway") {
      x.kind = reach::cone;
      CHECK(of_reach(x).at(1).how == grade::good);
    }
    SUBCASE("nor meet halfway") {
      x.kind = reach::symmetric;
      CHECK(of_reach(x).at(1).how == grade::degraded);
    }
    SUBCASE("though a router says so") {
      x.mapping = port_mapping{{"192.168.1.7", 7000}, {}, "UPnP", ""};
      CHECK(of_reach(x).back().how == grade::degraded);
      CHECK(mentions(of_reach(x).back(), "nobody gets through"));
    }
    SUBCASE("and no router opens a port") {
      x.mapping = port_mapping{{}, {}, "", "no router answers"};
      CHECK(of_reach(x).back().how == grade::unknown);
      CHECK(mentions(of_reach(x).back(), "no router answers"));
    }
  }
}

TEST_CASE("little of what a machine has is told") {
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  CHECK(of_memory(8 * gib, 4 * gib).how == grade::good);
  CHECK(of_memory(8 * gib, gib / 2).how == grade::degraded);
  CHECK(of_disk("/x", 5 * gib).how == grade::good);
  CHECK(of_disk("/x", gib).how == grade::degraded);
  CHECK(of_upload(0).how == grade::unknown);
  CHECK(of_upload(1e6).how == grade::good);
  CHECK(mentions(of_upload(1e6), "8 Mbit/s"));
  CHECK(of_upload(5e4).how == grade::degraded);
  CHECK(of_route("IPv6", "").how == grade::unknown);
  CHECK(of_route("IPv4", "192.168.0.7").how == grade::good);
  CHECK(of_route("IPv6", "fd00::2").how == grade::unknown);
  CHECK(of_route("IPv6", "2001:db8::2").how == grade::good);
  CHECK(of_gpu({}, "").how == grade::unknown);
  CHECK(of_gpu({"/dev/nvidia0"}, "").how == grade::good);
  CHECK(of_gpu({"/dev/nvidia0"}, "install x").how == grade::degraded);
  CHECK(of_blas("OpenBLAS", "").how == grade::good);
  CHECK(of_blas("BLAS", "install y").how == grade::degraded);
  CHECK(of_identity("", false, "").how == grade::degraded);
  CHECK(of_identity("/x", false, "").how == grade::good);
  CHECK(of_identity("/x", true, "").how == grade::good);
  CHECK(of_identity("/x", true, "mode 0644").how == grade::degraded);
}

TEST_CASE("flags that the run does not have are named") {
  const std::vector<setting> theirs{{"steps", "100"}, {"target-batch", "64"}};
  CHECK(of_settings("soup", {}, "", {}).how == grade::unknown);
  CHECK(of_settings("soup", theirs, "abc", {}).how == grade::good);
  CHECK(of_settings("soup", theirs, "abc", {{"steps", "100"}}).how
        == grade::good);
  auto f = of_settings("soup", theirs, "abc", {{"steps", "50"}});
  CHECK(f.how == grade::fatal);
  CHECK(mentions(f, "steps is 100, not 50"));
}
