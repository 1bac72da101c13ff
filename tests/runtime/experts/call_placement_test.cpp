#include "runtime/experts/call_placement.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "messages/limits.hpp"
#include "runtime/experts/expert_findings.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id peer(std::uint8_t n) {
  peer_id x;
  x.bytes[31] = n;
  return x;
}

expert_call call(expert_pass pass, std::size_t width) {
  expert_call x;
  x.uid = "ffn.1";
  x.pass = pass;
  x.samples = 2;
  x.values = std::make_shared<const float_array>(2 * width, 1.5f);
  return x;
}

expert_announcement announced(std::uint8_t host, std::uint32_t term = 1) {
  return {
      {peer(host), {"10.0.0." + std::to_string(host), 1000}}, 2, 3, 0, term};
}

} // namespace

TEST_CASE(
    "a call that no host could answer is refused before anybody is asked, "
    "with a sentence") {
  auto good = call(expert_pass::forward, 2);
  CHECK(problem_with(good).empty());
  auto x = good;
  x.uid = "FFN";
  CHECK_FALSE(problem_with(x).empty());
  x = good;
  x.samples = 3;
  CHECK_FALSE(problem_with(x).empty());
  x = good;
  x.values = nullptr;
  CHECK_FALSE(problem_with(x).empty());
  x = good;
  x.values = std::make_shared<const float_array>(4, NAN);
  CHECK_FALSE(problem_with(x).empty());
  x.values
      = std::make_shared<const float_array>(std::size_t{2} * max_sample_values);
  CHECK_FALSE(problem_with(x).empty());
  x = good;
  x.patience = 0ms;
  CHECK_FALSE(problem_with(x).empty());
  x = good;
  x.packing = packing(4);
  CHECK_FALSE(problem_with(x).empty());
}

TEST_CASE("of several hosts the one with the highest tenure is called, unless "
          "it failed a moment ago") {
  failing_hosts failing;
  time_point now{1h};
  auto x = call(expert_pass::forward, 2);
  std::vector<expert_announcement> hosts{announced(1), announced(3),
                                         announced(2, 2)};
  REQUIRE(choose_host(x, hosts, failing, now).host);
  CHECK(choose_host(x, hosts, failing, now).host->host.id == peer(2));
  failing.failed(peer(2), now);
  CHECK(choose_host(x, hosts, failing, now).host->host.id == peer(3));
  failing.failed(peer(1), now);
  failing.failed(peer(3), now);
  auto none = choose_host(x, hosts, failing, now);
  CHECK(none.host == nullptr);
  CHECK(none.problem.find("failed a moment ago") != std::string::npos);
  CHECK(choose_host(x, {}, failing, now).problem.find("Nobody hosts")
        != std::string::npos);
}

TEST_CASE("a host is called with the samples that it takes, and told so") {
  failing_hosts failing;
  time_point now{1h};
  auto back = call(expert_pass::backward, 5);
  auto found = choose_host(back, {announced(1)}, failing, now);
  CHECK(found.host);
  CHECK(
      choose_host(call(expert_pass::backward, 2), {announced(1)}, failing, now)
          .problem.find("other samples")
      != std::string::npos);
  std::vector<expert_announcement> hosts{announced(1)};
  auto r = request_of(back, 9, hosts[0], 1500us);
  CHECK(r.number == 9);
  CHECK(r.uid == "ffn.1");
  CHECK(r.samples == 2);
  CHECK(r.values == 5);
  CHECK(r.gradients == 3);
  CHECK(r.patience_ms == 1);
  CHECK(request_of(call(expert_pass::forward, 2), 9, hosts[0], 2s).gradients
        == 0);
  CHECK(request_of(back, 9, hosts[0], -5ms).patience_ms == 1);
}

TEST_CASE("what a look-up found is believed for a while, an absence shorter") {
  expert_findings known;
  time_point now{1h};
  auto key = expert_key("soup", "ffn.1");
  CHECK(known.find(key, now) == nullptr);
  auto found = known.keep(key, false,
                          {host_record("soup", "ffn.1", announced(1))}, now);
  CHECK(found.hosts.size() == 1);
  CHECK_FALSE(found.nobody());
  CHECK(known.find(key, now + limits::expert_lookup_life - 1ms) != nullptr);
  CHECK(known.find(key, now + limits::expert_lookup_life) == nullptr);
  SUBCASE("its hosts are of no use") {
    known.doubt(key, now);
    CHECK(known.find(key, now + limits::expert_absence_life - 1ms) != nullptr);
    CHECK(known.find(key, now + limits::expert_absence_life) == nullptr);
  }
  SUBCASE("it is not true") {
    known.forget(key);
    CHECK(known.find(key, now) == nullptr);
  }
  SUBCASE("nobody is there") {
    CHECK(known.keep(key, false, {}, now).nobody());
    CHECK(known.find(key, now + limits::expert_absence_life - 1ms) != nullptr);
    CHECK(known.find(key, now + limits::expert_absence_life) == nullptr);
  }
  SUBCASE("a prefix") {
    auto rows
        = known.keep(expert_key("soup", "ffn"), true,
                     {prefix_record("soup", peer(1), "ffn", {3, 1})}, now);
    CHECK(rows.coordinates == std::vector<std::uint32_t>{1, 3});
    CHECK(rows.hosts.empty());
  }
}
