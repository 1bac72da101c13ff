#include "tools/lab/network/tcp_flows.hpp"

#include <doctest/doctest.h>

#include "tests/support/tcp_packets.hpp"

using namespace potluck;
using namespace potluck::support;
using verdict = tcp_flows::verdict;

namespace {

const tcp_end home{1, 40000}, server{2, 7000}, other{3, 7000};

tcp_segment segment(const tcp_end& from, const tcp_end& to, unsigned flags,
                    std::uint32_t acknowledged = 0) {
  auto x = read_tcp(tcp_packet({from, to, flags, 0, acknowledged, ""}));
  REQUIRE(x);
  return *x;
}

/// Three segments, as `from` dials `to`.
void connect(tcp_flows& flows, const tcp_end& from, const tcp_end& to) {
  CHECK(flows.see(segment(from, to, flag_syn)) == verdict::pass);
  CHECK(flows.see(segment(to, from, flag_syn | flag_ack, 11)) == verdict::pass);
  CHECK(flows.see(segment(from, to, flag_ack, 22)) == verdict::pass);
}

} // namespace

TEST_CASE("both ends of a broken connection get the reset that they believe") {
  tcp_flows flows;
  connect(flows, home, server);
  std::vector<packet_bytes> resets;
  CHECK(flows.break_all(home.host, resets) == 1);
  REQUIRE(resets.size() == 2);
  auto to_home = read_tcp(resets[0]), to_server = read_tcp(resets[1]);
  CHECK(to_home->reset);
  CHECK(to_home->to == home);
  CHECK(to_home->from == server);
  CHECK(sequence_of(resets[0]) == 22);
  CHECK(to_server->to == server);
  CHECK(sequence_of(resets[1]) == 11);
  CHECK(flows.break_all(home.host, resets) == 0); // Once is enough.
}

TEST_CASE("only the host's own connections break, whoever dialled") {
  tcp_flows flows;
  connect(flows, home, server);
  connect(flows, server, other);
  connect(flows, home, other);
  std::vector<packet_bytes> resets;
  CHECK(flows.break_all(server.host, resets) == 2);
  CHECK(flows.is_broken(segment(home, server, flag_ack)));
  CHECK(flows.is_broken(segment(other, server, flag_ack)));
  CHECK_FALSE(flows.is_broken(segment(home, other, flag_ack)));
  CHECK(flows.see(segment(home, other, flag_ack)) == verdict::pass);
}

TEST_CASE("whoever goes on with a broken connection is answered with a reset") {
  tcp_flows flows;
  connect(flows, home, server);
  std::vector<packet_bytes> resets;
  flows.break_all(server.host, resets);
  auto late = segment(home, server, flag_ack, 33);
  CHECK(flows.see(late) == verdict::broken);
  auto answer = tcp_flows::answer(late);
  REQUIRE(answer);
  CHECK(read_tcp(*answer)->to == home);
  CHECK(sequence_of(*answer) == 33);
  CHECK_FALSE(tcp_flows::answer(segment(home, server, flag_reset | flag_ack)));
}

TEST_CASE("the same ends can connect anew") {
  tcp_flows flows;
  connect(flows, home, server);
  std::vector<packet_bytes> resets;
  flows.break_all(server.host, resets);
  connect(flows, home, server);
  CHECK_FALSE(flows.is_broken(segment(home, server, flag_ack)));
}

TEST_CASE("a connection that has ended is forgotten") {
  std::vector<packet_bytes> resets;
  tcp_flows flows;
  connect(flows, home, server);
  flows.see(segment(home, server, flag_fin | flag_ack, 22));
  CHECK(flows.break_all(home.host, resets) == 1); // One side still talks.
  connect(flows, home, server);
  flows.see(segment(home, server, flag_fin | flag_ack, 22));
  flows.see(segment(server, home, flag_fin | flag_ack, 12));
  connect(flows, home, other);
  flows.see(segment(other, home, flag_reset));
  resets.clear();
  CHECK(flows.break_all(home.host, resets) == 0);
  CHECK(resets.empty());
}
