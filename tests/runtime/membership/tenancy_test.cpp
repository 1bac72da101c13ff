#include "runtime/membership/tenancy.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;
using names = std::vector<std::string>;

namespace {

peer_id id(int n) {
  peer_id result;
  result.bytes[0] = static_cast<std::uint8_t>(n);
  return result;
}

const time_point start{1h};

names ended_by(tenancy& x, time_point now) {
  names result;
  for (auto& [run, why] : x.due(now).end) {
    CHECK_FALSE(why.empty());
    result.push_back(run);
  }
  return result;
}

} // namespace

TEST_CASE("a named run gets a tenant when a peer of it comes") {
  tenancy x{{{"poems"}, false, 16}};
  CHECK(x.due(start).begin.empty());
  x.joined(id(1), "prose");
  CHECK(x.due(start).begin.empty());
  x.joined(id(2), "poems");
  CHECK(x.due(start).begin == names{"poems"});
  x.joined(id(3), "poems");
  CHECK(x.due(start).begin.empty());
}

TEST_CASE("any run gets one, a bounded number at a time besides the named") {
  tenancy x{{{"poems"}, true, 2}};
  for (int i = 0; i < 4; ++i)
    x.joined(id(i + 1), std::string(1, static_cast<char>('a' + i)));
  CHECK(x.due(start).begin == names{"a", "b"});
  x.joined(id(9), "poems");
  CHECK(x.due(start).begin == names{"poems"});
  x.ended("a", true, start);
  CHECK(x.due(start).begin == names{"c"});
}

TEST_CASE("one network gets one tenant, however many runs it comes with") {
  tenancy x{{{"poems"}, true, 3}};
  x.joined(id(1), "a", "192.0.2.");
  x.joined(id(2), "b", "192.0.2.");
  x.joined(id(3), "c", "192.0.2.");
  x.joined(id(4), "poems", "192.0.2."); // Named.
  CHECK(x.due(start).begin == names{"a", "poems"});
  x.joined(id(5), "c", "198.51.100."); // Wanted elsewhere, too.
  CHECK(x.due(start).begin == names{"c"});
  x.ended("a", true, start);
  CHECK(x.due(start).begin == names{"b"});
  x.joined(id(6), "d"); // Of no network that counts.
  CHECK(x.due(start).begin == names{"d"});
}

TEST_CASE("a run without a round makes place for another one") {
  tenancy x{{{"poems"}, true, 1}};
  x.joined(id(1), "a");
  x.joined(id(2), "b");
  x.joined(id(3), "poems");
  CHECK(x.due(start).begin == names{"a", "poems"});
  x.worked("a", start + 1min);
  CHECK(ended_by(x, start + tenancy::idle).empty());
  const auto later = start + 1min + tenancy::idle;
  CHECK(ended_by(x, later) == names{"a"}); // Never one that is named.
  x.ended("a", false, later + 1s);
  CHECK(x.due(later + 2s).begin == names{"b"});
  x.left(id(2), later + 2s);
  x.ended("b", true, later + 3s);
  CHECK(x.due(later + tenancy::rest).begin == names{"a"});
}

TEST_CASE("a tenant ends when nobody of its run was here for ten minutes") {
  tenancy x{{{"poems"}, false, 16}};
  x.joined(id(1), "poems");
  x.due(start);
  x.left(id(1), start);
  CHECK(ended_by(x, start + tenancy::idle - 1s).empty());
  x.joined(id(2), "poems");
  CHECK(ended_by(x, start + tenancy::idle).empty());
  x.left(id(2), start + 1h);
  CHECK(ended_by(x, start + 1h + tenancy::idle) == names{"poems"});
  CHECK(ended_by(x, start + 1h + tenancy::idle).empty()); // Said once.
  x.ended("poems", false, start + 2h);
  x.joined(id(3), "poems");
  CHECK(x.due(start + 2h).begin == names{"poems"});
}

TEST_CASE("a finished run gets no second tenant, a failed one after a rest") {
  tenancy x{{{"poems"}, false, 16}};
  x.joined(id(1), "poems");
  x.due(start);
  x.ended("poems", false, start);
  CHECK(x.due(start + tenancy::rest - 1s).begin.empty());
  CHECK(x.due(start + tenancy::rest).begin == names{"poems"});
  x.ended("poems", true, start + 1min);
  CHECK(x.due(start + 1h).begin.empty());
  x.left(id(1), start + 1h);
  x.joined(id(1), "poems"); // A run of that name, anew.
  CHECK(x.due(start + 1h).begin == names{"poems"});
}

TEST_CASE("a pause ends all tenants, and its end begins them again at once") {
  tenancy x{{{"poems"}, false, 16}};
  x.joined(id(1), "poems");
  x.due(start);
  x.pause(true);
  CHECK(ended_by(x, start) == names{"poems"});
  x.ended("poems", false, start);
  CHECK(x.due(start + 1h).begin.empty());
  x.pause(false);
  CHECK(x.due(start + 1h).begin == names{"poems"});
}

TEST_CASE("a tenant is begun anew where others reach it, after a while") {
  tenancy x{{{"poems"}, false, 16}};
  x.joined(id(1), "poems");
  x.move(); // Before there is one it says all of it anyway.
  x.due(start);
  CHECK(ended_by(x, start + tenancy::settled).empty());
  x.move();
  CHECK(ended_by(x, start + tenancy::settled - 1s).empty());
  CHECK(ended_by(x, start + tenancy::settled) == names{"poems"});
  x.ended("poems", false, start + tenancy::settled);
  CHECK(x.due(start + tenancy::settled).begin == names{"poems"});
  CHECK(ended_by(x, start + 1h).empty());
}
